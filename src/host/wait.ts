import type { Clock } from './clock.ts'

/** Waits; ends early, and without an error, when the signal is aborted. */
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

/** How long somebody waits for something. */
export interface Patience {
  readonly clock: Clock
  /** Aborted when nobody waits any longer. */
  readonly signal: AbortSignal
  /** To be called when it is over, so that no timer is left. */
  end(): void
}

/** As long as `outer` waits, and no longer than `ms`. */
export function patience(clock: Clock, ms: number, outer?: AbortSignal): Patience {
  const controller = new AbortController()
  const cancel = clock.after(ms, () => controller.abort())
  const signal =
    outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer])
  return { clock, signal, end: cancel }
}

/**
 * What `work` gives; `undefined` when nobody waits for it any longer. It is not begun when nobody does. What it does after
 * that is ignored.
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
