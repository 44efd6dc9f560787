import { FileFailure, fileFailure, ifPossible, writeAll, type File } from '../host/files/files.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import { durabilityOf, type EventDraft, type EventEnvelope } from '../model/events/event.ts'
import type { SessionId } from '../model/ids.ts'
import { writeIndex, type Fold, type Snapshot } from './derived-index.ts'
import { headOf } from './head-record.ts'
import { writeHead } from './head.ts'
import { prepare, restored, sealedLine, type Preparation, type PreparedEvent } from './draft.ts'
import type { Lease } from './lease.ts'
import type { Cursor, LogLine } from './line.ts'
import { noteWritten } from './order.ts'
import type { LogPlace } from './place.ts'
import { BATCH_BYTES } from './repair.ts'
import type { KeepBlob } from './spill.ts'

/** The parts of a writer. `file` is open for append and ends exactly at `start.cursor`. */
export interface WriterParts<State> {
  readonly place: LogPlace
  readonly session: SessionId
  readonly file: File
  readonly lease: Lease
  readonly fold: Fold<State>
  readonly start: Snapshot<State>
  readonly keep: KeepBlob
  /** The Log's name is not durable in its folder yet. */
  readonly isNew: boolean
  /** The end of the index on disk in bytes; 0 when there is no usable one. */
  readonly indexedTo: number
}

/** A pending call of `append`. */
interface PendingAppend {
  readonly urgent: boolean
  preparing: Promise<void>
  prepared?: readonly PreparedEvent[]
  bytes: number
  settle(result: Result<readonly LogLine[]>): void
  abort(defect: unknown): void
}

/** The maximum time before the write of deferrable Events starts. */
const SOON_MS = 20
/** The index is rewritten after this many bytes, which limits what the next opening reads. */
const INDEX_EVERY_BYTES = 8 * 1024 * 1024

/**
 * The only writer of a Log. Many appends share one write and one sync. An append is acknowledged, by its result, when it is
 * durable; either all of its Events are durable or none are. Acknowledgements follow the order of the calls.
 *
 * A failed write is rolled back, its Events and those queued after it are refused, and the next append may succeed. A
 * failed sync stops this writer permanently: the state of the disk is unknown.
 */
export class LogWriter<State> {
  readonly session: SessionId
  readonly #parts: WriterParts<State>
  #cursor: Cursor
  #state: State
  #queue: PendingAppend[] = []
  #running: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #stopped: HawserError | undefined
  #released = false
  #gathering = false
  #folderUnsynced: boolean
  #headFailure: HawserError | undefined
  #indexedTo: number
  /** Every line so far matches its schema. */
  #checked: boolean

  constructor(parts: WriterParts<State>) {
    this.#parts = parts
    this.session = parts.session
    this.#cursor = parts.start.cursor
    this.#state = parts.start.state
    this.#folderUnsynced = parts.isNew
    this.#indexedTo = parts.indexedTo
    this.#checked = parts.isNew
  }

  /** The fold of everything durable. */
  get state(): State {
    return this.#state
  }

  /** The position after the last durable line. */
  get cursor(): Cursor {
    return this.#cursor
  }

  /** Why the head could not be written. No data is lost, but a truncation of the Log would go unnoticed. */
  get headFailure(): HawserError | undefined {
    return this.#headFailure
  }

  /** Call this after reading every line up to `cursor` and finding that each matches its schema; the next heads record it. */
  vouch({ offset, prev }: Cursor): void {
    this.#checked ||= offset === this.#cursor.offset && prev === this.#cursor.prev
  }

  /** `now` writes immediately; otherwise deferrable Events wait for the next urgent one, up to a time limit. */
  append(
    drafts: readonly EventDraft[],
    when: 'now' | 'by_type' = 'by_type',
  ): Promise<Result<readonly LogLine[]>> {
    const { place, session, keep } = this.#parts
    const urgent = when === 'now' || drafts.some((draft) => durabilityOf(draft) === 'now')
    return this.#enqueue(urgent, () => prepare(place, session, drafts, keep))
  }

  /** Appends Events of another Log with their own ids and times; their numbers and chain become those of this Log. */
  restore(events: readonly EventEnvelope[]): Promise<Result<readonly LogLine[]>> {
    return this.#enqueue(true, () => ok(events.map((event) => restored(this.session, event))))
  }

  /** Waits for all pending appends, writes the index, and releases the Log to the next writer. */
  async release(): Promise<void> {
    const { file, lease } = this.#parts
    try {
      await this.#drain()
      this.#released = true
      if (this.#stopped === undefined) {
        await this.#keepHead([])
        await this.#keepIndex()
        await noteWritten(this.#parts.place, this.session)
      }
    } finally {
      await ifPossible(file.close())
      await lease.release()
    }
  }

  #enqueue(urgent: boolean, preparing: () => Preparation): Promise<Result<readonly LogLine[]>> {
    if (this.#released) throw new Error('this Log was released to the next writer')
    return new Promise((settle, abort) => {
      const pending: PendingAppend = {
        urgent,
        bytes: 0,
        settle,
        abort,
        preparing: Promise.resolve(),
      }
      // Queued now, so that later Events do not overtake one that waits for blobs.
      this.#queue.push(pending)
      pending.preparing = this.#prepare(pending, preparing).catch((defect: unknown) => {
        this.#leave(pending)
        abort(defect instanceof Error ? defect : new Error(String(defect)))
      })
    })
  }

  async #prepare(pending: PendingAppend, preparing: () => Preparation): Promise<void> {
    const preparation = preparing()
    // Does not await a ready result: otherwise the first of many appends would be committed alone.
    const prepared = preparation instanceof Promise ? await preparation : preparation
    const bytes = prepared.ok ? prepared.value.reduce((sum, one) => sum + one.bytes, 0) : 0
    const answer = bytes > BATCH_BYTES ? failed('too_large', TOO_MUCH, { bytes }) : prepared
    if (!answer.ok) {
      this.#leave(pending)
      return pending.settle(answer)
    }
    pending.bytes = bytes
    pending.prepared = answer.value
    this.#wake()
  }

  /** Starts a commit now for urgent Events, soon for others. One commit runs at a time. */
  #wake(): void {
    if (this.#running !== undefined || this.#queue[0]?.prepared === undefined) return
    if (this.#queue.some((pending) => pending.urgent)) return this.#runSoon()
    this.#cancelTimer ??= this.#parts.place.clock.after(SOON_MS, () => this.#run())
  }

  /** Runs after all appends of the current tick, which then share one write. */
  #runSoon(): void {
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
    if (this.#running !== undefined) return
    this.#running = this.#commit(this.#takeBatch()).then((announce) => {
      this.#running = undefined
      // Starts the next write before the callers resume and use the processor.
      this.#wake()
      announce()
    })
  }

  /**
   * The ready part of the queue, limited by bytes only: a batch stays in memory until it is durable, and repair accepts at
   * most this size for a torn tail.
   */
  #takeBatch(): PendingAppend[] {
    let bytes = 0
    let count = 0
    for (const pending of this.#queue) {
      bytes += pending.bytes
      if (pending.prepared === undefined || (count > 0 && bytes > BATCH_BYTES)) break
      count += 1
    }
    return this.#queue.splice(0, count)
  }

  /** Makes the batch durable. Returns a function that reports the outcome to the callers. */
  async #commit(batch: readonly PendingAppend[]): Promise<() => void> {
    try {
      if (this.#stopped !== undefined) return this.#refuse(batch, this.#stopped)
      const { groups, bytes, cursor } = this.#seal(batch)
      const failure = await this.#store(bytes)
      if (failure !== undefined) return this.#refuse(batch, failure)
      this.#cursor = cursor
      const lines = groups.flat()
      this.#checked &&= lines.every(({ logged }) => logged.known)
      this.#state = lines.reduce((state, line) => this.#parts.fold.step(state, line), this.#state)
      await this.#keepHead(lines)
      if (cursor.offset - this.#indexedTo > INDEX_EVERY_BYTES) await this.#keepIndex()
      return () => batch.forEach((pending, i) => pending.settle(ok(groups[i] ?? [])))
    } catch (defect) {
      this.#stopped ??= failed(
        'internal',
        'The writer of this Log failed with an internal error.',
      ).error
      return () => batch.forEach((pending) => pending.abort(defect))
    }
  }

  /** Gives every Event of the batch its place in the chain. */
  #seal(batch: readonly PendingAppend[]): { groups: LogLine[][]; bytes: Buffer; cursor: Cursor } {
    let cursor = this.#cursor
    let place = 0
    const pieces: Buffer[] = []
    const groups = batch.map(({ prepared = [] }) =>
      prepared.map((one) => {
        const { line, bytes } = sealedLine(one, cursor, place)
        pieces.push(bytes)
        cursor = line.next
        place += 1
        return line
      }),
    )
    return { groups, bytes: Buffer.concat(pieces), cursor }
  }

  /** Writes and syncs all bytes, or rolls the Log back. */
  async #store(bytes: Buffer): Promise<HawserError | undefined> {
    const { file, place } = this.#parts
    try {
      await writeAll(file, bytes)
    } catch (error) {
      const failure = fileFailure(error, 'write to the Log')
      await file.truncate(this.#cursor.offset).catch((worse: unknown) => {
        this.#stopped = stoppedBy(fileFailure(worse, 'roll back a failed write'))
      })
      return failure
    }
    try {
      const [displaced] = await Promise.all([
        this.#displaced(this.#cursor.offset + bytes.length),
        file.datasync(),
      ])
      if (displaced !== undefined) return (this.#stopped = displaced)
      if (this.#folderUnsynced) await place.sessions.sync()
      this.#folderUnsynced = false
      return undefined
    } catch (error) {
      this.#stopped = stoppedBy(fileFailure(error, 'make the Log durable'))
      // Not a retry: refused Events must not reappear as if accepted.
      await ifPossible(file.truncate(this.#cursor.offset))
      return this.#stopped
    }
  }

  /** The error if another program deleted or changed the Log or deleted its lease: then this writer can guarantee nothing. */
  async #displaced(expected: number): Promise<HawserError | undefined> {
    const { file, lease, session } = this.#parts
    const [{ links, size }, held] = await Promise.all([file.stat(), lease.holds()])
    if (links > 0 && size === expected && held) return undefined
    const text = 'Another program deleted or changed the Log while it was being written.'
    return stoppedBy(failed('storage_failed', text, { session_id: session }).error)
  }

  /** Writes the head after the end of a Turn and after an Event outside a Turn. A missed head is retried; it is late, never wrong. */
  async #keepHead(lines: readonly LogLine[]): Promise<void> {
    const due = lines.some(({ logged: { event } }) => event.type === 'turn_ended' || !event.turn_id)
    if (!due && this.#headFailure === undefined) return
    const { place, session } = this.#parts
    try {
      const checkedWith = this.#checked ? place.schemas : undefined
      await writeHead(place, session, headOf(this.#cursor, checkedWith))
      this.#headFailure = undefined
    } catch (error) {
      this.#headFailure = fileFailure(error, 'update the head of the Log')
    }
  }

  async #keepIndex(): Promise<void> {
    const { place, session, fold } = this.#parts
    if (this.#indexedTo === this.#cursor.offset) return
    try {
      await writeIndex(place, session, fold, { cursor: this.#cursor, state: this.#state })
    } catch (error) {
      // The index is derived: without it, the next opening only has to read more.
      if (!(error instanceof FileFailure)) throw error
    }
    this.#indexedTo = this.#cursor.offset
  }

  /** Refuses the batch and everything after it: an Event must not overtake an earlier one. */
  #refuse(batch: readonly PendingAppend[], error: HawserError): () => void {
    const refused = [...batch, ...this.#queue.splice(0)]
    return () => refused.forEach((pending) => pending.settle({ ok: false, error }))
  }

  #leave(pending: PendingAppend): void {
    this.#queue = this.#queue.filter((other) => other !== pending)
    this.#wake()
  }

  async #drain(): Promise<void> {
    for (let front = this.#queue[0]; front !== undefined || this.#running !== undefined;) {
      if (this.#running === undefined && front?.prepared !== undefined) this.#run()
      await (this.#running ?? front?.preparing)
      front = this.#queue[0]
    }
  }
}

const TOO_MUCH = 'The append exceeds the maximum size of one write to the Log.'

function stoppedBy(error: HawserError): HawserError {
  return {
    ...error,
    message: `${error.message} The Log accepts no more writes until it is reopened.`,
    next_actions: [{ action: 'Check the disk, then continue the Session.' }],
  }
}
