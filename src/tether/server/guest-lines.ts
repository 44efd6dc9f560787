import type { Writable } from 'node:stream'
import type { Clock } from '../../host/clock.ts'
import { LineWriter } from '../frames/line-writer.ts'

export interface GuestLinesParts {
  readonly socket: Writable
  readonly clock: Clock
  /** A running guest has read nothing for a long time, or too much waits for it. */
  readonly onStuck: () => void
}

/** Bytes that may wait for a running guest that does not read. */
const MOST_WAITING = 4 * 1024 * 1024
/** How long a running guest may read nothing of what was held back. */
const STUCK_MS = 30_000

/** The lines to a guest, in order. While it is paused, they wait here, so that none is lost in a socket without a reader. */
export class GuestLines {
  readonly #parts: GuestLinesParts
  readonly #writer: LineWriter
  #waiting: object[] = []
  #isHeld = false
  #isSending = false
  #cancel = () => {}

  constructor(parts: GuestLinesParts) {
    this.#parts = parts
    this.#writer = new LineWriter(parts.socket)
  }

  /** Sends a line now, or behind those that wait. */
  write(line: object): void {
    if (this.#isHeld || this.#waiting.length > 0) this.#waiting.push(line)
    else this.writeFirst(line)
  }

  /** Sends a line now, before those that wait. */
  writeFirst(line: object): void {
    this.#writer.write(line)
    if (this.#writer.waiting > MOST_WAITING) this.#parts.onStuck()
  }

  /** Resolves when the guest has read almost everything, or has gone. */
  room(): Promise<void> {
    return this.#writer.room()
  }

  /** From now on, lines wait. */
  hold(): void {
    this.#isHeld = true
    this.#cancel()
  }

  /** Sends what waits, as fast as the guest reads: it may be more than a socket should hold. */
  release(): void {
    this.#isHeld = false
    if (this.#isSending) this.#expectProgress()
    else void this.#sendWaiting()
  }

  /** The guest has gone. */
  close(): void {
    this.hold()
    this.#waiting = []
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true
    while (!this.#isHeld && this.#waiting[0] !== undefined) {
      this.writeFirst(this.#waiting[0])
      this.#expectProgress()
      await this.room()
      this.#cancel()
      this.#waiting.shift()
    }
    this.#isSending = false
  }

  #expectProgress(): void {
    this.#cancel()
    this.#cancel = this.#parts.clock.after(STUCK_MS, this.#parts.onStuck)
  }
}
