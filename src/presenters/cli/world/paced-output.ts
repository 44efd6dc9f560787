import type { Output } from '../../../host/output.ts'

/** So much is gathered before it is written. */
const PIECE_CHARACTERS = 64 * 1024

/** Much text, written no faster than it is taken: what waits is a piece, however large the whole is. */
export class PacedOutput {
  readonly #output: Output
  #waiting: string[] = []
  #characters = 0

  constructor(output: Output) {
    this.#output = output
  }

  /** Answers false when nobody reads any more: then there is no use in going on. */
  async write(text: string): Promise<boolean> {
    this.#waiting.push(text)
    this.#characters += text.length
    if (this.#characters >= PIECE_CHARACTERS) await this.flush()
    return !this.#output.broken
  }

  /** Writes what waits, and resolves when it was taken. */
  async flush(): Promise<void> {
    this.#output.write(this.#waiting.join(''))
    this.#waiting = []
    this.#characters = 0
    await this.#output.flushed()
  }
}
