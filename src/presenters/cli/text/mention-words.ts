import { countOf, fileSize } from '../../../encoding/amounts.ts'
import { includedPart } from '../../../history/results/notice-words.ts'
import type { EventData } from '../../../model/events/event.ts'
import type { MentionedPath } from '../../../model/events/turn-events.ts'
import { refusalWords } from './resource-words.ts'
import { visibleLine } from './visible-text.ts'

type Message = Pick<EventData<'user_message'>, 'mentions' | 'mention_errors'>

/** What a message includes of files and folders, and what not, one line each. Visible text. */
export function mentionLines(message: Message): string[] {
  return [...wholeMentions(message), ...missingParts(message)]
}

/** What a message includes completely. */
export function wholeMentions({ mentions = [] }: Message): string[] {
  return mentions.filter(({ truncated }) => truncated !== true).map(mentionWords)
}

/** What a message includes only in part, or not at all. */
export function missingParts({ mentions = [], mention_errors = [] }: Message): string[] {
  return [
    ...mentions.filter(({ truncated }) => truncated === true).map(mentionWords),
    ...mention_errors.map(({ path, reason }) => refusalWords({ name: path, reason })),
  ]
}

/** Such as `@src/index.ts · 120 lines · 4.1 KiB`. */
function mentionWords(mention: MentionedPath): string {
  const { path, kind, bytes } = mention
  const name = visibleLine(kind === 'folder' && !path.endsWith('/') ? `${path}/` : path)
  const extent = mention.truncated === true ? includedPart(mention) : wholeExtent(mention)
  return [`@${name}`, extent, ...(bytes === 0 ? [] : [fileSize(bytes)])].join(' · ')
}

function wholeExtent({ kind, to_line = 0, lines = 0 }: MentionedPath): string {
  if (kind === 'folder') return lines === 0 ? 'an empty folder' : countOf(lines, 'name')
  return to_line === 0 ? 'empty' : countOf(to_line, 'line')
}
