import { counted, fileSize, grouped } from '../../../encoding/amounts.ts'
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
  const extent = kind === 'folder' ? namesIn(mention) : linesIn(mention)
  return [`@${name}`, extent, ...(bytes === 0 ? [] : [fileSize(bytes)])].join(' · ')
}

function linesIn({ to_line = 0, lines, size_bytes = 0, truncated }: MentionedPath): string {
  if (truncated !== true) return to_line === 0 ? 'empty' : counted(to_line, 'line')
  const whole = lines === undefined ? fileSize(size_bytes) : grouped(lines)
  return `only the first ${counted(to_line, 'line')} of ${whole}`
}

function namesIn({ to_line = 0, lines = 0, truncated }: MentionedPath): string {
  if (truncated === true) return `only the first ${counted(to_line, 'name')} of ${grouped(lines)}`
  return lines === 0 ? 'an empty folder' : counted(lines, 'name')
}
