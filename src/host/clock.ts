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
  return clamped(clock).toISOString()
}

/** The day that the wall clock shows here, and the time zone of this process. */
export function localDate(clock: Pick<Clock, 'now'>): {
  readonly date: string
  readonly zone: string
} {
  const now = clamped(clock)
  // Shifted by the zone, so that the date of UTC is the one here.
  const here = new Date(now.getTime() - now.getTimezoneOffset() * 60_000)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return { date: timestamp({ now: () => here.getTime() }).slice(0, 10), zone }
}

function clamped(clock: Pick<Clock, 'now'>): Date {
  return new Date(Math.min(Math.max(clock.now(), FIRST_MS), LAST_MS))
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')
