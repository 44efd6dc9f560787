/**
 * Bytes in base64 between two texts, in memory of their own. All of it is written there once, a piece at a time: base64 that
 * was made as a string would be in memory twice more before it is bytes.
 */
export function base64Between(before: string, bytes: Buffer, after: string): Buffer {
  const [start, end] = [Buffer.byteLength(before), Buffer.byteLength(after)]
  const all = Buffer.allocUnsafeSlow(start + base64Length(bytes) + end)
  let at = all.write(before)
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    at += all.write(bytes.toString('base64', from, from + PIECE_BYTES), at, 'latin1')
  }
  all.write(after, at)
  return all
}

/** Three bytes are four characters, so each piece but the last ends where characters do. */
const PIECE_BYTES = 48 * 1024

function base64Length({ length }: Buffer): number {
  return Math.ceil(length / 3) * 4
}
