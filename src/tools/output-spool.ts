import { ok, type Result } from '../model/errors.ts'
import type { BlobKey } from '../model/ids.ts'
import type { ToolContext } from './tool.ts'

/** The maximum output of a command that is stored, so that it cannot fill the disk. */
export const SPOOL_BYTES = 64 * 1024 * 1024
/** The maximum amount of output that is queued in memory for the store. */
const WAITING_BYTES = 1024 * 1024

/** Where the output of a command is stored. */
export interface SpoolResult {
  readonly blob: BlobKey
  /** There was more than `SPOOL_BYTES`, and the rest was not stored. */
  readonly cut: boolean
}

/**
 * Streams the output of a command to the blob store, with little of it in memory. Output of up to `short` bytes is held
 * back, because it may not have to be stored.
 */
export class OutputSpool {
  readonly #queue = new ChunkQueue()
  readonly #keep: ToolContext['keep']
  readonly #short: number
  #keeping: Promise<Result<BlobKey>> | undefined
  #takenBytes = 0
  #cut = false

  constructor(keep: ToolContext['keep'], short: number) {
    this.#keep = keep
    this.#short = short
  }

  /** Resolves when there is room for more, or when the store failed, which `end` reports. */
  async push(chunk: Buffer): Promise<void> {
    const room = SPOOL_BYTES - this.#takenBytes
    const piece = chunk.subarray(0, room)
    if (piece.length < chunk.length) this.#cut = true
    this.#takenBytes += piece.length
    this.#queue.add(piece)
    if (this.#takenBytes <= this.#short) return
    this.#start()
    await this.#queue.room()
  }

  /** Call it after the last chunk. With `keep`, stores the held-back output. Returns where everything is stored. */
  async end(keep: boolean): Promise<Result<SpoolResult | undefined>> {
    if (keep) this.#start()
    this.#queue.end()
    const kept = await this.#keeping
    if (kept === undefined) return ok(undefined)
    return kept.ok ? ok({ blob: kept.value, cut: this.#cut }) : kept
  }

  #start(): void {
    this.#keeping ??= this.#keep(this.#queue.chunks(), 'text/plain').finally(() => {
      this.#queue.drop()
    })
    // `end` throws a defect of the store; until then it is not awaited.
    this.#keeping.catch(() => {})
  }
}

/** A queue of chunks between one producer and one consumer. */
class ChunkQueue {
  readonly #waiting: Buffer[] = []
  #bytes = 0
  #over = false
  #isDropped = false
  #waiters: (() => void)[] = []

  add(chunk: Buffer): void {
    if (this.#isDropped || chunk.length === 0) return
    this.#waiting.push(chunk)
    this.#bytes += chunk.length
    this.#notify()
  }

  end(): void {
    this.#over = true
    this.#notify()
  }

  /** The consumer has stopped. */
  drop(): void {
    this.#isDropped = true
    this.#waiting.length = 0
    this.#bytes = 0
    this.#notify()
  }

  async room(): Promise<void> {
    while (this.#bytes > WAITING_BYTES) await this.#change()
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = this.#waiting.shift()
      if (chunk !== undefined) {
        this.#bytes -= chunk.length
        this.#notify()
        yield chunk
      } else if (this.#over || this.#isDropped) return
      else await this.#change()
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => void this.#waiters.push(resolve))
  }

  #notify(): void {
    for (const wake of this.#waiters.splice(0)) wake()
  }
}
