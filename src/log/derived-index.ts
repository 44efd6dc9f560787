import type * as z from 'zod'
import { parseJson } from '../encoding/json.ts'
import type { EventDraft } from '../model/events/event.ts'
import type { SessionId } from '../model/ids.ts'
import { lineBefore } from './backward.ts'
import { decodeLine, type Cursor, type LogLine } from './line.ts'
import type { ReadableLog } from './log-store.ts'
import type { LogStores } from './place.ts'

/**
 * Computes a state from a Log, one Event at a time. `State` is JSON. A different `version` means that the state has a
 * different meaning.
 */
export interface Fold<State> {
  readonly version: string
  readonly initial: State
  /** The schema that an index on disk must match. */
  readonly schema: z.ZodType<State>
  /** `vouched`: the head covers the line, or this process wrote it. Any other line must not widen anything. */
  step(state: State, line: LogLine, vouched: boolean): State
  /**
   * The Events that undo what `lines`, which are not vouched for, claim to widen. With them, a fold that vouches for
   * every line results in `state`, which includes `lines`.
   */
  takeBack?(state: State, lines: readonly LogLine[]): readonly EventDraft[]
}

/** The state of a fold at a position of the Log. */
export interface StateAt<State> {
  readonly cursor: Cursor
  readonly state: State
}

/**
 * Reads the index if it is intact, of this fold and of this Log; otherwise returns `undefined`, and the Log is read from
 * its start. The index is derived: losing it loses nothing, and a wrong one is never used.
 */
export async function readIndex<State>(
  { indexes }: Pick<LogStores, 'indexes'>,
  session: SessionId,
  log: ReadableLog,
  fold: Fold<State>,
): Promise<StateAt<State> | undefined> {
  const record = await indexes.read(session)
  if (record === undefined || record.fold !== fold.version) return undefined
  const { through_seq, through_offset, through_hash, state } = record
  const line = await lineBefore(log, through_offset)
  const decoded = line && decodeLine(line, false)
  if (decoded?.ok !== true || decoded.hash !== through_hash) return undefined
  const { seq, session_id } = decoded.envelope
  if (seq !== through_seq || session_id !== session) return undefined
  const parsed = fold.schema.safeParse(parseJson(state))
  if (!parsed.success) return undefined
  const cursor = { offset: through_offset, seq: through_seq + 1, prev: through_hash }
  return { cursor, state: parsed.data }
}

/** Stores the index of a Log with at least one line. */
export async function writeIndex<State>(
  { indexes }: Pick<LogStores, 'indexes'>,
  session: SessionId,
  fold: Fold<State>,
  { cursor: { offset, seq, prev }, state }: StateAt<State>,
): Promise<void> {
  if (prev === null) return
  await indexes.write(session, {
    fold: fold.version,
    through_seq: seq - 1,
    through_offset: offset,
    through_hash: prev,
    state: JSON.stringify(state),
  })
}
