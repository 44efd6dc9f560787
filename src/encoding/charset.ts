/** Big enough to be fast, and small enough to be nothing beside the bytes. */
const PIECE_BYTES = 256 * 1024

/**
 * Text in a charset as `TextDecoder` names it, in pieces that lie between characters, without its byte order mark. Throws a
 * `RangeError` for a charset that is not known, and a `TypeError` where the bytes are not text of it. Always decodes as a
 * stream: Node 20 takes `windows-1252` for Latin-1 when it gets all bytes at once.
 */
export function* decodedPieces(bytes: Uint8Array, charset: string): Generator<string> {
  const decoder = new TextDecoder(charset, { fatal: true })
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true })
  }
  yield decoder.decode()
}

/** The name that `TextDecoder` has for a charset; `undefined` when it knows none of that name. */
export function charsetName(charset: string): string | undefined {
  try {
    return new TextDecoder(charset).encoding
  } catch {
    return undefined
  }
}
