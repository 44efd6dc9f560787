import type { Clock } from '../../../src/host/clock.ts'

/** A clock that only a test advances. */
export interface VirtualClock extends Clock {
  /** Advances the time and fires the timers that are due. */
  advance(ms: number): void
  /** The remaining time of each pending timer. */
  pending(): readonly number[]
  /** The number of timers set so far. */
  readonly set: number
}

export function virtualClock(): VirtualClock {
  const timers = new Map<number, { readonly due: number; readonly ring: () => void }>()
  let now = 0
  let set = 0
  return {
    now: () => now,
    monotonicMs: () => now,
    after: (ms, then) => {
      const id = set
      set += 1
      timers.set(id, { due: now + ms, ring: then })
      return () => void timers.delete(id)
    },
    advance: (ms) => {
      now += ms
      for (const [id, { due, ring }] of [...timers].toSorted(([, a], [, b]) => a.due - b.due)) {
        if (due <= now && timers.delete(id)) ring()
      }
    },
    pending: () => [...timers.values()].map(({ due }) => due - now),
    get set() {
      return set
    },
  }
}

/** Waits until other pending work makes the condition true. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => void setImmediate(resolve))
}
