import { elapsedMs, type Clock } from '../clock.ts'
import { isSecret, newSecret } from './secret.ts'

/**
 * Codes that a page exchanges for the token. They exist in the memory of this process only: a code of another server, or of
 * this one before a restart, is worth nothing.
 */
export interface PageCodes {
  /** A code that works once, within 60 seconds. The one before it stops working. */
  issue(): string
  /** Whether this is the current code; it is used up then. A wrong one uses up nothing. */
  redeem(code: string): boolean
}

const PAGE_CODE_MS = 60_000

export function pageCodes(clock: Pick<Clock, 'monotonicMs'>): PageCodes {
  let current: { readonly code: string; readonly issuedMs: number } | undefined
  return {
    issue: () => {
      current = { code: newSecret(), issuedMs: clock.monotonicMs() }
      return current.code
    },
    redeem: (code) => {
      // Without a current code, compares all the same.
      const { code: expected, issuedMs } = current ?? { code: newSecret(), issuedMs: 0 }
      if (!isSecret(code, expected) || current === undefined) return false
      current = undefined
      return elapsedMs(clock, issuedMs) < PAGE_CODE_MS
    },
  }
}
