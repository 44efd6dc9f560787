import type { Clock } from '../clock.ts'

/** How often something may happen: `burst` times at once, and `perSecond` times per second in the long run. */
export class Allowance {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #burst: number
  readonly #perSecond: number
  #remaining: number
  #at: number

  constructor(burst: number, perSecond: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
    this.#burst = burst
    this.#perSecond = perSecond
    this.#remaining = burst
    this.#at = clock.monotonicMs()
  }

  /** Uses up one; false if none is left. */
  take(): boolean {
    const now = this.#clock.monotonicMs()
    const regained = ((now - this.#at) / 1000) * this.#perSecond
    this.#remaining = Math.min(this.#burst, this.#remaining + regained)
    this.#at = now
    if (this.#remaining < 1) return false
    this.#remaining -= 1
    return true
  }
}
