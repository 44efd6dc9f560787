const WINDOW_MS = 2 * 60_000
const MOST_CRASHES = 5
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000

/** How often a guest crashed lately. Times are those of a monotonic clock. */
export class Crashes {
  #times: number[] = []
  #inARow = 0

  /** Notes a crash. Returns how long the next start has to wait, or `too_often`. */
  add(now: number): number | 'too_often' {
    this.#times = [...this.#times.filter((time) => now - time < WINDOW_MS), now]
    this.#inARow += 1
    if (this.#times.length >= MOST_CRASHES) return 'too_often'
    return Math.min(FIRST_WAIT_MS * 2 ** (this.#inARow - 1), LONGEST_WAIT_MS)
  }

  /** It ended a message: the next wait is short again. */
  noteSuccess(): void {
    this.#inARow = 0
  }

  forget(): void {
    this.#times = []
    this.#inARow = 0
  }
}

/** How long an Instance that cannot start refuses messages. */
export const REFUSAL_MS = WINDOW_MS
