import { isUtf8 } from 'node:buffer'

/** Something about a SKILL.md that its author should fix. An error makes the Skill unusable. */
export interface Finding {
  readonly severity: 'error' | 'warning'
  /** From 1. */
  readonly line: number
  readonly message: string
}

/** A SKILL.md cut at the two `---` lines. */
export interface SplitSkill {
  /** The YAML text. `undefined` if there is no front matter; then everything is body. */
  readonly yaml: Buffer | undefined
  /** The bytes after the second `---` line. */
  readonly body: Buffer
  /** Why there is no front matter. */
  readonly problem: Finding | undefined
}

/** The line of the file at which the YAML text starts. */
export const YAML_LINE = 2

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const NEWLINE = 0x0a

/**
 * Separates the front matter from the body without parsing it. Lines may end with CRLF, and a byte order mark is
 * ignored. Anything may be passed: it never throws.
 */
export function splitSkill(bytes: Buffer): SplitSkill {
  const text = bytes.subarray(0, 3).equals(BOM) ? bytes.subarray(3) : bytes
  const bare = (message: string): SplitSkill => ({
    yaml: undefined,
    body: text,
    problem: { severity: 'error', line: 1, message },
  })
  const first = lineAt(text, 0)
  if (!isFence(text.subarray(0, first.end))) {
    return bare('The file has no front matter: its first line must be "---".')
  }
  for (let start = first.next; start < text.length;) {
    const { end, next } = lineAt(text, start)
    if (isFence(text.subarray(start, end))) {
      const yaml = text.subarray(first.next, start)
      return { yaml, body: text.subarray(next), problem: undefined }
    }
    start = next
  }
  return bare('The front matter has no end: write a line "---" after it.')
}

/** The first line that is not valid UTF-8. */
export function brokenLine(bytes: Buffer): number | undefined {
  if (isUtf8(bytes)) return undefined
  let line = 1
  for (let start = 0; start < bytes.length; line += 1) {
    const { end, next } = lineAt(bytes, start)
    if (!isUtf8(bytes.subarray(start, end))) return line
    start = next
  }
  return line
}

/** Where the line from `start` ends, and where the next one starts. */
function lineAt(text: Buffer, start: number): { readonly end: number; readonly next: number } {
  const newline = text.indexOf(NEWLINE, start)
  return newline === -1
    ? { end: text.length, next: text.length }
    : { end: newline, next: newline + 1 }
}

function isFence(line: Buffer): boolean {
  // Compared as bytes first: a line may be very long.
  return line.length >= 3 && line.length < 64 && /^---[ \t\r]*$/.test(line.toString('latin1'))
}
