import { Redactor } from '../../encoding/redaction.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { withoutCalls } from '../../history/without-calls.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import type { LogWriter } from '../../log/append.ts'
import type { Cursor, LogLine } from '../../log/line.ts'
import { acquireLog } from '../../log/open.ts'
import { openReader, type LogReader } from '../../log/reader.ts'
import { LOG_START } from '../../log/scan.ts'
import { LiveHistory } from '../../request/live-history.ts'
import { takeBack } from '../../policy/take-back.ts'
import type { Commit } from '../../turn/parts/pending-results.ts'
import { recoverTurn, type Continues } from '../../turn/recover.ts'
import { headNotice, notCovered, plainCommit, RedactedDrafts, type CommitStages } from './commit.ts'
import { RedactedEphemerals } from '../watch/redacted-ephemerals.ts'
import type { SessionParts } from './session-parts.ts'
import { rawStart, sessionFold, type SessionState } from './state.ts'
import { VouchedState } from './vouched-state.ts'
import { sessionStream, type SessionUpdate, type StreamedLog } from '../watch/session-stream.ts'
import { Watchers, type Subscription } from '../watch/subscribe.ts'

export type Writer = LogWriter<SessionState>

/**
 * This process's view of one Log, kept up to date with its own writes and, while it has watchers, with those of other
 * processes. Events are always processed in Log order.
 */
export class SessionLog {
  readonly id: SessionId
  readonly #logParts: SessionParts['log']
  readonly #watchers = new Watchers(() => this.#watch())
  readonly #redactor: Redactor
  readonly #live: RedactedEphemerals
  #history: LiveHistory
  #cursor: Cursor = LOG_START
  readonly #state = new VouchedState()
  /** Number of the first known line: the first of the raw Events, or of all. */
  #first = 0
  /** Positions of lines that a checkpoint may cut at. */
  #turnStarts = new Map<number, Pick<Cursor, 'offset' | 'prev'>>()
  /** A checkpoint was undone, so that earlier Events are needed again. */
  #incomplete = false
  /** Every line so far matches its schema. */
  #allKnown = true
  #taking: Promise<void> = Promise.resolve()
  /** The writer from the creation of the Log, kept for the next `acquire`. */
  #newWriter: Writer | undefined
  #writing: boolean
  /** The position after the last line that this process wrote. */
  #ownEnd: Cursor | undefined
  /** This process created the Log, so that nothing of it can be skipped. */
  readonly #isNew: boolean
  #closed = false
  #headReported = false
  #following: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined

  constructor(shared: SessionParts['log'], id: SessionId, held?: Writer) {
    this.id = id
    this.#logParts = shared
    this.#redactor = new Redactor(shared.secrets)
    this.#live = new RedactedEphemerals(this.#redactor, (event) => this.#watchers.publish(event))
    this.#newWriter = held
    this.#writing = held !== undefined
    this.#isNew = held !== undefined
    this.#history = new LiveHistory(shared.store)
  }

  get state(): SessionState {
    return this.#state.current
  }

  get events(): readonly WholeEvent[] {
    return this.#history.events
  }

  /** The number of the next line. */
  get nextSeq(): number {
    return this.#cursor.seq
  }

  /** The position of a line that starts a Turn, or of the next line. */
  positionOf(seq: number): Pick<Cursor, 'offset' | 'prev'> | undefined {
    return seq === this.#cursor.seq ? this.#cursor : this.#turnStarts.get(seq)
  }

  /** Reads the Events after those already known. */
  async catchUp(): Promise<Result<void>> {
    const read = await this.#read()
    if (read.ok && !this.#incomplete) return read
    if (!read.ok && read.error.kind !== 'cursor_expired') return read
    // Another writer cut lines that this process read before they were durable, or Events that an undone checkpoint had
    // replaced could not be read. Read everything again.
    this.#forget()
    return this.#read()
  }

  /** Takes the lock, reads what others wrote, and ends a crashed Turn, unless the caller `continues` it. Undo: `release`. */
  async acquire(continues?: Continues): Promise<Result<Writer>> {
    if (this.#closed) return failed('interrupted', 'The Session is closed; open it again.')
    const { place, store } = this.#logParts
    const keep = (bytes: Buffer, type: Parameters<typeof store.put>[1]) => store.put([bytes], type)
    const held = this.#newWriter
    this.#newWriter = undefined
    // This process is about to write: if it started to follow just now, it need not continue.
    this.#following?.stop.abort()
    const writer =
      held === undefined
        ? await acquireLog(place, this.id, { fold: sessionFold, keep, ownEnd: this.#ownEnd })
        : ok(held)
    if (!writer.ok) {
      this.#watch()
      return writer
    }
    await this.#unfollow()
    this.#writing = true
    const known = this.#isAt(writer.value.cursor) ? ok(undefined) : await this.catchUp()
    if (known.ok && this.#allKnown) writer.value.vouch(this.#cursor)
    // The writer read the head under the lock.
    if (known.ok && this.#isAt(writer.value.cursor)) this.#state.begin(writer.value)
    const recovered = known.ok
      ? await recoverTurn(this.events, (turn) => this.commit(writer.value, turn), continues)
      : known
    if (recovered.ok) return writer
    await this.release(writer.value)
    return recovered
  }

  async release(writer: Writer): Promise<void> {
    try {
      await this.#reportHead(writer)
    } finally {
      await writer.release().finally(() => {
        this.#ownEnd = writer.cursor
        this.#writing = false
        this.#watch()
      })
    }
  }

  /** Records Events outside the steps of a running Turn. Without a Turn they belong to none. */
  commit(writer: Writer, turn?: TurnId): Commit {
    return plainCommit(this.stages(writer, turn))
  }

  stages(writer: Writer, turn?: TurnId): CommitStages {
    return {
      // Before the Events are built, so that the Log, the model and watchers see the same.
      redact: (drafts) => {
        this.#live.endWith(drafts)
        return new RedactedDrafts(this.#redactor, drafts)
      },
      append: (drafts) => this.#append(writer, drafts.of(turn)),
    }
  }

  /**
   * Makes Events durable, then applies them here, then notifies watchers. Fails if they would widen something and the head
   * that must cover them cannot be written: they are undone then.
   */
  async #append(writer: Writer, drafts: readonly EventDraft[]): Promise<Result<void>> {
    const lines = await writer.append(drafts, 'now')
    if (!lines.ok) return lines
    const uncovered = lines.value.filter(({ seq }) => writer.isUncovered(seq))
    const covered = uncovered.length === 0
    await this.#takeInOrder(lines.value, () => covered)
    return covered ? ok(undefined) : this.#withdraw(writer, uncovered)
  }

  /** A checkpoint or surface stays while this process runs: it vouches for itself. */
  async #withdraw(writer: Writer, uncovered: readonly LogLine[]): Promise<Result<void>> {
    const claims = uncovered.flatMap(({ content }) =>
      ANSWERED.has(content.event.type) ? [content] : [],
    )
    if (claims.length === 0) return ok(undefined)
    const lines = await writer.append(takeBack(this.state, claims), 'now')
    if (!lines.ok) return lines
    await this.#takeInOrder(lines.value, () => true)
    return { ok: false, error: notCovered(this.#logParts.place) }
  }

  /** The text as a commit records it. */
  recordedText(text: string): string {
    return this.#redactor.text(text).toWellFormed()
  }

  /** Everything after the line with that number, then whatever happens. */
  stream(
    after_seq: number,
    questions: StreamedLog['questions'],
    signal?: AbortSignal,
  ): AsyncGenerator<SessionUpdate, void> {
    const log = {
      session: this.id,
      parts: this.#logParts,
      questions,
      nextSeq: () => this.#cursor.seq,
      subscribe: () => this.subscribe(),
      placeBefore: (seq: number) => this.#placeBefore(seq),
    }
    return sessionStream(log, after_seq, signal)
  }

  /** Receives everything after the current position, also from other processes, until it is closed. */
  subscribe(ended?: () => void): Subscription {
    return this.#watchers.subscribe(this.#cursor.seq - 1, ended)
  }

  publish: Watchers['publish'] = (event) => this.#live.publish(event)

  async close(): Promise<void> {
    this.#closed = true
    this.#watchers.close()
    await this.#unfollow()
    await this.#newWriter?.release()
    this.#newWriter = undefined
  }

  /**
   * Reported once, until the head is written again. The Log works without it, so a failure to record the notice is
   * ignored.
   */
  async #reportHead(writer: Writer): Promise<void> {
    const { headFailure } = writer
    if (headFailure !== undefined && !this.#headReported) {
      const notice = headNotice(headFailure, this.#logParts.place)
      await this.commit(writer)([notice])
    }
    this.#headReported = headFailure !== undefined
  }

  /** The last line is the one that this process read last. */
  #isAt({ offset, prev }: Cursor): boolean {
    return offset === this.#cursor.offset && prev === this.#cursor.prev && !this.#incomplete
  }

  async #read(): Promise<Result<void>> {
    const reader = await openReader(this.#logParts.place, this.id)
    if (!reader.ok) return reader
    try {
      if (this.#cursor.offset === 0 && !this.#isNew) await this.#skipRange(reader.value)
      const read = await reader.value.lines(this.#cursor)
      if (!read.ok) return read
      const { lines, damage } = read.value
      await this.#takeInOrder(lines, reader.value.covers)
      await this.#settle()
      return damage === undefined ? ok(undefined) : { ok: false, error: damage }
    } finally {
      await reader.value.close()
    }
  }

  /** Takes the state from the index, and starts at the tail of the checkpoint in force, if there is one. */
  async #skipRange(reader: LogReader): Promise<void> {
    const indexed = await reader.stateAt(sessionFold)
    const place = indexed.ok ? indexed.value : undefined
    if (place === undefined) return
    const tail = rawStart(place.state)
    // The position is read from a line of the Log, which may name any.
    if (tail.offset > 0 && !(await reader.holds(tail))) return
    this.#state.begin(place)
    if (tail.offset === 0) return
    this.#first = tail.seq
    this.#cursor = tail
    this.#allKnown = reader.isVouched
  }

  #forget(): void {
    this.#first = 0
    this.#turnStarts.clear()
    this.#incomplete = false
    this.#history = new LiveHistory(this.#logParts.store)
    this.#watchers.resync(-1)
    this.#cursor = LOG_START
    this.#state.forget()
    this.#allKnown = true
  }

  #takeInOrder(lines: readonly LogLine[], covers: LogReader['covers']): Promise<void> {
    this.#taking = this.#taking.then(() => this.#take(lines, covers))
    return this.#taking
  }

  #settle(): Promise<void> {
    const { place } = this.#logParts
    this.#taking = this.#taking.then(() => this.#state.settle(place, this.id, this.#cursor))
    return this.#taking
  }

  async #take(lines: readonly LogLine[], covers: LogReader['covers']): Promise<void> {
    const fresh = linesFrom(lines, this.#cursor.seq)
    const [first] = fresh
    if (first === undefined) return
    const added = await this.#history.add(fresh)
    this.#state.take(fresh, covers)
    this.#cursor = fresh.at(-1)?.next ?? this.#cursor
    this.#allKnown &&=
      added.length === fresh.length || fresh.every(({ content }) => content.isKnown)
    this.#watchers.lines(fresh, added)
    const types = new Set<string>()
    const outside = withoutCalls(this.events)
    // The newest first, because a long Session has many earlier ones.
    for (let at = outside.length - 1; at >= 0; at -= 1) {
      const event = outside[at]
      if (event === undefined || event.seq < first.seq) break
      types.add(event.type)
      const line = fresh[event.seq - first.seq]
      if (line !== undefined) this.#place(line)
    }
    if (types.has('compaction_undone')) await this.#readRange()
    if (types.has('history_compaction')) this.#trim()
  }

  #trim(): void {
    this.#first = Math.max(this.#first, this.#history.trim())
    for (const seq of this.#turnStarts.keys()) if (seq < this.#first) this.#turnStarts.delete(seq)
  }

  /** Reads the Events that an undone checkpoint had replaced. */
  async #readRange(): Promise<void> {
    const from = rawStart(this.state)
    if (from.seq >= this.#first) return
    this.#incomplete = true
    const reader = await openReader(this.#logParts.place, this.id)
    if (!reader.ok) return
    try {
      const lines: LogLine[] = []
      const end = await reader.value.forward((line) => {
        if (line.seq >= this.#cursor.seq) return false
        lines.push(line)
        return undefined
      }, from)
      if (!end.ok || lines.at(-1)?.hash !== this.#cursor.prev) return
      const history = new LiveHistory(this.#logParts.store)
      await history.add(lines)
      this.#history = history
      this.#first = from.seq
      for (const line of lines) this.#place(line)
      this.#incomplete = false
    } finally {
      await reader.value.close()
    }
  }

  /** The nearest of the known positions: starts of Turns, tails of checkpoints, and the end. */
  #placeBefore(seq: number): Cursor {
    if (seq >= this.#cursor.seq) return this.#cursor
    const tails = this.state.compactions.flatMap(({ tail }) => tail ?? [])
    const turns = [...this.#turnStarts].map(([at, place]) => ({ seq: at, ...place }))
    const before = [...tails, ...turns].filter((place) => place.seq <= seq)
    return before.reduce((best, place) => (place.seq > best.seq ? place : best), LOG_START)
  }

  #place({ seq, offset, content: { event } }: LogLine): void {
    if (event.type === 'turn_started') this.#turnStarts.set(seq, { offset, prev: event.prev })
  }

  /**
   * Follows the Log while there are watchers and this process does not write; its own writes are reported once durable.
   */
  #watch(): void {
    const shouldFollow = this.#watchers.any && !this.#writing && !this.#closed
    if (!shouldFollow) return this.#following?.stop.abort()
    if (this.#following !== undefined && !this.#following.stop.signal.aborted) return
    const stop = new AbortController()
    this.#following = { stop, ended: this.#follow(stop.signal) }
  }

  async #unfollow(): Promise<void> {
    const following = this.#following
    this.#following = undefined
    following?.stop.abort()
    await following?.ended
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const reader = await openReader(this.#logParts.place, this.id)
    if (!reader.ok) return this.#watchers.resync(this.#cursor.seq - 1)
    try {
      if (signal.aborted) return
      const { covers } = reader.value
      for await (const line of reader.value.follow(this.#cursor, signal, () => this.#settle())) {
        // Following failed, but the Log can still be read: tell watchers to read it again.
        if (!line.ok) return this.#watchers.resync(this.#cursor.seq - 1)
        await this.#takeInOrder([line.value], covers)
      }
    } finally {
      await reader.value.close()
    }
  }
}

const ANSWERED: ReadonlySet<string> = new Set(['session_settings', 'permission_decision'])

/** The lines from the number `seq` on; their numbers are consecutive. */
function linesFrom(lines: readonly LogLine[], seq: number): readonly LogLine[] {
  const known = seq - (lines[0]?.seq ?? seq)
  return known <= 0 ? lines : lines.slice(known)
}
