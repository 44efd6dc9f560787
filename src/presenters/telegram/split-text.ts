import { joinTexts, part, type FormattedText } from './formatted-text.ts'
import { PLATFORM } from './protocol.ts'

/**
 * An answer as messages of at most `limit` UTF-16 units: cut between paragraphs and blocks of code, else between lines, else
 * between words. Formatting ends with a message and begins again in the next. Pure, so that a later attempt cuts alike.
 */
export function messagesOf(
  paragraphs: readonly FormattedText[],
  limit: number = PLATFORM.message_units,
): readonly FormattedText[] {
  const messages: FormattedText[] = []
  let current: FormattedText[] = []
  let length = 0
  const flush = () => {
    if (current.length > 0) messages.push(joinTexts(current))
    current = []
    length = 0
  }
  for (const piece of paragraphs.flatMap((paragraph) => piecesOf(paragraph, limit))) {
    const { text, entities } = piece
    const count = current.reduce((sum, one) => sum + one.entities.length, 0)
    const isFull = length + GAP + text.length > limit || count + entities.length > PLATFORM.entities
    if (current.length > 0 && isFull) flush()
    length += (current.length === 0 ? 0 : GAP) + text.length
    current.push(piece)
  }
  flush()
  return messages
}

const GAP = '\n\n'.length

function piecesOf(paragraph: FormattedText, limit: number): FormattedText[] {
  const pieces: FormattedText[] = []
  const { text } = paragraph
  for (let from = 0; from < text.length;) {
    const end = from + limit >= text.length ? text.length : cutBefore(text, from, from + limit)
    const piece = part(paragraph, from, end)
    if (piece.text.trim() !== '') pieces.push(piece)
    from = end
    // The break itself is not sent: the next message begins with text.
    while (end < text.length && /\s/.test(text.charAt(from)) && text.charAt(from) !== '') {
      const isLineBreak = text.charAt(from) === '\n'
      from += 1
      if (isLineBreak) break
    }
  }
  return pieces
}

/** The best place to cut, at most at `most`: after a line, after a word, or between two characters. */
function cutBefore(text: string, from: number, most: number): number {
  const least = from + Math.floor((most - from) / 2)
  const line = text.lastIndexOf('\n', most)
  if (line > least) return line
  const word = text.lastIndexOf(' ', most)
  if (word > least) return word
  const isPair = /[\ud800-\udbff]/.test(text.charAt(most - 1))
  return isPair ? most - 1 : most
}
