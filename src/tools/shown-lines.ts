import { failed } from '../model/errors.ts'
import { failedOutcome, type ToolOutcome } from './tool.ts'

/** Reserved for the last line, which reports what is missing. */
const LAST_LINE_BYTES = 400

/** Whole lines up to a limit, and their number. */
export interface ShownLines {
  readonly text: string
  readonly shownLines: number
  /** Some lines, or part of one, are not shown. */
  readonly truncated: boolean
  /** The only shown line is truncated. */
  readonly cutLine: boolean
}

/**
 * As many lines as fit into `limit` bytes together with a last line. A first line that does not fit is truncated, so
 * that something is always shown.
 */
export function fittingLines(lines: readonly string[], limit: number): ShownLines {
  const room = Math.max(0, limit - LAST_LINE_BYTES)
  let bytes = 0
  let shownLines = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > room) break
    shownLines += 1
  }
  const [first] = lines
  if (shownLines === 0 && first !== undefined) {
    const text = `${clipText(first, Math.max(0, room - 1))}\n`
    return { text, shownLines: 1, truncated: true, cutLine: true }
  }
  const text = lines.slice(0, shownLines).map((line) => `${line}\n`)
  return { text: text.join(''), shownLines, truncated: shownLines < lines.length, cutLine: false }
}

/** The beginning of a text in at most this many bytes, without a partial character. */
export function clipText(text: string, bytes: number): string {
  const all = Buffer.from(text)
  if (all.length <= bytes) return text
  let end = bytes
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((all[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return all.toString('utf8', 0, end)
}

/** A call that was interrupted before it had an effect. */
export function interruptedOutcome(): ToolOutcome {
  return failedOutcome(failed('interrupted', 'The call was interrupted.').error)
}
