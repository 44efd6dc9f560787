import process from 'node:process'
import { pausableClock, type PausableClock } from './pausable-clock.ts'
import { timeZone } from './time-zone.ts'

/** Time as a port, so that tests can control it. */
export interface Clock {
  /**
   * Wall clock, milliseconds since 1970. May jump in either direction: display and record it, never order or measure by it.
   */
  now(): number
  /** Milliseconds since an arbitrary moment. Never decreases within a process; use it for durations and deadlines. */
  monotonicMs(): number
  /** Calls `then` once after `ms`, unless the returned function was called first. Keeps the process alive. */
  after(ms: number, then: () => void): () => void
}

const runningClock: Pick<Clock, 'monotonicMs' | 'after'> = {
  monotonicMs: () => {
    // `performance` would load a dozen Node modules for the same number.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + Math.floor(nanoseconds / 1e6)
  },
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

let pausable: PausableClock | undefined

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => (pausable ?? runningClock).monotonicMs(),
  after: (ms, then) => (pausable ?? runningClock).after(ms, then),
}

/**
 * From now on, `systemClock` leaves out the time that this process is stopped: its timers and its monotonic readings, not
 * its wall clock. The process that stops it reports to it how long that was, through `leaveOut`.
 */
export function countPauses(): void {
  if (pausable !== undefined) return
  const counting = pausableClock(runningClock, (then) => {
    // Runs after what can be read now has been read.
    const next = setImmediate(then)
    return () => clearImmediate(next)
  })
  process.on('SIGCONT', () => counting.noteContinue())
  pausable = counting
}

/** This process was stopped for `ms`. Does nothing unless pauses are counted. */
export function leaveOut(ms: number): void {
  pausable?.leaveOut(ms)
}

/** Whole milliseconds since `startedMs`, a reading of the same clock's `monotonicMs`. */
export function elapsedMs(clock: Pick<Clock, 'monotonicMs'>, startedMs: number): number {
  return clock.monotonicMs() - startedMs
}

/**
 * The wall clock in the format of Events and records. Clamped to the years 0 to 9999, since their schemas have four digits.
 */
export function timestamp(clock: Pick<Clock, 'now'>): string {
  return clampTime(clock).toISOString()
}

/** The day that the wall clock shows here, and the time zone of this process. */
export function localDate(clock: Pick<Clock, 'now'>): {
  readonly date: string
  readonly zone: string
} {
  const now = clampTime(clock)
  // Shifted by the zone, so that the date of UTC is the one here.
  const here = new Date(now.getTime() - now.getTimezoneOffset() * 60_000)
  return { date: timestamp({ now: () => here.getTime() }).slice(0, 10), zone: timeZone() }
}

function clampTime(clock: Pick<Clock, 'now'>): Date {
  return new Date(Math.min(Math.max(clock.now(), FIRST_MS), LAST_MS))
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')
