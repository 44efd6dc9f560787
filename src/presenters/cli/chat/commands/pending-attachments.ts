import type { AttachmentInput } from '../../../../model/attachment.ts'
import type { AdmitOptions } from '../../../../session/admission/admit-options.ts'

/** An attachment for the next message. */
export interface PendingAttachment {
  readonly input: AttachmentInput
  /** Its description, such as `harbour.png · 12.3 KiB`. Visible text. */
  readonly words: string
}

/** A message to send, with the attachments that were added beforehand. */
export interface OutgoingMessage extends AdmitOptions {
  readonly text: string
  readonly pending: readonly PendingAttachment[]
}

/** Whether a message is only text, so that it can steer a running Turn. */
export function isPlain({ attachments, mentions, views, skills }: AdmitOptions): boolean {
  return [attachments, mentions, views, skills].every((all = []) => all.length === 0)
}

/** The attachments for the next message; people see them numbered from 1. */
export class PendingAttachments {
  #waiting: readonly PendingAttachment[] = []

  get waiting(): readonly PendingAttachment[] {
    return this.#waiting
  }

  add(one: PendingAttachment): void {
    this.#waiting = [...this.#waiting, one]
  }

  /** Removes one and returns it; `undefined` if the number does not exist. */
  remove(number: number): PendingAttachment | undefined {
    const removed = this.#waiting[number - 1]
    this.#waiting = this.#waiting.filter((_, at) => at !== number - 1)
    return removed
  }

  /** Returns all and clears the list, because they are being sent. */
  take(): readonly PendingAttachment[] {
    const taken = this.#waiting
    this.#waiting = []
    return taken
  }

  /** Puts attachments that could not be sent back, before those added since. */
  giveBack(these: readonly PendingAttachment[]): void {
    this.#waiting = [...these, ...this.#waiting]
  }
}
