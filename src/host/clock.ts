import process from 'node:process'

/** Time, so that tests can be told what it is. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump either way; only shown and recorded, never used to order or to measure. */
  now(): number
  /** Milliseconds since an arbitrary moment. Never decreases within a process: durations and deadlines come from it. */
  monotonicMs(): number
  /** Calls `then` once after `ms`, unless the returned function was called before. The process stays alive for it. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => {
    // `performance` would load a dozen parts of Node for the same figure.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + Math.floor(nanoseconds / 1e6)
  },
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/** Whole milliseconds since `startedMs`, a reading of the same clock's `monotonicMs`. */
export function elapsedMs(clock: Pick<Clock, 'monotonicMs'>, startedMs: number): number {
  return clock.monotonicMs() - startedMs
}

/** The wall clock as Events and records carry it. Outside the years 0 to 9999 it is clamped: their schemas take four digits. */
export function timestamp(clock: Pick<Clock, 'now'>): string {
  return new Date(Math.min(Math.max(clock.now(), FIRST_MS), LAST_MS)).toISOString()
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')
