import { asResult, type File } from '../host/files.ts'
import { ok, type HawserError, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { readBackward } from './backward.ts'
import { damaged } from './damage.ts'
import type { Fold } from './derived-index.ts'
import { followLog } from './follow.ts'
import { headFault, readHead, type HeadRecord } from './head.ts'
import type { Cursor, LogLine } from './line.ts'
import { foldLog, notFound, openLogFile } from './open.ts'
import type { LogPlace } from './place.ts'
import { scan, type ScanEnd } from './scan.ts'

/** How a reading ended. */
export interface ReadEnd {
  /** The place behind the last line that was handed out. */
  readonly cursor: Cursor
  /** Why the Log goes on, or should go on, and could not be read further. */
  readonly damage?: HawserError
  /** A last line that is not finished stands behind: a writer is at it, or was killed and the next writer will cut it. */
  readonly unfinished: boolean
}

/** A Log opened for reading: without a lock, beside any writer, and without changing a byte. */
export interface LogReader {
  readonly session: SessionId
  /** It did not begin here: nothing vouches for its author. */
  readonly foreign: boolean
  /** Hands every line from `from` (or the start) to `visit`, in order, until the end or until `visit` returns false. */
  forward(visit: (line: LogLine) => void | false, from?: Cursor): Promise<Result<ReadEnd>>
  /** The newest line first. Each line was checked against the one that came before it. */
  backward(from?: Cursor): AsyncGenerator<Result<LogLine>, void>
  /** The state of a fold over all of it, by way of the index where that is of use. */
  fold<State>(fold: Fold<State>): Promise<Result<ReadEnd & { readonly state: State }>>
  /** Lines as they are written, from `from` on, until `signal`. Ends with a failure when the Log cannot be followed. */
  follow(from: Cursor, signal: AbortSignal): AsyncGenerator<Result<LogLine>, void>
  close(): Promise<void>
}

export async function openReader(place: LogPlace, session: SessionId): Promise<Result<LogReader>> {
  return asResult('open the Log', async () => {
    const head = await readHead(place, session)
    if (!head.ok) return head
    const file = await openLogFile(place, session, 'read')
    if (file === undefined) return notFound(session)
    return ok(readerOf(place, session, file, head.value))
  })
}

function readerOf(
  place: LogPlace,
  session: SessionId,
  file: File,
  head: HeadRecord | undefined,
): LogReader {
  const options = { session, strict: head === undefined }
  const endOf = async (end: ScanEnd, whole: boolean): Promise<ReadEnd> => {
    const { cursor, fault } = end
    const unfinished = fault?.reason === 'unterminated'
    const unlikeHead =
      whole && head !== undefined ? await headFault(file, session, cursor, head) : undefined
    const reason = fault !== undefined && !unfinished ? fault.reason : unlikeHead
    if (reason === undefined) return { cursor, unfinished }
    return { cursor, unfinished, damage: damaged(session, cursor.offset, reason).error }
  }
  return {
    session,
    foreign: head === undefined,
    forward: (visit, from) =>
      asResult('read the Log', async () => {
        let whole = true
        const start = from === undefined ? {} : { from }
        const end = await scan(file, { ...options, ...start }, (line) => {
          const answer = visit(line)
          if (answer === false) whole = false
          return answer
        })
        return ok(await endOf(end, whole))
      }),
    backward: (from) => readBackward(file, session, options.strict, from),
    fold: (fold) =>
      asResult('read the Log', async () => {
        const { snapshot, end } = await foldLog(place, session, file, fold, options.strict)
        return ok({ ...(await endOf(end, true)), state: snapshot.state })
      }),
    follow: (from, signal) => followLog(place, session, file, { ...options, from }, signal),
    close: () => file.close(),
  }
}
