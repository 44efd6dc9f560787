import * as z from 'zod'
import { parseJson } from '../encoding/json.ts'
import { sha256 } from '../encoding/hash.ts'
import { closing, FileFailure, readSpan, replaceFile, type File } from '../host/files/files.ts'
import { Sha256, type SessionId } from '../model/ids.ts'
import { lineBefore } from './backward.ts'
import { decodeLine, type Cursor, type LogLine } from './line.ts'
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
  step(state: State, line: LogLine): State
}

/** The state of a fold at a position of the Log. */
export interface Snapshot<State> {
  readonly cursor: Cursor
  readonly state: State
}

const IndexHeader = z.object({
  v: z.literal(1),
  fold: z.string(),
  through_seq: z.int(),
  through_offset: z.int().positive(),
  through_hash: Sha256,
  state_sha256: Sha256,
})

/** A larger index is not worth reading: the scan it saves would be as fast. */
const INDEX_BYTES = 16 * 1024 * 1024

/**
 * Reads the index if it is intact, of this fold and of this Log; otherwise returns `undefined`, and the Log is read from
 * its start. The index is derived: losing it loses nothing, and a wrong one is never used.
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
  if (sha256(state) !== header.data.state_sha256) return undefined
  const { through_seq, through_offset, through_hash } = header.data
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
  const header = {
    v: 1,
    fold: fold.version,
    through_seq: cursor.seq - 1,
    through_offset: cursor.offset,
    through_hash: cursor.prev,
    state_sha256: sha256(text),
  }
  const bytes = Buffer.from(`${JSON.stringify(header)}\n${text}\n`)
  await replaceFile(place.sessions, indexName(session), bytes, place.ids.temporary())
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
