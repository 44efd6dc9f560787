import { fileSize } from '../../../encoding/amounts.ts'
import { OWN_PATH } from '../../../prompt/words/instructions.ts'
import type { EventData } from '../../../model/events/event.ts'
import { OWN_INSTRUCTIONS } from '../../../model/events/instruction-events.ts'
import type { ApplyingInstructions } from '../../../session/queries/applying-instructions.ts'
import { visibleLine } from './visible-text.ts'

/** A loaded text in one line. Visible text. */
export function loadedWords(data: EventData<'project_instructions'>): string {
  const { path, bytes, text_bytes, truncated, reason } = data
  if (reason === 'appended') return `Instructions added for this Session: ${fileSize(text_bytes)}`
  const name = path === OWN_INSTRUCTIONS ? OWN_PATH : path
  const size =
    truncated === true ? `${fileSize(text_bytes)} of ${fileSize(bytes)}` : fileSize(bytes)
  return visibleLine(`Project instructions ${name} loaded: ${size}, ${REASONS[reason]}`)
}

const REASONS = {
  session_start: 'for a new Session',
  nearer: 'reached by the work',
  changed: 'changed',
  allowed: 'now allowed',
} as const

/** A file that applies, in one line. Visible text. */
export function applyingWords({ path, bytes, state, why }: ApplyingInstructions): string {
  const size = bytes === undefined ? [] : [fileSize(bytes)]
  const reason = why === undefined ? '' : `, ${WHY[why]}`
  return visibleLine(`${path} (${[...size, `${state}${reason}`].join(', ')})`)
}

const WHY = {
  link: 'a symbolic link',
  hard_link: 'more than one hard link',
  not_a_file: 'not a regular file',
  unreadable: 'unreadable',
  untrusted: 'not loaded because it is untrusted',
  over_limit: 'not loaded because all texts together are too long',
  too_large: 'not loaded because it is too large',
  not_text: 'not loaded because it is not text',
  truncated: 'only its beginning',
} as const
