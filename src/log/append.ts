import { Batches, type BatchEntry } from '../host/files/batches.ts'
import type { AppendFailure } from '../host/files/durable-file.ts'
import { FileFailure, fileFailure, ifPossible } from '../host/files/files.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../model/errors.ts'
import { durabilityOf, type EventDraft, type EventEnvelope } from '../model/events/event.ts'
import { canWiden } from '../model/events/widening.ts'
import type { SessionId } from '../model/ids.ts'
import { writeIndex, type Fold, type StateAt } from './derived-index.ts'
import { headOf } from './head-record.ts'
import { prepare, restoreEvent, sealedLine, type Preparation, type PreparedEvent } from './draft.ts'
import type { Lease } from './lease-store.ts'
import type { Cursor, LogLine } from './line.ts'
import type { WritableLog } from './log-store.ts'
import type { LogPlace } from './place.ts'
import { BATCH_BYTES } from './repair.ts'
import type { KeepBlob } from './spill.ts'

/** The parts of a writer. `file` ends exactly at `start.cursor`. */
export interface WriterParts<State> {
  readonly place: LogPlace
  readonly session: SessionId
  readonly file: WritableLog
  readonly lease: Lease
  readonly fold: Fold<State>
  readonly start: StateAt<State>
  readonly keep: KeepBlob
  /** Every line so far matches its schema. */
  readonly isChecked: boolean
  /** The end of the index on disk in bytes; 0 when there is no usable one. */
  readonly indexedTo: number
}

/** A pending call of `append`. */
interface PendingAppend extends BatchEntry {
  preparing: Promise<void>
  events: readonly PreparedEvent[]
  settle(result: Result<readonly LogLine[]>): void
}

/** The maximum time before the write of deferrable Events starts. */
const SOON_MS = 20
/** The index is rewritten after this many bytes, which limits what the next opening reads. */
const INDEX_EVERY_BYTES = 8 * 1024 * 1024

/**
 * The only writer of a Log: many callers share one write. An append is acknowledged, by its result, when it is durable;
 * either all of its Events are durable or none are. A failed write is rolled back, and the next one may succeed. When the
 * state of the Log is unknown, the writer stops permanently.
 */
export class LogWriter<State> {
  readonly session: SessionId
  readonly #parts: WriterParts<State>
  #cursor: Cursor
  #state: State
  readonly #batches: Batches<PendingAppend>
  #stopError: Failed | undefined
  #isReleased = false
  #headFailure: HawserError | undefined
  readonly #beyondHead = new Set<number>()
  #indexedTo: number
  /** Every line so far matches its schema. */
  #isChecked: boolean

  constructor(parts: WriterParts<State>) {
    this.#parts = parts
    this.session = parts.session
    this.#cursor = parts.start.cursor
    this.#state = parts.start.state
    this.#indexedTo = parts.indexedTo
    this.#isChecked = parts.isChecked
    this.#batches = new Batches({
      batchBytes: BATCH_BYTES,
      commit: (batch) => this.#writeBatch(batch),
      soon: (start) => parts.place.clock.after(SOON_MS, start),
      defect: 'The writer of this Log failed with an internal error.',
    })
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

  /**
   * Whether this line would widen something, but the head that should cover it could not be written. It is durable and not in
   * force; undo it.
   */
  isUncovered(seq: number): boolean {
    return this.#beyondHead.has(seq)
  }

  /** Call this after reading every line up to `cursor` and finding that each matches its schema; the next heads record it. */
  vouch({ offset, prev }: Cursor): void {
    this.#isChecked ||= offset === this.#cursor.offset && prev === this.#cursor.prev
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
    return this.#enqueue(true, () => ok(events.map((event) => restoreEvent(this.session, event))))
  }

  /** Waits for all pending appends, writes the index, and releases the Log to the next writer. */
  async release(): Promise<void> {
    const { file, lease } = this.#parts
    try {
      await this.#batches.drain()
      this.#isReleased = true
      if (this.#stopError === undefined && !this.#batches.hasDefect) {
        await this.#keepHead([])
        await this.#keepIndex()
        await this.#parts.place.heads.noteWritten(this.session)
      }
    } finally {
      await ifPossible(file.close())
      await lease.release()
    }
  }

  #enqueue(urgent: boolean, preparing: () => Preparation): Promise<Result<readonly LogLine[]>> {
    if (this.#isReleased) throw new Error('this Log was released to the next writer')
    return new Promise((settle, abort) => {
      const pending: PendingAppend = {
        urgent,
        bytes: undefined,
        events: [],
        settle,
        abort,
        preparing: Promise.resolve(),
      }
      // Queued now, so that later Events do not overtake one that waits for blobs.
      this.#batches.add(pending)
      pending.preparing = this.#prepare(pending, preparing).catch((defect: unknown) => {
        this.#batches.remove(pending)
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
      this.#batches.remove(pending)
      return pending.settle(answer)
    }
    pending.events = answer.value
    pending.bytes = bytes
    this.#batches.wake()
  }

  async #writeBatch(batch: readonly PendingAppend[]): Promise<Result<() => void>> {
    if (this.#stopError !== undefined) return this.#stopError
    const { groups, bytes, cursor } = this.#seal(batch)
    const failure = await this.#parts.file.append(bytes, this.#cursor.offset)
    if (failure !== undefined) return this.#refusal(failure)
    this.#cursor = cursor
    const lines = groups.flat()
    this.#isChecked &&= lines.every(({ content }) => content.isKnown)
    const covered = await this.#keepHead(lines)
    for (const line of lines) this.#fold(line, covered)
    if (cursor.offset - this.#indexedTo > INDEX_EVERY_BYTES) await this.#keepIndex()
    return ok(() => batch.forEach((pending, i) => pending.settle(ok(groups[i] ?? []))))
  }

  #fold(line: LogLine, covered: boolean): void {
    this.#state = this.#parts.fold.step(this.#state, line, covered)
    if (!covered && canWiden(line.content)) this.#beyondHead.add(line.seq)
  }

  /** Gives every Event of the batch its place in the chain. */
  #seal(batch: readonly PendingAppend[]): { groups: LogLine[][]; bytes: Buffer; cursor: Cursor } {
    let cursor = this.#cursor
    let place = 0
    const pieces: Buffer[] = []
    const groups = batch.map(({ events: prepared }) =>
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

  #refusal({ error, stop }: AppendFailure): Failed {
    if (stop === undefined) return { ok: false, error }
    this.#stopError = { ok: false, error: stoppedBy(stop) }
    return stop === error ? this.#stopError : { ok: false, error }
  }

  /**
   * Writes the head after the end of a Turn, after an Event outside a Turn, and after one that can widen something. A missed
   * head is retried; it is late, never wrong. Returns false if it could not be written.
   */
  async #keepHead(lines: readonly LogLine[]): Promise<boolean> {
    const due = lines.some(isHeadDue)
    if (!due && this.#headFailure === undefined) return true
    const { place, session } = this.#parts
    try {
      const checkedWith = this.#isChecked ? place.schemas : undefined
      await place.heads.write(session, headOf(this.#cursor, checkedWith))
      this.#headFailure = undefined
      return true
    } catch (error) {
      this.#headFailure = fileFailure(error, 'update the head of the Log')
      return false
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
}

function isHeadDue({ content }: LogLine): boolean {
  const { event } = content
  return event.type === 'turn_ended' || !event.turn_id || canWiden(content)
}

const TOO_MUCH = 'The append exceeds the maximum size of one write to the Log.'

function stoppedBy(error: HawserError): HawserError {
  return {
    ...error,
    message: `${error.message} The Log accepts no more writes until it is reopened.`,
    next_actions: [{ action: 'Check the disk, then continue the Session.' }],
  }
}
