import { failed } from '../model/errors.ts'
import { failedOutcome, type ToolOutcome } from './tool.ts'

/** Room for the last line, which says what is missing. */
const LAST_LINE_BYTES = 400

/** Whole lines up to a limit, and how many of them that were. */
export interface ShownLines {
  readonly text: string
  readonly shown: number
  /** Not all were shown, or not all of one. */
  readonly truncated: boolean
  /** The one line that is shown is only its beginning. */
  readonly cutLine: boolean
}

/**
 * As many of the lines as fit into `limit` bytes with a last line after them. A first line that does not fit alone is
 * cut, so that something is shown always.
 */
export function fittingLines(lines: readonly string[], limit: number): ShownLines {
  const room = Math.max(0, limit - LAST_LINE_BYTES)
  let bytes = 0
  let shown = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > room) break
    shown += 1
  }
  const [first] = lines
  if (shown === 0 && first !== undefined) {
    const text = `${clipped(first, Math.max(0, room - 1))}\n`
    return { text, shown: 1, truncated: true, cutLine: true }
  }
  const text = lines.slice(0, shown).map((line) => `${line}\n`)
  return { text: text.join(''), shown, truncated: shown < lines.length, cutLine: false }
}

/** The beginning of a text in at most so many bytes, never half a letter. */
export function clipped(text: string, bytes: number): string {
  const all = Buffer.from(text)
  if (all.length <= bytes) return text
  let end = bytes
  // Bytes 10xxxxxx go on with a letter that began before.
  while (end > 0 && ((all[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return all.toString('utf8', 0, end)
}

/** A call that somebody stopped before it had an effect. */
export function interruptedOutcome(): ToolOutcome {
  return failedOutcome(failed('interrupted', 'The call was interrupted.').error)
}
