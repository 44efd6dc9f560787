import { asResult } from '../../host/files/files.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { damageError } from '../damage.ts'
import type { Fold, StateAt } from '../derived-index.ts'
import { foreign } from '../fold-log.ts'
import { MOST_PARENTS } from '../lineage-log.ts'
import type { Cursor, LogLine } from '../line.ts'
import { beginLog, type LogBegin, type WriterOptions } from '../open.ts'
import type { LogPlace } from '../place.ts'
import { openReader, type LogReader } from '../reader.ts'

/** Where to fork a Session, and what its caller knows about the meaning of its Events. */
export interface ForkOptions<State> extends WriterOptions<State> {
  /** The number of the last Event to share. Default: the last one. */
  readonly at?: number | undefined
  /** Whether a Session can be forked where it has this state. */
  isBoundary(state: State): boolean
  /** The first Events of the child, and the state that it inherits. */
  begin(point: ForkPoint<State>, child: SessionId): ForkBegin<State>
}

export interface ForkBegin<State> {
  readonly state: State
  readonly first: readonly EventDraft[]
}

/** The position after the last shared line, with the state there. */
export interface ForkPoint<State> extends StateAt<State> {
  /** The Session that wrote that line. */
  readonly parent: SessionId
  /** The state of the parent as far as it was read. */
  readonly now: State
}

export interface ForkedLog {
  readonly session_id: SessionId
  readonly parent_session_id: SessionId
  readonly at_seq: number
  /** The number that was asked for, if the Session could not be forked there. */
  readonly asked_seq?: number
}

/**
 * Creates a Session that continues the Log of another after one of its Events, sharing all lines up to there: see ADR 36. Takes no
 * lease of the parent and changes nothing of it.
 */
export async function forkLog<State>(
  place: LogPlace,
  parent: SessionId,
  options: ForkOptions<State>,
): Promise<Result<ForkedLog>> {
  return asResult('fork the Session', async () => {
    const found = await findPoint(place, parent, options)
    if (!found.ok) return found
    const { point, last, checkedWith } = found.value
    const child = place.ids.session()
    const { state, first } = options.begin(point, child)
    const begin = { cursor: point.cursor, state, checkedWith }
    const created = await place.leases.alone(() =>
      create(place, parent, point, { child, begin, first }, options),
    )
    if (!created.ok) return created
    const at_seq = point.cursor.seq - 1
    const asked_seq = options.at ?? last
    const snapped = asked_seq === at_seq ? {} : { asked_seq }
    return ok({ session_id: child, parent_session_id: point.parent, at_seq, ...snapped })
  })
}

interface NewFork<State> {
  readonly child: SessionId
  readonly begin: LogBegin<State>
  readonly first: readonly EventDraft[]
}

/**
 * Under the lineage lock: what was read is not removed before the child names it. As long as the Session is there that was asked
 * for, so is everything that it inherits.
 */
async function create<State>(
  place: LogPlace,
  asked: SessionId,
  { parent }: ForkPoint<State>,
  { child, begin, first }: NewFork<State>,
  options: WriterOptions<State>,
): Promise<Result<void>> {
  for (const [session, orDeleted] of [
    [asked, false],
    [parent, parent !== asked],
  ] as const) {
    const still = await openReader(place, session, { orDeleted })
    if (!still.ok) return still
    await still.value.close()
  }
  const writer = await beginLog(place, child, begin, options, (own) => own.append(first))
  if (!writer.ok) return writer
  await writer.value.release()
  return ok(undefined)
}

interface FoundPoint<State> {
  readonly point: ForkPoint<State>
  /** The number of the last line that was read. */
  readonly last: number
  readonly checkedWith: string | undefined
}

/** `vouchedAt`: the place in a Session that inherits it, which vouches for everything before. */
async function findPoint<State>(
  place: LogPlace,
  session: SessionId,
  options: ForkOptions<State>,
  vouchedAt?: Cursor,
): Promise<Result<FoundPoint<State>>> {
  const isInherited = vouchedAt !== undefined
  const opened = await openReader(place, session, { orDeleted: isInherited })
  if (!opened.ok) return opened
  const reader = opened.value
  try {
    if (reader.foreign && !isInherited) return foreign(session)
    const search = await findPlace(reader, options)
    if (!search.ok) return search
    const folded = await reader.fold(options.fold)
    if (!folded.ok) return folded
    const { place: at, last } = search.value
    const now = folded.value.state
    if (options.at !== undefined && options.at > last) return noSuchEvent(session, options.at, last)
    if (at === undefined) return nowhere(session, options.at ?? last)
    const { cursor, state } = at
    if (isInherited && cursor.prev !== vouchedAt.prev)
      return damageError(session, cursor.offset, 'chain')
    const parent = reader.lineage?.ownerOf(cursor.offset - 1) ?? session
    // What is inherited is forked where it was written, so that no lineage is longer than it must be.
    if (parent !== session)
      return asAsked(
        await findPoint(place, parent, { ...options, at: cursor.seq - 1 }, cursor),
        last,
        now,
      )
    if ((reader.lineage?.length ?? 1) > MOST_PARENTS) return tooDeep(session)
    const isChecked = reader.isVouched && reader.covers(cursor.seq - 1)
    const checkedWith = isChecked ? place.schemas : undefined
    return ok({ point: { cursor, state, parent, now }, last, checkedWith })
  } finally {
    await reader.close()
  }
}

/** What counts is the Session that was named, and not the one that wrote the line. */
function asAsked<State>(
  found: Result<FoundPoint<State>>,
  last: number,
  now: State,
): Result<FoundPoint<State>> {
  if (!found.ok) return found
  return ok({ ...found.value, last, point: { ...found.value.point, now } })
}

interface Search<State> {
  readonly place: StateAt<State> | undefined
  readonly last: number
}

/** Looks after the index first, and in the whole Log if the place is before that. */
async function findPlace<State>(
  reader: LogReader,
  options: ForkOptions<State>,
): Promise<Result<Search<State>>> {
  const indexed = await reader.stateAt(options.fold)
  if (!indexed.ok) return indexed
  const start = indexed.value
  if (start !== undefined && start.cursor.seq - 1 <= (options.at ?? Infinity)) {
    const search = await searchFrom(reader, options, start)
    if (!search.ok || search.value.place !== undefined) return search
  }
  return searchFrom(reader, options)
}

/** The last boundary at or before `at` that something vouches for and that no write crosses. */
async function searchFrom<State>(
  reader: LogReader,
  options: ForkOptions<State>,
  start?: StateAt<State>,
): Promise<Result<Search<State>>> {
  const { at = Infinity } = options
  const walk = new Walk(options, start)
  const indexedTo = (start?.cursor.seq ?? 0) - 1
  const end = await reader.forward((line) => {
    if (!continuesWrite(line)) walk.confirm()
    if (line.seq > at) return false
    walk.take(line, line.seq <= indexedTo || reader.covers(line.seq))
    return undefined
  }, start?.cursor)
  if (!end.ok) return end
  const { damage, cursor } = end.value
  const last = cursor.seq - 1
  if (damage !== undefined && last < at) return { ok: false, error: damage }
  if (last <= at) walk.confirm()
  return ok({ place: walk.last, last })
}

function continuesWrite({ content: { event } }: LogLine): boolean {
  return (event.batch ?? 0) > 0
}

/** Folds lines and remembers the last place to fork at. */
class Walk<State> {
  readonly #fold: Fold<State>
  readonly #isBoundary: (state: State) => boolean
  #pending: StateAt<State> | undefined
  #isVouched = true
  #state: State
  last: StateAt<State> | undefined

  constructor(options: ForkOptions<State>, start: StateAt<State> | undefined) {
    this.#fold = options.fold
    this.#isBoundary = (state) => options.isBoundary(state)
    this.#state = start?.state ?? this.#fold.initial
    this.#pending = start !== undefined && this.#isBoundary(this.#state) ? start : undefined
  }

  take(line: LogLine, isVouched: boolean): void {
    this.#state = this.#fold.step(this.#state, line, isVouched)
    this.#isVouched &&= isVouched
    const isPlace = this.#isVouched && this.#isBoundary(this.#state)
    this.#pending = isPlace ? { cursor: line.next, state: this.#state } : undefined
  }

  /** The line before was the last of its write. */
  confirm(): void {
    this.last = this.#pending ?? this.last
  }
}

function noSuchEvent(session_id: SessionId, at: number, last: number): Failed {
  const text = `There is no Event ${at} in this Session: the last one is ${last}.`
  return failed('invalid_args', text, { session_id, at, last }, [
    { action: 'Show the Events and their numbers.', command: `hawser log show ${session_id}` },
  ])
}

function nowhere(session_id: SessionId, at: number): Failed {
  const text = `This Session cannot be forked at Event ${at}: nothing is complete up to there.`
  return failed('invalid_args', text, { session_id, at }, [
    {
      action: 'Choose a later Event, or the end of a Turn.',
      command: `hawser log show ${session_id}`,
    },
  ])
}

function tooDeep(session_id: SessionId): Failed {
  const text = `This Session continues ${MOST_PARENTS} others, one after the other, which is the most.`
  return failed('too_large', text, { session_id, limit: MOST_PARENTS }, [
    {
      action: 'Copy it into a Session that needs no other.',
      command: `hawser log salvage ${session_id}`,
    },
  ])
}
