import * as z from 'zod'
import { parseJson } from '../encoding/json.ts'
import { hmacSha256 } from '../encoding/hash.ts'
import { closing, FileFailure, readSpan, replaceFile, type File } from '../host/files/files.ts'
import type { EventDraft } from '../model/events/event.ts'
import { Sha256, type SessionId } from '../model/ids.ts'
import { closedObject } from '../model/shape.ts'
import { lineBefore } from './backward.ts'
import { decodeLine, type Cursor, type LogLine } from './line.ts'
import { createdIndexKey, indexKey } from './index-key.ts'
import { indexName, type LogPlace } from './place.ts'

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
export interface Snapshot<State> {
  readonly cursor: Cursor
  readonly state: State
}

const IndexHeader = closedObject(() => ({
  v: z.literal(1),
  fold: z.string(),
  through_seq: z.int(),
  through_offset: z.int().positive(),
  through_hash: Sha256,
  /** Over the rest of the header, the Session and the state. */
  mac: Sha256,
}))

/** A larger index is not worth reading: the scan it saves would be as fast. */
const INDEX_BYTES = 16 * 1024 * 1024

/**
 * Reads the index if it is intact, of this fold and of this Log; otherwise returns `undefined`, and the Log is read from
 * its start. The index is derived: losing it loses nothing, and a wrong one is never used. It is in the workspace, so a key
 * in the home of this user authenticates it: permissions depend on its state.
 */
export async function readIndex<State>(
  place: LogPlace,
  session: SessionId,
  log: File,
  fold: Fold<State>,
): Promise<Snapshot<State> | undefined> {
  const text = await indexText(place, session)
  const split = text?.indexOf('\n') ?? -1
  if (text === undefined || split === -1) return undefined
  const header = IndexHeader.safeParse(parseJson(text.slice(0, split)))
  if (!header.success || header.data.fold !== fold.version) return undefined
  const state = text.slice(split + 1).replace(/\n$/, '')
  const key = await indexKey(place)
  const { mac, ...claims } = header.data
  if (key === undefined || mac !== macOf(key, session, claims, state)) return undefined
  const { through_seq, through_offset, through_hash } = claims
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

export async function writeIndex<State>(
  place: LogPlace,
  session: SessionId,
  fold: Fold<State>,
  { cursor, state }: Snapshot<State>,
): Promise<void> {
  const text = JSON.stringify(state)
  const claims = {
    v: 1 as const,
    fold: fold.version,
    through_seq: cursor.seq - 1,
    through_offset: cursor.offset,
    through_hash: cursor.prev,
  }
  const header = { ...claims, mac: macOf(await createdIndexKey(place), session, claims, text) }
  const bytes = Buffer.from(`${JSON.stringify(header)}\n${text}\n`)
  await replaceFile(place.sessions, indexName(session), bytes, place.ids.temporary())
}

type Claims = Omit<z.infer<typeof IndexHeader>, 'mac' | 'through_hash'> & {
  readonly through_hash: string | null
}

function macOf(
  key: string,
  session: SessionId,
  { v, fold, through_seq, through_offset, through_hash }: Claims,
  state: string,
): string {
  const claimed = JSON.stringify([v, session, fold, through_seq, through_offset, through_hash])
  return hmacSha256(key, `${claimed}\n${state}`)
}

async function indexText(place: LogPlace, session: SessionId): Promise<string | undefined> {
  try {
    return await closing(await place.sessions.open(indexName(session), 'read'), async (file) => {
      const { size } = await file.stat()
      return size > INDEX_BYTES ? undefined : (await readSpan(file, 0, size)).toString('utf8')
    })
  } catch (error) {
    // If the index is unreadable, the Log itself is read.
    if (error instanceof FileFailure) return undefined
    throw error
  }
}
