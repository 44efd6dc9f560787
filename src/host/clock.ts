/** Time, so that tests can be told what it is. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump; never used to order anything. */
  now(): number
  /** Calls `then` once after `ms`, unless the returned function was called before. The process stays alive for it. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}
