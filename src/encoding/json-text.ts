/** How many bytes UTF-8 has inside a string of JSON. */
export function jsonTextLength(text: Buffer): number {
  let length = 0
  for (let from = 0; from < text.length; from += 1) length += LENGTHS[text[from] ?? 0] ?? 0
  return length
}

/**
 * Writes UTF-8 into `room` as it stands inside a string of JSON, from `start` on, and answers where it ends. The bytes are those
 * of `JSON.stringify`, which escapes nothing that takes more than one byte; but no string is made of them.
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

/** Whether UTF-8 says anything but white space. Most texts do in their first piece. */
export function hasWordsIn(text: Buffer): boolean {
  for (let from = 0; from < text.length;) {
    const to = pieceEnd(text, from)
    if (text.toString('utf8', from, to).trim() !== '') return true
    from = to
  }
  return false
}

const PIECE_BYTES = 4096

/** Where a character begins: none that is cut in two is white space. */
function pieceEnd(text: Buffer, from: number): number {
  let end = from + PIECE_BYTES
  while (((text[end] ?? 0) & 0xc0) === 0x80) end += 1
  return end
}

/** What stands for a byte, where that is not the byte itself. */
const ESCAPES = Array.from({ length: 256 }, (_none, byte) => {
  const escape = JSON.stringify(String.fromCharCode(byte)).slice(1, -1)
  return escape.length === 1 ? undefined : Buffer.from(escape)
})
const LENGTHS = Uint8Array.from(ESCAPES, (escape) => escape?.length ?? 1)
