import { systemClock, type Clock } from '../../../src/host/clock.ts'

/** The clock of the machine, on which waits of an hour or more end when the test says so. */
export interface HeldClock extends Clock {
  /** How many such waits there are. */
  readonly held: number
  release(): void
}

const HOUR_MS = 60 * 60 * 1000

export function heldClock(): HeldClock {
  const waits = new Set<() => void>()
  return {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs(),
    after: (ms, then) => {
      if (ms < HOUR_MS) return systemClock.after(ms, then)
      waits.add(then)
      return () => void waits.delete(then)
    },
    get held() {
      return waits.size
    },
    release: () => {
      const ended = [...waits]
      waits.clear()
      for (const then of ended) then()
    },
  }
}
