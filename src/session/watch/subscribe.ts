import type { LogLine } from '../../log/line.ts'
import type { EphemeralEvent, WholeEvent } from '../../model/events/event.ts'

/** An update for a watcher: a durable line, an ephemeral event, or a request to read the Log again. */
export type WatcherUpdate =
  | {
      readonly kind: 'line'
      readonly line: LogLine
      /** The Event with its long fields loaded; absent if this version does not know its type or shape. */
      readonly whole?: WholeEvent
    }
  | { readonly kind: 'ephemeral'; readonly ephemeral: EphemeralEvent }
  /** The watcher was too slow and was disconnected: read the Log after `after_seq`, then subscribe again. */
  | { readonly kind: 'resync'; readonly after_seq: number }

/** How much may be queued for one watcher before it is disconnected. */
const WAITING_BYTES = 4 * 1024 * 1024
const WAITING_EVENTS = 4096

/** One watcher. Ends after `resync`, after `close`, and when its Session closes. */
export class Subscription implements AsyncIterable<WatcherUpdate> {
  readonly #onGone: (self: Subscription) => void
  #waiting: { readonly update: WatcherUpdate; readonly bytes: number }[] = []
  #bytes = 0
  #lastSeq: number
  #ended = false
  #wake: (() => void) | undefined

  constructor(lastSeq: number, gone: (self: Subscription) => void) {
    this.#lastSeq = lastSeq
    this.#onGone = gone
  }

  /** Number of the last line that the watcher received. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Returns without waiting for the watcher. */
  push(update: WatcherUpdate, bytes: number): void {
    if (this.#ended) return
    this.#waiting.push({ update, bytes })
    this.#bytes += bytes
    if (this.#isTooMuch) this.cutOff()
    else this.#wake?.()
  }

  /** Drops the queue; the watcher must read it from the Log. */
  cutOff(after_seq = this.#lastSeq): void {
    if (this.#ended) return
    this.#waiting = [{ update: { kind: 'resync', after_seq }, bytes: 0 }]
    this.#end()
    this.#wake?.()
  }

  close(): void {
    this.#end()
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatcherUpdate, void> {
    try {
      for (;;) {
        for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
          const { update, bytes } = one
          if (update.kind === 'line') this.#lastSeq = update.line.seq
          this.#bytes -= bytes
          yield update
        }
        if (this.#ended) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.#end()
    }
  }

  /** One update is never too much, however long it is. */
  get #isTooMuch(): boolean {
    const { length } = this.#waiting
    return length > WAITING_EVENTS || (length > 1 && this.#bytes > WAITING_BYTES)
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onGone(this)
  }
}

/** All watchers of one Session in this process. */
export class Watchers {
  readonly #all = new Set<Subscription>()
  readonly #onChange: () => void
  #closed = false

  /** `changed` is called when a watcher is added or removed. */
  constructor(changed: () => void = () => {}) {
    this.#onChange = changed
  }

  get any(): boolean {
    return this.#all.size > 0
  }

  subscribe(lastSeq: number, ended: () => void = () => {}): Subscription {
    const one = new Subscription(lastSeq, (self) => {
      this.#all.delete(self)
      this.#onChange()
      ended()
    })
    this.#all.add(one)
    if (this.#closed) one.close()
    else this.#onChange()
    return one
  }

  /** `events` are those of `lines` that this version knows. */
  lines(lines: readonly LogLine[], events: readonly WholeEvent[]): void {
    if (!this.any) return
    let next = 0
    for (const line of lines)
      this.line(line, events[next]?.seq === line.seq ? events[next++] : undefined)
  }

  line(line: LogLine, whole?: WholeEvent): void {
    const bytes = line.next.offset - line.offset + longBytes(line, whole)
    const update: WatcherUpdate =
      whole === undefined ? { kind: 'line', line } : { kind: 'line', line, whole }
    for (const one of this.#all) one.push(update, bytes)
  }

  publish(ephemeral: EphemeralEvent): void {
    const bytes = ephemeralBytes(ephemeral)
    for (const one of this.#all) one.push({ kind: 'ephemeral', ephemeral }, bytes)
  }

  /** All watchers must read the Log after `after_seq` and subscribe again. */
  resync(after_seq: number): void {
    for (const one of this.#all) one.cutOff(Math.min(after_seq, one.lastSeq))
  }

  /** Ends every watcher, also one that subscribes later. */
  close(): void {
    this.#closed = true
    for (const one of this.#all) one.close()
  }
}

/** Of the fields that are not in the line; without any, the whole Event is the one of the line. */
function longBytes({ content: { event } }: LogLine, whole: WholeEvent | undefined): number {
  return whole === undefined || whole === event ? 0 : JSON.stringify(whole.data).length
}

/** Roughly. */
function ephemeralBytes({ type, data }: EphemeralEvent): number {
  if (type === 'permission_requested') return JSON.stringify(data).length * 2
  return 'text' in data ? data.text.length * 2 : 200
}
