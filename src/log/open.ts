import { asResult, isMissing, type File } from '../host/files.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/event.ts'
import type { SessionId } from '../model/ids.ts'
import { LogWriter } from './append.ts'
import { damaged } from './damage.ts'
import { readIndex, type Fold, type Snapshot } from './derived-index.ts'
import { HEAD_BEFORE_FIRST, headFault, readHead, writeHead } from './head.ts'
import { takeLease, type Lease } from './lease.ts'
import type { Cursor } from './line.ts'
import { logName, type LogPlace } from './place.ts'
import { cutTornTail, findTornTail, piecesAt } from './repair.ts'
import { LOG_START, scan, type ScanEnd } from './scan.ts'
import type { KeepBlob } from './spill.ts'

/** What a caller brings to write a Log: where blobs go, and what it wants to know of the whole. */
export interface Writing<State> {
  readonly fold: Fold<State>
  readonly keep: KeepBlob
}

/** Begins a Log with its first Events: `session_started`, or `session_fork`, which carries the parent's chain on. */
export async function createLog<State>(
  place: LogPlace,
  session: SessionId,
  first: readonly EventDraft[],
  writing: Writing<State>,
): Promise<Result<LogWriter<State>>> {
  return beginLog(place, session, startOf(first), writing, (writer) => writer.append(first))
}

/**
 * Makes the Log's file and writes what `first` appends to it. The head exists before the Log's first byte, so that no
 * Log of ours is ever taken for a foreign one.
 */
export async function beginLog<State>(
  place: LogPlace,
  session: SessionId,
  cursor: Cursor,
  { fold, keep }: Writing<State>,
  first: (writer: LogWriter<State>) => Promise<Result<unknown>>,
): Promise<Result<LogWriter<State>>> {
  return asResult('begin the Log', async () => {
    await writeHead(place, session, HEAD_BEFORE_FIRST)
    return underLease(place, session, async (lease) => {
      const file = await place.sessions.open(logName(session), 'create')
      return closingOnFailure(file, async () => {
        const start = { cursor, state: fold.initial }
        const parts = { place, session, file, lease, fold, keep, start, isNew: true, indexedTo: 0 }
        const writer = new LogWriter(parts)
        const begun = await first(writer)
        return begun.ok ? ok(writer) : begun
      })
    })
  })
}

/**
 * Takes the right to write a Log that exists: locks it, reads what is new since the index, repairs a torn tail, and
 * records both. Refuses, changing nothing, when the Log is another's (`session_busy`), foreign or damaged.
 */
export async function acquireLog<State>(
  place: LogPlace,
  session: SessionId,
  { fold, keep }: Writing<State>,
): Promise<Result<LogWriter<State>>> {
  return asResult('open the Log', async () => {
    const file = await openLogFile(place, session, 'append')
    if (file === undefined) return notFound(session)
    return closingOnFailure(file, () =>
      underLease(place, session, async (lease) => {
        const head = await readHead(place, session)
        if (!head.ok) return head
        if (head.value === undefined) return foreign(session)
        // What a killed writer left unsynced is made durable before anything is built on it.
        await file.datasync()
        const { snapshot, end, indexedTo } = await foldLog(place, session, file, fold, false)
        const unlikeHead = await headFault(file, session, end.cursor, head.value)
        if (unlikeHead !== undefined) return damaged(session, end.cursor.offset, unlikeHead)
        // Nothing of it was ever acknowledged: its beginning never became durable.
        if (end.cursor.offset === 0) return notFound(session)
        if (end.fault !== undefined) {
          const torn = await findTornTail(file, session, end)
          if (torn === undefined) return damaged(session, end.fault.offset, end.fault.reason)
          await cutTornTail(place, session, file, end.cursor.seq, torn)
        }
        const parts = { place, session, file, lease, fold, keep, start: snapshot, indexedTo }
        const writer = new LogWriter({ ...parts, isNew: false })
        const recorded = await recordTaking(place, writer, lease)
        return recorded.ok ? ok(writer) : recorded
      }),
    )
  })
}

/** The fold of a Log by way of its index, and how far the reading came. Writes nothing. */
export async function foldLog<State>(
  place: LogPlace,
  session: SessionId,
  file: File,
  fold: Fold<State>,
  strict: boolean,
): Promise<{ snapshot: Snapshot<State>; end: ScanEnd; indexedTo: number }> {
  // A Log that nobody here vouches for brings an index that nobody vouches for.
  const indexed = strict ? undefined : await readIndex(place, session, file, fold)
  let state = indexed === undefined ? fold.initial : indexed.state
  const from = indexed?.cursor ?? LOG_START
  const end = await scan(file, { session, strict, from }, (line) => {
    state = fold.step(state, line)
  })
  return { snapshot: { cursor: end.cursor, state }, end, indexedTo: from.offset }
}

/** `undefined` when there is no such Log. */
export async function openLogFile(
  place: LogPlace,
  session: SessionId,
  mode: 'read' | 'append',
): Promise<File | undefined> {
  return place.sessions.open(logName(session), mode).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

export function notFound(session: SessionId): Failed {
  return failed('not_found', 'There is no such Session here.', { session_id: session }, [
    { action: 'List the Sessions of this folder.', command: 'hawser sessions' },
  ])
}

function foreign(session: SessionId): Failed {
  return failed(
    'session_foreign',
    'This Session did not begin here, so it can be read but not continued.',
    { session_id: session },
    [{ action: 'Read it; if you trust where it came from, say so.', command: 'hawser trust' }],
  )
}

/** Says in the Log what happened to it: a writer that died before, and bytes that were cut off and kept. */
async function recordTaking<State>(
  place: LogPlace,
  writer: LogWriter<State>,
  lease: Lease,
): Promise<Result<unknown>> {
  const drafts: EventDraft[] = []
  // Also pieces of a repair that ended before it could be recorded: they carry the number of this very line.
  const pieces = await piecesAt(place, writer.session, writer.cursor.seq)
  const last = pieces.at(-1)
  if (last !== undefined) {
    const cut_bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0)
    const all = pieces.length > 1 ? { pieces: pieces.map(({ name }) => name) } : {}
    drafts.push({ type: 'log_repaired', data: { cut_bytes, kept_as: last.name, ...all } })
  }
  if (lease.abandonedBy !== undefined) {
    drafts.push({ type: 'lock_taken', data: { previous_holder: lease.abandonedBy } })
  }
  return drafts.length === 0 ? ok(undefined) : writer.append(drafts)
}

function startOf(first: readonly EventDraft[]): Cursor {
  const [draft] = first
  if (draft?.type !== 'session_fork') return LOG_START
  return { offset: 0, seq: draft.data.at_seq + 1, prev: draft.data.at_hash }
}

/** Runs `work` under the lease; when it comes to nothing the lease is given back. */
async function underLease<T>(
  place: LogPlace,
  session: SessionId,
  work: (lease: Lease) => Promise<Result<T>>,
): Promise<Result<T>> {
  const lease = await takeLease(place, session)
  if (!lease.ok) return lease
  return unlessOk(
    () => work(lease.value),
    () => lease.value.release(),
  )
}

async function closingOnFailure<T>(file: File, work: () => Promise<Result<T>>): Promise<Result<T>> {
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
    if (!keep) await undo().catch(() => {})
  }
}
