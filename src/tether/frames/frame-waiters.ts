import type { Clock } from '../../host/clock.ts'
import type { FrameEntry } from './frame-entry.ts'
import { matches, type FrameFilter } from './frame-query.ts'

const MOST_POLLS = 1_000

/** Places for waiting polls, for all Instances together. If none is free, the poll that waits longest is released. */
export class PollPlaces {
  readonly #most: number
  readonly #releases = new Set<() => void>()

  constructor(most = MOST_POLLS) {
    this.#most = most
  }

  get waiting(): number {
    return this.#releases.size
  }

  /** `release` must leave the place, as must the waiter that took it. */
  take(release: () => void): void {
    this.#releases.add(release)
    if (this.#releases.size <= this.#most) return
    for (const oldest of this.#releases) return oldest()
  }

  leave(release: () => void): void {
    this.#releases.delete(release)
  }
}

export interface Waiting {
  readonly filter: FrameFilter
  /** Without it, a wait has no time limit. */
  readonly ms?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Without it, the wait needs no place. */
  readonly places?: PollPlaces | undefined
}

interface Waiter {
  readonly filter: FrameFilter
  readonly end: (isWoken: boolean) => void
}

/** Those who wait for the next frames of a log. */
export class FrameWaiters {
  readonly #clock: Clock
  readonly #waiters = new Set<Waiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get count(): number {
    return this.#waiters.size
  }

  /**
   * Resolves with true after a frame that matches was added. It waits from this call on, not from a later tick, so that a
   * caller that has just examined everything misses nothing. False: time is up, or it was cancelled or released.
   */
  wait({ filter, ms, signal, places }: Waiting): Promise<boolean> {
    return new Promise((resolve) => {
      const release = () => waiter.end(false)
      const end = (isWoken: boolean) => {
        if (!this.#waiters.delete(waiter)) return
        cancel?.()
        signal?.removeEventListener('abort', release)
        places?.leave(release)
        resolve(isWoken)
      }
      const waiter: Waiter = { filter, end }
      this.#waiters.add(waiter)
      const cancel = ms === undefined ? undefined : this.#clock.after(ms, release)
      signal?.addEventListener('abort', release)
      places?.take(release)
      if (signal?.aborted === true) release()
    })
  }

  wake(entries: readonly FrameEntry[]): void {
    for (const { filter, end } of this.#waiters)
      if (entries.some((entry) => matches(entry, filter))) end(true)
  }

  releaseAll(): void {
    for (const { end } of this.#waiters) end(false)
  }
}
