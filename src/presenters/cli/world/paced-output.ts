import type { Output } from '../../../host/output.ts'

/** Text is buffered up to this size before it is written. */
const PIECE_CHARACTERS = 64 * 1024

/** Writes large output with backpressure: at most one piece is buffered, however large the whole is. */
export class PacedOutput {
  readonly #output: Output
  #waiting: string[] = []
  #characters = 0

  constructor(output: Output) {
    this.#output = output
  }

  /** Returns false when the reader has closed the output: the caller can stop. */
  async write(text: string): Promise<boolean> {
    this.#waiting.push(text)
    this.#characters += text.length
    if (this.#characters >= PIECE_CHARACTERS) await this.flush()
    return !this.#output.isBroken
  }

  /** Writes the buffer, and resolves when the output has accepted it. */
  async flush(): Promise<void> {
    this.#output.write(this.#waiting.join(''))
    this.#waiting = []
    this.#characters = 0
    await this.#output.flush()
  }
}
