import type { AttachmentInput } from '../../../model/attachment.ts'
import type { Message } from '../../../session/live/one-turn.ts'

/** Something that goes with the next message. */
export interface Attached {
  readonly input: AttachmentInput
  /** How a person is told of it, as in `harbour.png · 12.3 KiB`. Visible text. */
  readonly words: string
}

/** A message on its way, and what of it was attached beforehand. */
export interface OutgoingMessage extends Message {
  readonly attached: readonly Attached[]
}

/** What was attached and waits for the next message; numbered from 1, as people see it. */
export class Attachments {
  #waiting: readonly Attached[] = []

  get waiting(): readonly Attached[] {
    return this.#waiting
  }

  add(one: Attached): void {
    this.#waiting = [...this.#waiting, one]
  }

  /** Takes one away again; `undefined` when there is none of that number. */
  remove(number: number): Attached | undefined {
    const removed = this.#waiting[number - 1]
    this.#waiting = this.#waiting.filter((_, at) => at !== number - 1)
    return removed
  }

  /** They are on their way; none waits any more. */
  take(): readonly Attached[] {
    const taken = this.#waiting
    this.#waiting = []
    return taken
  }

  /** They could not be sent, and stand before what was attached meanwhile. */
  giveBack(these: readonly Attached[]): void {
    this.#waiting = [...these, ...this.#waiting]
  }
}
