import type { Clock } from '../../../host/clock.ts'
import type { Output } from '../../../host/output.ts'

const SILENCE_MS = 1000

/** A status line on standard error, shown on a terminal after one second without other output. */
export class Activity {
  readonly #clock: Clock
  readonly #output: Output
  #cancel: (() => void) | undefined
  #isShown = false
  #lift: (() => void) | undefined

  constructor(clock: Clock, output: Output) {
    this.#clock = clock
    this.#output = output
  }

  /** Shows `text` after one second, unless `clear` or another call comes first. */
  during(text: string): void {
    this.clear()
    if (!this.#output.isTTY || this.#lift !== undefined) return
    this.#cancel = this.#clock.after(SILENCE_MS, () => {
      this.#isShown = true
      this.#output.write(`${text}…`)
    })
  }

  /** Call it before any other output to the terminal, and at the end. */
  clear(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#isShown) this.#output.write('\r\u001b[2K')
    this.#isShown = false
    this.#lift?.()
  }

  /**
   * Other content covers the end of the terminal: `lift` removes it before anything is written. The returned function
   * ends this.
   */
  cover(lift: () => void): () => void {
    this.#lift = lift
    return () => {
      this.#lift = undefined
    }
  }
}
