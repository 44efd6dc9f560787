/** The length of UTF-8 text inside a JSON string, in bytes. */
export function jsonTextLength(text: Buffer): number {
  let length = 0
  for (let from = 0; from < text.length; from += 1) length += LENGTHS[text[from] ?? 0] ?? 0
  return length
}

/**
 * Writes UTF-8 text into `room` at `start`, escaped as inside a JSON string, and returns the offset of the end. The bytes equal
 * those of `JSON.stringify`, which escapes no multi-byte character, without creating a string.
 */
export function writeJsonText(text: Buffer, room: Buffer, start: number): number {
  let at = start
  for (let from = 0; from < text.length; from += 1) {
    const byte = text[from] ?? 0
    const escape = ESCAPES[byte]
    if (escape === undefined) room[at++] = byte
    else for (let next = 0; next < escape.length; next += 1) room[at++] = escape[next] ?? 0
  }
  return at
}

/** Whether UTF-8 text contains anything but whitespace. For most texts the first piece decides. */
export function hasWordsIn(text: Buffer): boolean {
  for (let from = 0; from < text.length;) {
    const to = pieceEnd(text, from)
    if (text.toString('utf8', from, to).trim() !== '') return true
    from = to
  }
  return false
}

const PIECE_BYTES = 4096

/** The start of a character: no part of a split character is whitespace. */
function pieceEnd(text: Buffer, from: number): number {
  let end = from + PIECE_BYTES
  while (((text[end] ?? 0) & 0xc0) === 0x80) end += 1
  return end
}

/** The escape sequence of a byte; absent if it is not escaped. */
const ESCAPES = Array.from({ length: 256 }, (_none, byte) => {
  const escape = JSON.stringify(String.fromCharCode(byte)).slice(1, -1)
  return escape.length === 1 ? undefined : Buffer.from(escape)
})
const LENGTHS = Uint8Array.from(ESCAPES, (escape) => escape?.length ?? 1)
