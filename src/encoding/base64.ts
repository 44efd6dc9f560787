/** The number of base64 characters for this many bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

/**
 * Writes bytes as base64 into `room` at `start` and returns the offset of the end. Works in pieces: one base64 string of all
 * bytes would take twice their memory on top.
 */
export function writeBase64(bytes: Buffer, room: Buffer, start: number): number {
  let at = start
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    at += room.write(bytes.toString('base64', from, from + PIECE_BYTES), at, 'latin1')
  }
  return at
}

/** Divisible by three, because three bytes are four characters: only the last piece is padded. */
const PIECE_BYTES = 48 * 1024

/**
 * Whether a text of any length is padded base64. A regular expression with a quantifier can fail on megabytes: V8 stops
 * optimising expressions once a process has compiled many, and then stores a backtracking position per character.
 */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const first = text.search(NOT_BASE64)
  return first < 0 || (padding > 0 && first === text.length - padding)
}

const NOT_BASE64 = /[^A-Za-z0-9+/]/
