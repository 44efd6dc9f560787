import { createHash, createHmac, hash } from 'node:crypto'

/** Lower-case hex SHA-256 of bytes, or of a string's UTF-8. */
export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex')
}

/** Lower-case hex HMAC-SHA-256 of a text: only who knows `key` can compute it. */
export function hmacSha256(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

/** An incremental SHA-256, for bytes that are never all in memory. */
export interface RunningHash {
  update(bytes: Uint8Array): void
  /** May be called once. */
  hex(): string
}

export function runningSha256(): RunningHash {
  const running = createHash('sha256')
  return {
    update: (bytes) => void running.update(bytes),
    hex: () => running.digest('hex'),
  }
}

/**
 * SHA-256 of byte strings that usually start like the previous one; the shared start is hashed once. The last `loose` bytes are
 * hashed again each time, because the next string usually differs there. Keeps the last buffer, which must not change except by
 * writing the next string into it.
 */
export function growingSha256(): (bytes: Buffer, loose: number) => string {
  let running = createHash('sha256')
  let hashed: Buffer = Buffer.alloc(0)
  return (bytes, loose) => {
    // A buffer that was overwritten cannot be compared any more.
    const over = bytes.buffer === hashed.buffer
    if (over || !bytes.subarray(0, hashed.length).equals(hashed)) {
      running = createHash('sha256')
      hashed = Buffer.alloc(0)
    }
    const end = Math.max(hashed.length, bytes.length - loose)
    running.update(bytes.subarray(hashed.length, end))
    hashed = bytes.subarray(0, end)
    return running.copy().update(bytes.subarray(end)).digest('hex')
  }
}
