import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Whether an `Authorization` header has this token. Takes the same time for every wrong one: hashes of equal length are
 * compared, all of their bytes.
 */
export function isToken(header: string | undefined, token: string): boolean {
  const sent = /^Bearer ([^\s]+)$/i.exec(header ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(sent), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
