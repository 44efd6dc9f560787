import type { Clock } from '../../host/clock.ts'
import { inOrder } from '../../host/in-order.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../../model/errors.ts'
import type { InstanceState } from '../tether.ts'
import { Crashes, REFUSAL_MS } from './crashes.ts'
import { CRASH_KINDS, type RunningGuest } from './runtime.ts'

export interface LifecycleParts {
  readonly clock: Clock
  readonly idle: () => { readonly pause_seconds: number; readonly stop_seconds: number }
  readonly start: () => Promise<Result<RunningGuest>>
  /** Messages have not ended. */
  readonly isBusy: () => boolean
  /** The guest is ready: delivers what arrived while it was started. */
  readonly onStart: (guest: RunningGuest) => void
  /** A guest is gone. */
  readonly ended: () => Promise<void>
  /** Messages that wait cannot run. */
  readonly unable: (error: HawserError) => Promise<void>
  /** The state has changed. */
  readonly onChange: (state: InstanceState) => void
  /** Called with what is thrown where no caller waits for it. Must not throw. */
  readonly onDefect: (error: unknown) => void
}

/** Why no guest can be started, and until when that is not tried again. */
interface Obstacle {
  readonly error: HawserError
  readonly until: number
}

/**
 * Starts, pauses and stops the guest of one Instance. Every step waits for the one before; callers that need a running guest
 * share one attempt to get it.
 */
export class Lifecycle {
  readonly #parts: LifecycleParts
  readonly #inOrder = inOrder()
  readonly #crashes = new Crashes()
  #guest: RunningGuest | undefined
  #state: InstanceState = 'stopped'
  #waking: Promise<Result<void>> | undefined
  #obstacle: Obstacle | undefined
  #reason: HawserError | undefined
  #retryAt = 0
  #retry: (() => void) | undefined
  #rest: (() => void) | undefined
  #isClosed = false

  constructor(parts: LifecycleParts) {
    this.#parts = parts
  }

  get state(): InstanceState {
    return this.#state
  }

  /** Why it does not run, if it did not stop by itself or on request. */
  get reason(): HawserError | undefined {
    return this.#reason
  }

  /** The guest, running or paused. */
  get guest(): RunningGuest | undefined {
    return this.#guest
  }

  /** Why no guest can be started now, if that is known. */
  get obstacle(): HawserError | undefined {
    const { error, until } = this.#obstacle ?? { until: 0 }
    return this.#parts.clock.monotonicMs() < until ? error : undefined
  }

  /** Makes the guest run, after a crash only when its waiting time is over. */
  wake(): Promise<Result<void>> {
    if (this.#waking === undefined && this.#mustWait()) {
      this.#wakeLater()
      return Promise.resolve(later())
    }
    this.#waking ??= this.#inOrder(() => this.#run())
      .catch((error: unknown) => this.#defect(error))
      .finally(() => {
        this.#waking = undefined
      })
    return this.#waking
  }

  /** Makes the guest run now, whatever happened before. */
  async start(): Promise<Result<void>> {
    await this.#inOrder(async () => {
      this.#forget()
      this.#crashes.forget()
    })
    return this.wake()
  }

  /** A guest that cannot be paused is stopped. */
  pause(): Promise<void> {
    return this.#inOrder(() => this.#pause())
  }

  /** Messages that wait stay in the queue. */
  stop(graceMs?: number): Promise<void> {
    this.#forget()
    return this.#inOrder(() => this.#stop(graceMs))
  }

  /** Permanently: nothing is started any more. */
  close(graceMs?: number): Promise<void> {
    this.#isClosed = true
    return this.stop(graceMs)
  }

  /** A message has ended. */
  noteSuccess(): void {
    this.#crashes.noteSuccess()
    this.rest()
  }

  /** Begins to wait for the end of the idle time, if there is no work. */
  rest(): void {
    this.#rest?.()
    this.#rest = undefined
    if (this.#parts.isBusy()) return
    const { pause_seconds, stop_seconds } = this.#parts.idle()
    if (this.#state === 'running') this.#after(pause_seconds, () => this.#pause())
    if (this.#state === 'paused') this.#after(stop_seconds, () => this.#stop())
  }

  #mustWait(): boolean {
    return this.#guest === undefined && this.#retryAt > this.#parts.clock.monotonicMs()
  }

  #wakeLater(): void {
    const { clock, isBusy } = this.#parts
    this.#retry ??= clock.after(this.#retryAt - clock.monotonicMs(), () => {
      this.#retry = undefined
      if (isBusy()) void this.wake()
    })
  }

  #after(seconds: number, then: () => Promise<void>): void {
    this.#rest = this.#parts.clock.after(seconds * 1000, () => {
      this.#rest = undefined
      this.#later(async () => {
        if (!this.#parts.isBusy()) await then()
      })
    })
  }

  /** A step that no caller waits for. */
  #later(step: () => Promise<void>): void {
    this.#inOrder(step).catch((error: unknown) => void this.#defect(error))
  }

  #defect(error: unknown): Failed {
    this.#parts.onDefect(error)
    return failed('internal', 'The agent could not be started.')
  }

  #forget(): void {
    this.#obstacle = undefined
    this.#reason = undefined
    this.#retryAt = 0
    this.#retry?.()
    this.#retry = undefined
  }

  #change(state: InstanceState): void {
    this.#state = state
    this.#parts.onChange(state)
    this.rest()
  }

  async #run(): Promise<Result<void>> {
    if (this.#isClosed) return failed('wake_failed', 'The server is stopping.')
    const guest = this.#guest
    if (guest === undefined) return this.#startInTime()
    if (this.#state !== 'paused') return ok(undefined)
    const resumed = await guest.resume()
    if (resumed.ok) {
      this.#change('running')
      return ok(undefined)
    }
    // It ended while it was paused.
    await guest.stop(0)
    await this.#over(guest)
    return this.#startInTime()
  }

  async #startInTime(): Promise<Result<void>> {
    if (!this.#mustWait()) return this.#start()
    this.#wakeLater()
    return later()
  }

  async #start(): Promise<Result<void>> {
    this.#change('starting')
    const started = await this.#parts.start().catch((error: unknown) => this.#defect(error))
    if (!started.ok) {
      this.#change('stopped')
      await this.#failed(started.error)
      return started
    }
    const guest = started.value
    this.#guest = guest
    this.#forget()
    this.#parts.onStart(guest)
    this.#change('running')
    void guest.ended.then(() => this.#later(() => this.#over(guest)))
    return ok(undefined)
  }

  async #pause(): Promise<void> {
    if (this.#state !== 'running' || this.#guest === undefined) return
    const paused = await this.#guest.pause()
    if (paused.ok) this.#change('paused')
    else await this.#stop()
  }

  async #stop(graceMs?: number): Promise<void> {
    const guest = this.#guest
    if (guest === undefined) return
    await guest.stop(graceMs)
    await guest.ended
    this.#guest = undefined
    this.#change('stopped')
    await this.#parts.ended()
  }

  /** The guest has ended, and was not stopped here. */
  async #over(guest: RunningGuest): Promise<void> {
    if (this.#guest !== guest) return
    const { reason } = await guest.ended
    this.#reason = reason
    this.#guest = undefined
    this.#change('stopped')
    await this.#parts.ended()
    if (reason !== undefined) await this.#failed(reason)
    else if (this.#parts.isBusy()) void this.wake()
  }

  async #failed(error: HawserError): Promise<void> {
    this.#reason = error
    const now = this.#parts.clock.monotonicMs()
    const wait = CRASH_KINDS.has(error.kind) ? this.#crashes.add(now) : undefined
    if (typeof wait === 'number') {
      this.#retryAt = now + wait
      if (this.#parts.isBusy()) this.#wakeLater()
      return
    }
    const lasting = error.kind === 'log_damaged'
    const why = wait === 'too_often' ? crashedOften(error).error : error
    this.#reason = why
    this.#obstacle = { error: why, until: lasting ? Infinity : now + REFUSAL_MS }
    this.#crashes.forget()
    await this.#parts.unable(why)
  }
}

function later(): Failed {
  return failed('wake_failed', 'The agent crashed and is started again in a moment.')
}

function crashedOften({ message, details }: HawserError): Failed {
  const text = `The agent crashed five times within two minutes. The last time: ${message}`
  return failed('wake_failed', text, details)
}
