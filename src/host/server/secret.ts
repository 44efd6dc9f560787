import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32

/** 256 random bits in base64url: 43 characters. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Whether `sent` is the secret. Takes the same time for every wrong one: hashes of equal length are compared entirely. */
export function isSecret(sent: string, secret: string): boolean {
  return timingSafeEqual(digest(sent), digest(secret))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
