/** How many characters so many bytes have in base64. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

/**
 * Writes bytes in base64 into `room`, from `start` on, and answers where they end. A piece at a time: base64 that was made as
 * one string would be in memory twice more before it is bytes.
 */
export function writeBase64(bytes: Buffer, room: Buffer, start: number): number {
  let at = start
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    at += room.write(bytes.toString('base64', from, from + PIECE_BYTES), at, 'latin1')
  }
  return at
}

/** Three bytes are four characters, so each piece but the last ends where characters do. */
const PIECE_BYTES = 48 * 1024

/**
 * Whether a text of any length is padded base64. A pattern with a quantifier could fail on megabytes: V8 stops optimising
 * patterns once a process has compiled many, and then keeps a place to return to for every character.
 */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const first = text.search(NOT_BASE64)
  return first < 0 || (padding > 0 && first === text.length - padding)
}

const NOT_BASE64 = /[^A-Za-z0-9+/]/
