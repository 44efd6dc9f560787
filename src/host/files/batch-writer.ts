import type { Failed, HawserError } from '../../model/errors.ts'
import { Batches, type BatchEntry, type BatchesParts } from './batches.ts'
import { DurableFile, type DurableFileParts } from './durable-file.ts'

/** `commit` writes the batch by `append`, or refuses it. */
export interface BatchWriterParts<Entry extends BatchEntry>
  extends BatchesParts<Entry>, DurableFileParts {
  /** The error of a writer that accepts no more, returned to all later callers. */
  whenStopped(error: HawserError): HawserError
}

/**
 * Appends to one file for many callers, who share one write and one sync. An entry is acknowledged when it is durable, in the
 * order of the calls.
 *
 * A failed write is rolled back, its entries and those queued after it are refused, and the next one may succeed. A failed
 * sync stops the writer permanently: the state of the disk is unknown.
 */
export class BatchWriter<Entry extends BatchEntry> {
  readonly #batches: Batches<Entry>
  readonly #file: DurableFile
  readonly #parts: BatchWriterParts<Entry>
  #stopError: Failed | undefined

  constructor(parts: BatchWriterParts<Entry>) {
    this.#parts = parts
    const commit: BatchesParts<Entry>['commit'] = async (batch) =>
      this.#stopError ?? parts.commit(batch)
    this.#batches = new Batches({ ...parts, commit })
    this.#file = new DurableFile(parts)
  }

  get hasStopped(): boolean {
    return this.#stopError !== undefined || this.#batches.hasDefect
  }

  /** See `Batches`. */
  add(entry: Entry): void {
    this.#batches.add(entry)
  }

  remove(entry: Entry): void {
    this.#batches.remove(entry)
  }

  wake(): void {
    this.#batches.wake()
  }

  drain(): Promise<void> {
    return this.#batches.drain()
  }

  /** Refuses everything from now on. */
  stop(error: HawserError): Failed {
    this.#stopError = { ok: false, error: this.#parts.whenStopped(error) }
    return this.#stopError
  }

  /** Makes the bytes durable at the end of the file, or rolls it back. Only for `commit`. */
  async append(bytes: Buffer): Promise<Failed | undefined> {
    const failure = await this.#file.append(bytes)
    if (failure === undefined) return undefined
    const { error, stop } = failure
    const stopped = stop && this.stop(stop)
    return stopped !== undefined && stop === error ? stopped : { ok: false, error }
  }
}
