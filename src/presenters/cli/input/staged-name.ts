import { usualExtension } from '../../../encoding/magic-bytes.ts'

/** A name for bytes without one, such as `stdin.png`, by their type; `.bin` is always refused. */
export function stagedName(stem: string, bytes: Buffer): string {
  return `${stem}.${usualExtension(bytes)}`
}
