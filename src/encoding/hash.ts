import { createHash, hash } from 'node:crypto'

/** Lower-case hex SHA-256 of bytes, or of a string's UTF-8. */
export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex')
}

/** A running SHA-256, for bytes that are never all in memory. */
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
