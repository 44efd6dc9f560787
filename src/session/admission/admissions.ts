import { failed, ok, type Result } from '../../model/errors.ts'

/** What to do with a Turn that arrives while another is running. */
export type WhenBusy = 'refuse' | 'queue' | 'replace'

/** The right to run, until `leave` is called. Calling it twice has no effect. */
export interface Admission {
  readonly signal: AbortSignal
  readonly leave: () => void
}

/** One Turn at a time; others wait in a queue. A waiting Turn is neither in the Log nor acknowledged. */
export class Admissions {
  readonly #limit: number
  #running: AbortController | undefined
  #queue: ((mayRun: boolean) => void)[] = []
  #idle: (() => void)[] = []
  #closed = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get busy(): boolean {
    return this.#running !== undefined
  }

  async enter(whenBusy: WhenBusy, interrupt: () => void): Promise<Result<Admission>> {
    if (this.#closed) return closedBefore()
    if (this.#running !== undefined) {
      if (whenBusy === 'refuse') return inProgress()
      if (this.#queue.length >= this.#limit) return tooMany(this.#limit)
      if (whenBusy === 'replace') interrupt()
      const mayRun = await new Promise<boolean>((resolve) => {
        if (whenBusy === 'replace') this.#queue.unshift(resolve)
        else this.#queue.push(resolve)
      })
      if (!mayRun) return closedBefore()
    }
    const running = new AbortController()
    this.#running = running
    return ok({ signal: running.signal, leave: () => this.#leave(running) })
  }

  /** `why` becomes the reason of the signal. */
  interrupt(why?: object): void {
    this.#running?.abort(why)
  }

  /** Every Turn that waits is refused. */
  refuseWaiting(): void {
    for (const refuse of this.#queue.splice(0)) refuse(false)
  }

  /** Every Turn that comes from now on is refused. */
  close(): void {
    this.#closed = true
  }

  /** Resolves when no Turn is running or waiting. */
  async idle(): Promise<void> {
    if (!this.busy) return
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve)
    })
  }

  #leave(running: AbortController): void {
    if (this.#running !== running) return
    const next = this.#queue.shift()
    // `#running` stays set until the next Turn replaces it, so that no other can enter in between.
    if (next !== undefined) return next(true)
    this.#running = undefined
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function inProgress(): Result<never> {
  return failed('turn_in_progress', 'A Turn is already running in this Session.', {}, [
    { action: 'Wait for it, interrupt it, or steer the running Turn.' },
  ])
}

function tooMany(limit: number): Result<never> {
  return failed('backpressure', `${limit} Turns are already waiting in this Session.`, { limit })
}

/** The error of a Turn that still waits when its Session is closed. */
export function closedBefore(): Result<never> {
  return failed('interrupted', 'The Session was closed before this Turn could start.')
}
