import type { Clock } from './clock.ts'

/** Waits `ms`. Resolves early, without an error, when the signal is aborted. */
export function wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(ms, wake)
    signal?.addEventListener('abort', wake)
    if (signal?.aborted === true) wake()
  })
}

/** A time limit for waiting. */
export interface Patience {
  readonly clock: Clock
  /** Aborted when the wait is over. */
  readonly signal: AbortSignal
  /** Call it when done, so that no timer is left. */
  end(): void
}

/** Ends with `outer`, and after `ms` at the latest. */
export function patience(clock: Clock, ms: number, outer?: AbortSignal): Patience {
  const controller = new AbortController()
  const cancel = clock.after(ms, () => controller.abort())
  const signal =
    outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer])
  return { clock, signal, end: cancel }
}

/**
 * The result of `work`, or `undefined` if the signal is aborted first. Does not start `work` if the signal is already
 * aborted. A late result is ignored.
 */
export function whileWaiting<T>(
  { signal }: Patience,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(undefined)
    signal.addEventListener('abort', giveUp)
    void work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** Lets everything run that is due, such as a key press, before a long computation continues. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** A random number from 0 to 1. For waiting times only, never for ids or keys. */
export const systemChance: () => number = Math.random
