import { failed, ok, type Result } from '../../model/errors.ts'

/** What to do with a Turn that comes while another runs. */
export type WhenBusy = 'refuse' | 'queue' | 'replace'

/** The right to run, until `leave`. */
export interface Admission {
  readonly signal: AbortSignal
  readonly leave: () => void
}

/** One Turn at a time, the others in line. Those who wait are not in the Log and were not acknowledged. */
export class Admissions {
  readonly #limit: number
  #running: AbortController | undefined
  #line: (() => void)[] = []
  #idle: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  get busy(): boolean {
    return this.#running !== undefined
  }

  async enter(whenBusy: WhenBusy, interrupt: () => void): Promise<Result<Admission>> {
    if (this.#running !== undefined) {
      if (whenBusy === 'refuse') return inProgress()
      if (this.#line.length >= this.#limit) return tooMany(this.#limit)
      if (whenBusy === 'replace') interrupt()
      await new Promise<void>((resolve) => {
        if (whenBusy === 'replace') this.#line.unshift(resolve)
        else this.#line.push(resolve)
      })
    }
    const running = new AbortController()
    this.#running = running
    return ok({ signal: running.signal, leave: () => this.#leave(running) })
  }

  interrupt(): void {
    this.#running?.abort()
  }

  /** Resolves when nothing runs and nobody waits. */
  async idle(): Promise<void> {
    if (!this.busy) return
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve)
    })
  }

  #leave(running: AbortController): void {
    if (this.#running !== running) return
    const next = this.#line.shift()
    // Stays taken for the next in line: nobody may slip in between.
    if (next !== undefined) return next()
    this.#running = undefined
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function inProgress(): Result<never> {
  return failed('turn_in_progress', 'A Turn of this Session is running.', {}, [
    { action: 'Wait for it, interrupt it, or send this as a word to the running Turn.' },
  ])
}

function tooMany(limit: number): Result<never> {
  return failed('backpressure', `${limit} Turns of this Session are waiting already.`, { limit })
}
