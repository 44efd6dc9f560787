/** Timers that do not keep the process alive. */
export const backgroundTimer = {
  /** Calls `then` once after `ms`, unless the returned function was called before. */
  after(ms: number, then: () => void): () => void {
    const timer = setTimeout(then, ms).unref()
    return () => clearTimeout(timer)
  },
  /** Calls `then` every `ms`, until the returned function is called. */
  every(ms: number, then: () => void): () => void {
    const timer = setInterval(then, ms).unref()
    return () => clearInterval(timer)
  },
}
