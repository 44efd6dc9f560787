import { usualExtension } from '../../../encoding/magic-bytes.ts'

/**
 * The name under which bytes that came without one are attached, as in `stdin.png`: what they are decides, and `.bin` is
 * accepted nowhere.
 */
export function stagedName(stem: string, bytes: Buffer): string {
  return `${stem}.${usualExtension(bytes)}`
}
