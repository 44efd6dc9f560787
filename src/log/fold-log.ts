import { failed, type Failed } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { canWiden } from '../model/events/widening.ts'
import { readIndex, type Fold, type StateAt } from './derived-index.ts'
import type { LogLine } from './line.ts'
import type { ReadableLog, VisitBytes } from './log-store.ts'
import type { LogStores } from './place.ts'
import { LOG_START, scan, type ScanEnd, type ScanOptions } from './scan.ts'

/** A Log folded as far as it was readable. */
export interface FoldedLog<State> {
  readonly stateAt: StateAt<State>
  readonly end: ScanEnd
  /** The end of the index in bytes; 0 when there was no usable one. */
  readonly indexedTo: number
  /** The lines after the index that can widen something and that nothing vouches for. */
  readonly widening: readonly LogLine[]
}

/** How to read a Log. */
export interface FoldOptions {
  readonly strict: boolean
  /** The number of the last line that is vouched for. */
  readonly vouchedSeq: number
  readonly visitBytes?: VisitBytes
}

/**
 * Folds a Log, starting from its index. Writes nothing. The index vouches for the lines up to its position, like the head: a
 * writer of this home folded them.
 */
export async function foldLog<State>(
  place: Pick<LogStores, 'indexes'>,
  session: SessionId,
  file: ReadableLog,
  fold: Fold<State>,
  { strict, ...how }: FoldOptions,
): Promise<FoldedLog<State>> {
  // A foreign Log may come with a forged index.
  const indexed = strict ? undefined : await readIndex(place, session, file, fold)
  const options = { session, strict, ...how }
  const folded = await foldFrom(options, file, fold, indexed)
  // The index may be wrong: read the whole Log before calling it damaged.
  if (folded.end.fault === undefined || indexed === undefined) return folded
  return foldFrom(options, file, fold, undefined)
}

async function foldFrom<State>(
  { vouchedSeq, ...options }: ScanOptions & Pick<FoldOptions, 'vouchedSeq'>,
  file: ReadableLog,
  fold: Fold<State>,
  indexed: StateAt<State> | undefined,
): Promise<FoldedLog<State>> {
  let state = indexed === undefined ? fold.initial : indexed.state
  const from = indexed?.cursor ?? LOG_START
  const widening: LogLine[] = []
  const end = await scan(file, { ...options, from }, (line) => {
    const isVouched = line.seq <= vouchedSeq
    state = fold.step(state, line, isVouched)
    if (!isVouched && canWiden(line.content)) widening.push(line)
  })
  return { stateAt: { cursor: end.cursor, state }, end, indexedTo: from.offset, widening }
}

export function notFound(session: SessionId): Failed {
  return failed(
    'not_found',
    `Session ${session} does not exist in this workspace.`,
    { session_id: session },
    [{ action: 'List the Sessions of this folder.', command: 'hawser sessions' }],
  )
}

export function foreign(session: SessionId): Failed {
  return failed(
    'session_foreign',
    'This Session was created elsewhere: it can be read but not continued.',
    { session_id: session },
    [
      {
        action: 'Review the Session and, if you trust its origin, adopt it.',
        command: 'hawser trust',
      },
    ],
  )
}
