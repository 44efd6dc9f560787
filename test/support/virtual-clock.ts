import type { Clock } from '../../src/host/clock.ts'

/** Time that stands still until a test lets it pass. */
export interface VirtualClock extends Clock {
  /** Lets time pass, and rings on its way whatever is due. */
  advance(ms: number): void
  /** How long the timers that are set still have to go. */
  pending(): readonly number[]
  /** How many timers were ever set. */
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

/** Waits until something holds that other work, which is under way, brings about. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => void setImmediate(resolve))
}
