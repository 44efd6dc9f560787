import type { Clock } from '../../../host/clock.ts'
import type { Output } from '../../../host/output.ts'

const SILENCE_MS = 1000

/** One line on a terminal's standard error that says what goes on, after a second without any other word; elsewhere nothing. */
export class Activity {
  readonly #clock: Clock
  readonly #output: Output
  #cancel: (() => void) | undefined
  #shown = false
  #lift: (() => void) | undefined

  constructor(clock: Clock, output: Output) {
    this.#clock = clock
    this.#output = output
  }

  /** Says `text` unless something else is said within a second. */
  during(text: string): void {
    this.clear()
    if (!this.#output.isTTY || this.#lift !== undefined) return
    this.#cancel = this.#clock.after(SILENCE_MS, () => {
      this.#shown = true
      this.#output.write(`${text}…`)
    })
  }

  /** Before anything else is written to the terminal, and at the end. */
  clear(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#shown) this.#output.write('\r\u001b[2K')
    this.#shown = false
    this.#lift?.()
  }

  /** Something else covers the end of the terminal: `lift` takes it away before anything is written. Ends by what is returned. */
  cover(lift: () => void): () => void {
    this.#lift = lift
    return () => {
      this.#lift = undefined
    }
  }
}
