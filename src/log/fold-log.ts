import { ifThere, type File } from '../host/files/files.ts'
import { failed, type Failed } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { readIndex, type Fold, type Snapshot } from './derived-index.ts'
import { logName, type LogPlace } from './place.ts'
import { LOG_START, scan, type Passing, type ScanEnd, type ScanOptions } from './scan.ts'

/** A Log folded as far as it could be read. */
export interface FoldedLog<State> {
  readonly snapshot: Snapshot<State>
  readonly end: ScanEnd
  /** How far the index reached, in bytes; 0 when none was of use. */
  readonly indexedTo: number
}

/** The fold of a Log by way of its index. Writes nothing. */
export async function foldLog<State>(
  place: LogPlace,
  session: SessionId,
  file: File,
  fold: Fold<State>,
  strict: boolean,
  passing?: Passing,
): Promise<FoldedLog<State>> {
  // A Log that nobody here vouches for brings an index that nobody vouches for.
  const indexed = strict ? undefined : await readIndex(place, session, file, fold)
  const options = { session, strict, ...(passing === undefined ? {} : { passing }) }
  const folded = await foldFrom(options, file, fold, indexed)
  // Before anything is called damaged, let alone cut, the Log itself is asked.
  if (folded.end.fault === undefined || indexed === undefined) return folded
  return foldFrom(options, file, fold, undefined)
}

async function foldFrom<State>(
  options: ScanOptions,
  file: File,
  fold: Fold<State>,
  indexed: Snapshot<State> | undefined,
): Promise<FoldedLog<State>> {
  let state = indexed === undefined ? fold.initial : indexed.state
  const from = indexed?.cursor ?? LOG_START
  const end = await scan(file, { ...options, from }, (line) => {
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
  return ifThere(place.sessions.open(logName(session), mode))
}

export function notFound(session: SessionId): Failed {
  return failed('not_found', 'There is no such Session here.', { session_id: session }, [
    { action: 'List the Sessions of this folder.', command: 'hawser sessions' },
  ])
}

export function foreign(session: SessionId): Failed {
  return failed(
    'session_foreign',
    'This Session did not begin here, so it can be read but not continued.',
    { session_id: session },
    [{ action: 'Read it; if you trust where it came from, say so.', command: 'hawser trust' }],
  )
}
