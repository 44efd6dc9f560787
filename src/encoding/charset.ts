/** Large enough to be fast, and small compared with the text. */
const PIECE_BYTES = 256 * 1024

/**
 * Decodes text in a charset (a `TextDecoder` label), in pieces that end between characters, without its byte order mark. Throws
 * a `RangeError` for an unknown charset and a `TypeError` for bytes that are invalid in it. Always decodes as a stream: Node 20
 * decodes `windows-1252` as Latin-1 if it gets all bytes at once.
 */
export function* decodedPieces(bytes: Uint8Array, charset: string): Generator<string> {
  const decoder = new TextDecoder(charset, { fatal: true })
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true })
  }
  yield decoder.decode()
}

/** The canonical `TextDecoder` name of a charset; undefined if it is unknown. */
export function charsetName(charset: string): string | undefined {
  try {
    return new TextDecoder(charset).encoding
  } catch {
    return undefined
  }
}
