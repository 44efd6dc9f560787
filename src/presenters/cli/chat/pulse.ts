import type { Clock } from '../../../host/clock.ts'

/** Repeats a drawing while something is running. No timer runs otherwise. */
export class Pulse {
  readonly #clock: Clock
  readonly #beat: () => void
  #cancel: (() => void) | undefined

  constructor(clock: Clock, beat: () => void) {
    this.#clock = clock
    this.#beat = beat
  }

  /** Called for every drawing: beats again after `ms` if something is running. */
  next(isRunning: boolean, ms: number): void {
    if (!isRunning) return this.stop()
    this.#cancel ??= this.#clock.after(ms, () => {
      this.#cancel = undefined
      this.#beat()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
