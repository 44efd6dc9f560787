import { failed, type Failed, type Result } from '../../model/errors.ts'

/** What waits for its write. */
export interface BatchEntry {
  /** Its bytes in the write, or a bound of them. Undefined while it is prepared: then those after it wait too. */
  bytes: number | undefined
  /** With `soon`, the write of an urgent entry starts now, and others wait for one. */
  readonly urgent?: boolean
  /** Resolves when it has its bytes or was removed. */
  readonly preparing?: Promise<void>
  settle(refusal: Failed): void
  abort(defect: unknown): void
}

export interface BatchesParts<Entry extends BatchEntry> {
  /** The most bytes of one write, and so of what a crash can tear. One larger entry is written alone. */
  readonly batchBytes: number
  /**
   * Makes the batch durable, or refuses it. Returns a function that reports to the callers, which runs after the next write has
   * started.
   */
  commit(batch: readonly Entry[]): Promise<Result<() => void>>
  /** Calls `start` within the time that entries that are not urgent may wait; returns how to cancel it. Without it, none wait. */
  readonly soon?: (start: () => void) => () => void
  /** Takes entries from the front of the queue that need no write. Called when nothing is being written. */
  takeUnwritten?(queue: Entry[]): void
  /** Called for each entry before it learns that it was refused. */
  onRefused?(entry: Entry): void
  /** The error of all later callers after a defect. */
  readonly defect: string
}

/**
 * Gathers the entries of many callers into batches, one commit at a time. An entry is acknowledged when its commit is done, in
 * the order of the calls. If a commit is refused, so are the entries that were queued after it, and the next one may succeed.
 */
export class Batches<Entry extends BatchEntry> {
  readonly #parts: BatchesParts<Entry>
  #queue: Entry[] = []
  #running: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #gathering = false
  #defect: Failed | undefined

  constructor(parts: BatchesParts<Entry>) {
    this.#parts = parts
  }

  /** A commit failed by a defect, so that everything is refused. */
  get hasDefect(): boolean {
    return this.#defect !== undefined
  }

  /** Queues the entry; it keeps its place while it is prepared. */
  add(entry: Entry): void {
    this.#queue.push(entry)
    if (entry.bytes !== undefined) this.wake()
  }

  /** Removes an entry that will not be written. */
  remove(entry: Entry): void {
    this.#queue = this.#queue.filter((other) => other !== entry)
    this.wake()
  }

  /** Starts a commit if the first entry is ready: now if one is urgent, else soon. One commit runs at a time. */
  wake(): void {
    if (this.#running !== undefined) return
    this.#parts.takeUnwritten?.(this.#queue)
    if (this.#queue[0]?.bytes === undefined) return
    const { soon } = this.#parts
    if (soon === undefined || this.#queue.some(({ urgent }) => urgent)) return this.#runAfterTick()
    this.#cancelTimer ??= soon(() => this.#run())
  }

  /** Waits for everything that was added. */
  async drain(): Promise<void> {
    for (let front = this.#queue[0]; front !== undefined || this.#running !== undefined;) {
      this.#run()
      await (this.#running ?? front?.preparing)
      front = this.#queue[0]
    }
  }

  /** Runs after all calls of the current tick, which then share one write. */
  #runAfterTick(): void {
    if (this.#gathering) return
    this.#gathering = true
    queueMicrotask(() => {
      this.#gathering = false
      this.#run()
    })
  }

  #run(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#running !== undefined || this.#queue[0]?.bytes === undefined) return
    this.#running = this.#commit(this.#takeBatch()).then((announce) => {
      this.#running = undefined
      // Starts the next write before the callers resume and use the processor.
      this.wake()
      announce()
    })
  }

  /** The ready part of the queue, limited by bytes only: a batch stays in memory until it is durable. */
  #takeBatch(): Entry[] {
    let sum = 0
    const over = this.#queue.findIndex(({ bytes }, i) => {
      sum += bytes ?? 0
      return bytes === undefined || (i > 0 && sum > this.#parts.batchBytes)
    })
    return this.#queue.splice(0, over === -1 ? this.#queue.length : over)
  }

  async #commit(batch: readonly Entry[]): Promise<() => void> {
    try {
      const committed = this.#defect ?? (await this.#parts.commit(batch))
      return committed.ok ? committed.value : this.#refuse(batch, committed)
    } catch (defect) {
      this.#defect ??= failed('internal', this.#parts.defect)
      return () => batch.forEach((entry) => entry.abort(defect))
    }
  }

  /** Refuses the batch and everything after it: an entry must not overtake an earlier one. */
  #refuse(batch: readonly Entry[], refusal: Failed): () => void {
    const all = [...batch, ...this.#queue.splice(0)]
    for (const entry of all) this.#parts.onRefused?.(entry)
    return () => all.forEach((entry) => entry.settle(refusal))
  }
}
