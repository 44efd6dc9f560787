/** The part of a `Clock` that pauses affect. */
interface Ticking {
  monotonicMs(): number
  after(ms: number, then: () => void): () => void
}

/** A clock that does not advance while its process is paused, once it knows how long that was. */
export interface PausableClock extends Ticking {
  /** The process has been continued; how long it was paused may not be known yet. */
  noteContinue(): void
  /** The process was paused for `ms`. */
  leaveOut(ms: number): void
}

/** After this time, due timers no longer wait for the length of a pause. */
const LONGEST_NEWS_MS = 1_000
const POLL_MS = 5

/**
 * Adds pauses to a clock that keeps running meanwhile. A due timer is decided by `soon`, after everything that was waiting
 * to be read, because the length of a pause may be in it. A reading taken between the end of a pause and `leaveOut` still
 * includes the pause: later readings continue from it, since no reading may be less than an earlier one. Timers are not
 * affected by that.
 */
export function pausableClock(raw: Ticking, soon: (then: () => void) => () => void): PausableClock {
  /** What timers leave out, and what readings do, which is less after a reading that included a pause. */
  let leftOut = 0
  let leftOutOfReadings = 0
  let last = Number.NEGATIVE_INFINITY
  /** Until when due timers wait for `leaveOut`. */
  let newsUntil = Number.NEGATIVE_INFINITY
  /** Until when a call of `noteContinue` belongs to the last `leaveOut`: the two arrive in any order. */
  let toldUntil = Number.NEGATIVE_INFINITY

  const monotonicMs = () => (last = raw.monotonicMs() - leftOutOfReadings)
  const after = (ms: number, then: () => void) => {
    const deadline = raw.monotonicMs() - leftOut + ms
    const decide = () => {
      const now = raw.monotonicMs()
      const rest = now < newsUntil ? POLL_MS : deadline - (now - leftOut)
      if (rest > 0) cancel = raw.after(rest, due)
      else then()
    }
    const due = () => {
      cancel = soon(decide)
    }
    let cancel = raw.after(ms, due)
    return () => cancel()
  }
  return {
    monotonicMs,
    after,
    noteContinue: () => {
      const now = raw.monotonicMs()
      if (now >= toldUntil) newsUntil = now + LONGEST_NEWS_MS
      toldUntil = Number.NEGATIVE_INFINITY
    },
    leaveOut: (ms) => {
      const now = raw.monotonicMs()
      leftOut += ms
      leftOutOfReadings = Math.min(leftOutOfReadings + ms, now - last)
      // It was continued before this, or the notice of it is about to arrive.
      if (now >= newsUntil) toldUntil = now + LONGEST_NEWS_MS
      newsUntil = Number.NEGATIVE_INFINITY
    },
  }
}
