import { asResult, ifPossible } from '../host/files/files.ts'
import { ok, type HawserError, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { cursorHolds, readBackward } from './backward.ts'
import { cursorExpired, damageError } from './damage.ts'
import { readIndex, type Fold, type StateAt } from './derived-index.ts'
import { followLog } from './follow.ts'
import { foldLog, notFound } from './fold-log.ts'
import type { HeadRecord } from './head-record.ts'
import type { Cursor, LogLine } from './line.ts'
import type { Lineage } from './lineage.ts'
import { openLineage } from './lineage-log.ts'
import type { ReadableLog } from './log-store.ts'
import type { LogPlace } from './place.ts'
import { headFault } from './repair.ts'
import { placeIn, scan, vouchedLines, type ScanEnd, type ScanOptions } from './scan.ts'
import { isAbsent, isUnbegun } from './unbegun.ts'

/** How reading ended. */
export interface ReadEnd {
  /** The position after the last line delivered. */
  readonly cursor: Cursor
  /** Why the rest of the Log could not be read. */
  readonly damage?: HawserError
  /** The Log ends with an incomplete line: a writer is writing it, or was killed and the next writer will cut it. */
  readonly isUnfinished: boolean
}

export interface ReadLines extends ReadEnd {
  readonly lines: readonly LogLine[]
}

/** A Log opened for reading: takes no lock, can be used while a writer runs, and changes nothing. */
export interface LogReader {
  readonly session: SessionId
  /** The Logs that are read before this one; absent for a root. */
  readonly lineage: Lineage | undefined
  /** The Session was created elsewhere: nothing authenticates its author. */
  readonly foreign: boolean
  /** Passes every line from `from` (or the start) to `visit`, in order, until the end or until `visit` returns false. */
  forward(visit: (line: LogLine) => void | false, from?: Cursor): Promise<Result<ReadEnd>>
  /** All lines from `from` (or the start). Schemas are not checked again up to a head that says they were. */
  lines(from?: Cursor): Promise<Result<ReadLines>>
  /** Newest line first. Each line is verified against the one after it. */
  backward(from?: Cursor): AsyncGenerator<Result<LogLine>, void>
  /** The fold up to the position of the index. Without an index, a short Log has none, and a long one is read. */
  stateAt<State>(fold: Fold<State>): Promise<Result<StateAt<State> | undefined>>
  /** Whether a line of that number and place in the chain is at this position, or the Log ends there. */
  holds(cursor: Cursor): Promise<boolean>
  /** Whether the head covered the line when this was opened. In a foreign Log, which cannot be continued, all count. */
  readonly covers: (seq: number) => boolean
  /** Every line up to the head matches the current schemas. */
  readonly isVouched: boolean
  /** The fold of the whole Log, using the index if possible. */
  fold<State>(fold: Fold<State>): Promise<Result<ReadEnd & { readonly state: State }>>
  /**
   * Yields lines as they are written, from `from` until `signal`. Ends with an error if the Log cannot be followed. `waits` is
   * called each time before it waits, at least every second.
   */
  follow(
    from: Cursor,
    signal: AbortSignal,
    waits?: () => Promise<void>,
  ): AsyncGenerator<Result<LogLine>, void>
  close(): Promise<void>
}

export interface ReaderOptions {
  /** Also a deleted Session, of which forks need a part. */
  readonly orDeleted?: boolean
}

export async function openReader(
  place: LogPlace,
  session: SessionId,
  { orDeleted = false }: ReaderOptions = {},
): Promise<Result<LogReader>> {
  return asResult('open the Log', async () => {
    const head = await place.heads.read(session)
    if (!head.ok && head.error.kind !== 'log_damaged') return head
    const file = await openLineage(place.logs, session)
    if (file === undefined) return notFound(session)
    const opened = { place, session, file, orDeleted }
    if (head.ok && (await absentClosed(opened, head.value))) return notFound(session)
    const headState = head.ok ? { head: head.value } : { head: undefined, damage: head.error }
    return ok(readerOf(place, session, file, headState))
  })
}

/** A Log of this size that was written here has an index, unless it was lost. */
const LONG_LOG = 8 * 1024 * 1024

interface ScanResult {
  readonly lines: readonly LogLine[]
  readonly end: ScanEnd
}

/** All lines; of those that `head` covers, only the chain is checked if it leads to `head`. */
async function allLines(
  file: ReadableLog,
  options: ScanOptions,
  head: HeadRecord | undefined,
): Promise<ScanResult> {
  const lines = (head && (await vouchedLines(file, options, head))) ?? []
  const from = lines.at(-1)?.next ?? placeIn(file, options.from)
  const end = await scan(file, { ...options, from }, (line) => void lines.push(line))
  return { lines, end }
}

interface OpenLog extends ReaderOptions {
  readonly place: LogPlace
  readonly session: SessionId
  readonly file: ReadableLog
}

/** Whether there is no such Session. If so, or if that cannot be read, closes the file. */
async function absentClosed(
  { place, session, file, orDeleted = false }: OpenLog,
  head: HeadRecord | undefined,
): Promise<boolean> {
  let open = false
  try {
    const isNone = orDeleted
      ? await isUnbegun(file, session, head)
      : await isAbsent(place, file, session, head)
    open = !isNone
    return isNone
  } finally {
    if (!open) await ifPossible(file.close())
  }
}

/** The head of the Log, or `damage` if it cannot be read. */
interface HeadState {
  readonly head: HeadRecord | undefined
  readonly damage?: HawserError
}

function readerOf(
  place: LogPlace,
  session: SessionId,
  file: ReadableLog,
  { head, damage }: HeadState,
): LogReader {
  const options = { session, strict: head === undefined }
  const vouchedSeq = head?.seq ?? Infinity
  const folding = { strict: options.strict, vouchedSeq }
  const isVouching = head?.checked_with !== undefined && head.checked_with === place.schemas
  const vouching = isVouching ? head : undefined
  const broken =
    file.lineage?.isBroken === true
      ? damageError(session, file.lineage.start.offset, 'parent_missing').error
      : undefined
  const endOf = async ({ cursor, fault }: ScanEnd, whole: boolean): Promise<ReadEnd> => {
    const isUnfinished = fault?.reason === 'unterminated'
    const unlikeHead = whole && head && (await headFault(file, session, cursor, head))
    const reason = fault !== undefined && !isUnfinished ? fault.reason : unlikeHead || undefined
    const found =
      reason === undefined ? (damage ?? broken) : damageError(session, cursor.offset, reason).error
    return { cursor, isUnfinished, ...(found === undefined ? {} : { damage: found }) }
  }
  return {
    session,
    lineage: file.lineage,
    foreign: head === undefined && damage === undefined,
    forward: (visit, from) =>
      asResult('read the Log', async () => {
        const at = placeIn(file, from)
        if (!(await cursorHolds(file, at))) return cursorExpired(session, at)
        let whole = true
        const end = await scan(file, { ...options, from: at }, (line) => {
          const answer = visit(line)
          if (answer === false) whole = false
          return answer
        })
        return ok(await endOf(end, whole))
      }),
    lines: (from) =>
      asResult('read the Log', async () => {
        const at = placeIn(file, from)
        if (!(await cursorHolds(file, at))) return cursorExpired(session, at)
        const { lines, end } = await allLines(file, { ...options, from: at }, vouching)
        return ok({ lines, ...(await endOf(end, true)) })
      }),
    backward: (from) =>
      readBackward(file, {
        ...options,
        ...(from === undefined ? {} : { from }),
        ...(head === undefined ? {} : { head }),
      }),
    covers: (seq) => seq <= vouchedSeq,
    isVouched: vouching !== undefined,
    holds: async (cursor) => {
      if (!(await cursorHolds(file, cursor))) return false
      const { fault } = await scan(file, { ...options, from: cursor }, () => false)
      return fault === undefined || fault.reason === 'unterminated'
    },
    stateAt: (fold) =>
      asResult('read the Log', async () => {
        // A foreign Log may come with a forged index.
        const indexed = options.strict ? undefined : await readIndex(place, session, file, fold)
        if (indexed !== undefined || (await file.stat()).size < LONG_LOG) return ok(indexed)
        return ok((await foldLog(place, session, file, fold, folding)).stateAt)
      }),
    fold: (fold) =>
      asResult('read the Log', async () => {
        const { stateAt, end } = await foldLog(place, session, file, fold, folding)
        return ok({ ...(await endOf(end, true)), state: stateAt.state })
      }),
    follow: (from, signal, waits) =>
      followLog(place, session, file, { ...options, from: placeIn(file, from) }, signal, waits),
    close: () => file.close(),
  }
}
