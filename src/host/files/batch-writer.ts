import { failed, type Failed, type HawserError, type Result } from '../../model/errors.ts'
import { fileFailure, ifPossible, writeAll, type File } from './files.ts'

/** What waits for its write. */
export interface BatchEntry {
  /** Its bytes in the file, or a bound of them. Undefined while it is prepared: then those after it wait too. */
  bytes: number | undefined
  /** With `soon`, the write of an urgent entry starts now, and others wait for one. */
  readonly urgent?: boolean
  /** Resolves when it has its bytes or was removed. */
  readonly preparing?: Promise<void>
  settle(refusal: Failed): void
  abort(defect: unknown): void
}

export interface BatchWriterParts<Entry extends BatchEntry> {
  /** What the file is called in messages. */
  readonly name: string
  /** The details of the error that another program changed the file. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Open for append; it ends exactly at `end`. */
  readonly file: File
  readonly end: number
  /** The most bytes of one write, and so of what a crash can tear. One larger entry is written alone. */
  readonly batchBytes: number
  /**
   * Writes the batch by `append`, or refuses it. Returns a function that reports to the callers, which runs after the next
   * write has started.
   */
  commit(batch: readonly Entry[]): Promise<Result<() => void>>
  /** Calls `start` within the time that entries that are not urgent may wait; returns how to cancel it. Without it, none wait. */
  readonly soon?: (start: () => void) => () => void
  /** Takes entries from the front of the queue that need no write. Called when nothing is being written. */
  takeUnwritten?(queue: Entry[]): void
  /** Called for each entry before it learns that it was refused. */
  refused?(entry: Entry): void
  /** Whether this process is still the only writer, checked beside each sync. */
  isHeld?(): Promise<boolean>
  /** What else must be durable before a write is acknowledged. */
  synced?(): Promise<void>
  /** The error of a writer that accepts no more, returned to all later callers. */
  whenStopped(error: HawserError): HawserError
  /** Said when the writer failed by a defect. */
  readonly defect: string
}

/**
 * Appends to one file for many callers, who share one write and one sync. An entry is acknowledged when it is durable, in the
 * order of the calls.
 *
 * A failed write is rolled back, its entries and those queued after it are refused, and the next one may succeed. A failed
 * sync stops the writer permanently: the state of the disk is unknown.
 */
export class BatchWriter<Entry extends BatchEntry> {
  readonly #parts: BatchWriterParts<Entry>
  #file: File
  #end: number
  #queue: Entry[] = []
  #running: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #gathering = false
  #stopped: Failed | undefined

  constructor(parts: BatchWriterParts<Entry>) {
    this.#parts = parts
    this.#file = parts.file
    this.#end = parts.end
  }

  get hasStopped(): boolean {
    return this.#stopped !== undefined
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

  /** Makes the bytes durable at the end of the file, or rolls it back. Only for `commit`. */
  async append(bytes: Buffer): Promise<Failed | undefined> {
    const { name, details } = this.#parts
    const file = this.#file
    try {
      await writeAll(file, bytes)
    } catch (error) {
      const failure = fileFailure(error, `write to the ${name}`)
      await file.truncate(this.#end).catch((worse: unknown) => {
        this.stop(fileFailure(worse, 'roll back a failed write'))
      })
      return { ok: false, error: failure }
    }
    try {
      const end = this.#end + bytes.length
      const [isIntact] = await Promise.all([this.#isIntact(end), file.datasync()])
      if (!isIntact) {
        const text = `Another program deleted or changed the ${name} while it was being written.`
        return this.stop(failed('storage_failed', text, details).error)
      }
      await this.#parts.synced?.()
      this.#end = end
      return undefined
    } catch (error) {
      const stopped = this.stop(fileFailure(error, `make the ${name} durable`))
      // Not a retry: refused entries must not reappear as if accepted.
      await ifPossible(file.truncate(this.#end))
      return stopped
    }
  }

  /** Continues in another file. Only for `commit`. */
  continueIn(file: File, end: number): void {
    this.#file = file
    this.#end = end
  }

  /** Refuses everything from now on. */
  stop(error: HawserError): Failed {
    this.#stopped = { ok: false, error: this.#parts.whenStopped(error) }
    return this.#stopped
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
      const committed = this.#stopped ?? (await this.#parts.commit(batch))
      return committed.ok ? committed.value : this.#refuse(batch, committed)
    } catch (defect) {
      this.#stopped ??= failed('internal', this.#parts.defect)
      return () => batch.forEach((entry) => entry.abort(defect))
    }
  }

  /** Refuses the batch and everything after it: an entry must not overtake an earlier one. */
  #refuse(batch: readonly Entry[], refusal: Failed): () => void {
    const all = [...batch, ...this.#queue.splice(0)]
    for (const entry of all) this.#parts.refused?.(entry)
    return () => all.forEach((entry) => entry.settle(refusal))
  }

  /** Whether the file is there and has this size, and this process may write it: if not, nothing can be guaranteed. */
  async #isIntact(expected: number): Promise<boolean> {
    const [{ links, size }, held = true] = await Promise.all([
      this.#file.stat(),
      this.#parts.isHeld?.(),
    ])
    return links > 0 && size === expected && held
  }
}
