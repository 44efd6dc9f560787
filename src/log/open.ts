import { asResult, ifPossible } from '../host/files/files.ts'
import { ok, type Failed, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { canWiden } from '../model/events/widening.ts'
import type { SessionId } from '../model/ids.ts'
import { LogWriter, type WriterParts } from './append.ts'
import { cursorHolds } from './backward.ts'
import { damageError } from './damage.ts'
import type { Fold, StateAt } from './derived-index.ts'
import { foldLog, foreign, notFound, type FoldedLog } from './fold-log.ts'
import { HEAD_BEFORE_FIRST, type HeadRecord } from './head-record.ts'
import type { Lease } from './lease-store.ts'
import type { Cursor, LogLine } from './line.ts'
import { newFork, openLineageToWrite } from './lineage-log.ts'
import type { ReadableLog, WritableLog } from './log-store.ts'
import type { LogPlace } from './place.ts'
import { findTornTail, headFault } from './repair.ts'
import { LOG_START, scan } from './scan.ts'
import type { KeepBlob } from './spill.ts'
import { isAbsent, removeLog } from './unbegun.ts'

/** The parts of a writer that the caller provides: where blobs are stored, and the fold. */
export interface WriterOptions<State> {
  readonly fold: Fold<State>
  readonly keep: KeepBlob
  /** The position after the last line that this process wrote: it vouches for the lines before, whatever the head covers. */
  readonly ownEnd?: Cursor | undefined
}

/** Creates a Log with its first Events: `session_started`, or `session_fork`, which continues the parent's chain. */
export async function createLog<State>(
  place: LogPlace,
  session: SessionId,
  first: readonly EventDraft[],
  options: WriterOptions<State>,
): Promise<Result<LogWriter<State>>> {
  const start = { cursor: startOf(first), state: options.fold.initial }
  return beginLog(place, session, start, options, (writer) => writer.append(first))
}

/** Where a Log begins: at the start of a chain, or after the line that a fork shares, with the state up to there. */
export interface LogBegin<State> extends StateAt<State> {
  /** The schemas that every inherited line matches; see `LogPlace.schemas`. */
  readonly checkedWith?: string | undefined
}

/**
 * Creates the file of the Log and writes the Events that `first` appends. The head exists before the first byte of the Log,
 * so that our Logs are never considered foreign. It is written only if the file is new, so that no other Log loses its head.
 */
export async function beginLog<State>(
  place: LogPlace,
  session: SessionId,
  { checkedWith, ...start }: LogBegin<State>,
  { fold, keep }: WriterOptions<State>,
  first: (writer: LogWriter<State>) => Promise<Result<unknown>>,
): Promise<Result<LogWriter<State>>> {
  return asResult('create the Log', () =>
    underLease(place, session, async (lease) => {
      const created = await place.logs.create(session, lease)
      const isFork = start.cursor.offset > 0
      const file = isFork ? newFork(created, session, start.cursor) : created
      const undo = async () => {
        await ifPossible(file.close())
        await removeLog(place, session, lease)
      }
      // A partial Session would look complete.
      return unlessOk(async () => {
        await place.heads.write(session, HEAD_BEFORE_FIRST)
        const isChecked = !isFork || (checkedWith !== undefined && checkedWith === place.schemas)
        const parts = { place, session, file, lease, fold, keep, start, isChecked, indexedTo: 0 }
        const writer = new LogWriter(parts)
        const begun = await first(writer)
        if (!begun.ok) return begun
        // A first line that the head does not cover is not in force as it was written.
        if (writer.headFailure !== undefined) return { ok: false, error: writer.headFailure }
        await place.heads.noteWritten(session)
        return ok(writer)
      }, undo)
    }),
  )
}

/**
 * Acquires an existing Log for writing: locks it, reads the lines after the index, repairs a torn tail, and records both.
 * Refuses without changing anything when the Log is in use (`session_busy`), foreign or damaged.
 */
export async function acquireLog<State>(
  place: LogPlace,
  session: SessionId,
  { fold, keep, ownEnd }: WriterOptions<State>,
): Promise<Result<LogWriter<State>>> {
  return asResult('open the Log', async () => {
    const log = await openLineageToWrite(place.logs, session)
    if (log === undefined) return notFound(session)
    return closingOnFailure(log, () =>
      underLease(place, session, async (lease) => {
        const head = await place.heads.read(session)
        if (!head.ok) return head
        // The head is written before the first byte, so an empty Log without a head was never started.
        if (await isAbsent(place, log, session, head.value)) return notFound(session)
        if (head.value === undefined) return foreign(session)
        const file = log.under(lease)
        return takeOver({ place, session, file, lease, fold, keep }, head.value, { ownEnd })
      }),
    )
  })
}

/** The inputs of `takeOver`. */
export type TakeOverParts<State> = Pick<
  WriterParts<State>,
  'place' | 'session' | 'file' | 'lease' | 'fold' | 'keep'
>

export interface TakeOverOptions {
  readonly ownEnd?: Cursor | undefined
  /** A person vouches for every line. */
  readonly isTrusted?: boolean
  /** Events to append in the first write. */
  readonly more?: readonly EventDraft[]
}

/**
 * Makes the Log durable and intact, and records what happened to it together with `more`, atomically. The same write undoes
 * what lines beyond the head claim to widen: the head covers these lines next.
 */
export async function takeOver<State>(
  parts: TakeOverParts<State>,
  head: HeadRecord,
  { ownEnd, isTrusted = false, more = [] }: TakeOverOptions = {},
): Promise<Result<LogWriter<State>>> {
  const { place, session, file, lease, fold } = parts
  const broken = brokenLineage(session, file)
  if (broken !== undefined) return broken
  const vouched = await vouchedEnd(file, head, ownEnd)
  const vouchedSeq = isTrusted ? Infinity : vouched.seq - 1
  const folded = await foldSettled(parts, head, vouchedSeq)
  const fit = await repair(session, file, folded, head)
  if (!fit.ok) return fit
  const { stateAt: start, indexedTo } = folded
  const beyond = isTrusted ? [] : await wideningAfter(file, session, vouched, folded)
  const takenBack = beyond.length === 0 ? [] : (fold.takeBack?.(start.state, beyond) ?? [])
  const writer = new LogWriter({ ...parts, start, isChecked: false, indexedTo })
  const drafts = [...(await takeOverDrafts(file, writer, lease)), ...takenBack, ...more]
  const recorded = drafts.length === 0 ? ok(undefined) : await writer.append(drafts)
  if (!recorded.ok) return recorded
  // Also noted here, in case this writer is killed before it releases the Log.
  await place.heads.noteWritten(session)
  return ok(writer)
}

/**
 * Folds the Log and makes durable what a killed writer may have left in memory only: the name of the Log, and bytes after
 * the head and the index.
 */
async function foldSettled<State>(
  { place, session, file, fold }: TakeOverParts<State>,
  head: HeadRecord,
  vouchedSeq: number,
): Promise<FoldedLog<State>> {
  return file.settle(head.offset, (visitBytes) =>
    foldLog(place, session, file, fold, { strict: false, vouchedSeq, visitBytes }),
  )
}

/** The position after the last line that the head covers or this process wrote. */
async function vouchedEnd(
  file: ReadableLog,
  head: HeadRecord,
  written: Cursor | undefined,
): Promise<Cursor> {
  if (written !== undefined && written.seq - 1 > head.seq && (await cursorHolds(file, written)))
    return written
  return { offset: head.offset, seq: head.seq + 1, prev: head.hash }
}

/** The lines from `from` on that can widen something. Those after the index are known; an index may be ahead of the head. */
async function wideningAfter<State>(
  file: ReadableLog,
  session: SessionId,
  from: Cursor,
  { indexedTo, widening }: FoldedLog<State>,
): Promise<readonly LogLine[]> {
  if (indexedTo <= from.offset) return widening
  const lines: LogLine[] = []
  await scan(file, { session, strict: false, from }, (line) => {
    if (line.offset >= indexedTo) return false
    if (canWiden(line.content)) lines.push(line)
    return undefined
  })
  return [...lines, ...widening]
}

/** Cuts a torn tail; refuses a Log that is damaged or does not match its head. */
async function repair<State>(
  session: SessionId,
  file: WritableLog,
  { end: { cursor, fault }, end }: FoldedLog<State>,
  head: HeadRecord,
): Promise<Result<void>> {
  const unlikeHead = await headFault(file, session, cursor, head)
  if (unlikeHead !== undefined) return damageError(session, cursor.offset, unlikeHead)
  const torn = await findTornTail(file, session, end)
  if (fault !== undefined && torn === undefined)
    return damageError(session, fault.offset, fault.reason)
  if (torn !== undefined) await file.cut(torn.offset, { seq: cursor.seq, bytes: torn.bytes })
  return ok(undefined)
}

/** The Events that record a killed writer, and bytes that were cut off and stored. */
async function takeOverDrafts<State>(
  file: WritableLog,
  writer: LogWriter<State>,
  lease: Lease,
): Promise<readonly EventDraft[]> {
  const drafts: EventDraft[] = []
  // Includes pieces of a repair that was never recorded: they carry the number of this line.
  const pieces = await file.pieces(writer.cursor.seq)
  const last = pieces.at(-1)
  if (last !== undefined) {
    const cut_bytes = pieces.reduce((sum, { size }) => sum + size, 0)
    const all = pieces.length > 1 ? { pieces: pieces.map(({ name }) => name) } : {}
    drafts.push({ type: 'log_repaired', data: { cut_bytes, kept_as: last.name, ...all } })
  }
  if (lease.abandonedBy !== undefined) {
    drafts.push({ type: 'lock_taken', data: { previous_holder: lease.abandonedBy } })
  }
  return drafts
}

function startOf(first: readonly EventDraft[]): Cursor {
  const [draft] = first
  if (draft?.type !== 'session_fork') return LOG_START
  const { at_offset: offset, at_seq, at_hash: prev } = draft.data
  return { offset, seq: at_seq + 1, prev }
}

/** A fork without all Logs of its lineage is read-only: what it continues cannot be verified. */
export function brokenLineage(session: SessionId, { lineage }: ReadableLog): Failed | undefined {
  if (lineage?.isBroken !== true) return undefined
  return damageError(session, lineage.start.offset, 'parent_missing')
}

/** Runs `work` under the lease; on failure the lease is released. */
export async function underLease<T>(
  place: LogPlace,
  session: SessionId,
  work: (lease: Lease) => Promise<Result<T>>,
): Promise<Result<T>> {
  const lease = await place.leases.take(session)
  if (!lease.ok) return lease
  return unlessOk(
    () => work(lease.value),
    () => lease.value.giveBack(),
  )
}

export async function closingOnFailure<T>(
  file: ReadableLog,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  return unlessOk(work, () => file.close())
}

async function unlessOk<T>(
  work: () => Promise<Result<T>>,
  undo: () => Promise<void>,
): Promise<Result<T>> {
  let keep = false
  try {
    const result = await work()
    keep = result.ok
    return result
  } finally {
    if (!keep) await ifPossible(undo())
  }
}
