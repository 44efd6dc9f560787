import * as z from 'zod'
import { hmacSha256 } from '../../encoding/hash.ts'
import { parseJson } from '../../encoding/json.ts'
import {
  closing,
  FileFailure,
  ifThere,
  readSpan,
  replaceDerivedFile,
  type Folder,
} from '../../host/files/files.ts'
import { Sha256, type SessionId } from '../../model/ids.ts'
import { closedObject } from '../../model/shape.ts'
import type { IndexRecord, IndexStore } from '../index-store.ts'
import type { HeadFiles } from './head-files.ts'
import { createdIndexKey, indexKey } from './index-key.ts'
import { indexName } from './names.ts'

/** What indexes in files need: the folder of the Logs, and that of the heads, for the key. */
export interface IndexFiles extends HeadFiles {
  readonly sessions: Folder
}

/**
 * Each index in a file beside its Log: a line with what it claims, and the state. It is in the workspace, so a key in the home
 * of this user authenticates it: permissions depend on its state. The same key tells a record from what a power cut leaves of one, so
 * none is synced: the end of a Turn waits for its Log and its head only.
 */
export function fileIndexes(files: IndexFiles): IndexStore {
  const { sessions, ids } = files
  return {
    read: (session) => readRecord(files, session),
    write: async (session, { state, ...through }) => {
      const claims = { v: 1 as const, ...through }
      const mac = macOf(await createdIndexKey(files), session, claims, state)
      const bytes = Buffer.from(`${JSON.stringify({ ...claims, mac })}\n${state}\n`)
      await replaceDerivedFile(sessions, indexName(session), bytes, ids.temporary())
    },
    remove: async (session) => {
      await ifThere(sessions.remove(indexName(session)))
      await sessions.sync()
    },
  }
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

async function readRecord(files: IndexFiles, session: SessionId): Promise<IndexRecord | undefined> {
  const text = await indexText(files.sessions, session)
  const split = text?.indexOf('\n') ?? -1
  if (text === undefined || split === -1) return undefined
  const header = IndexHeader.safeParse(parseJson(text.slice(0, split)))
  if (!header.success) return undefined
  const state = text.slice(split + 1).replace(/\n$/, '')
  const key = await indexKey(files)
  const { mac, ...claims } = header.data
  if (key === undefined || mac !== macOf(key, session, claims, state)) return undefined
  const { v: _, ...through } = claims
  return { ...through, state }
}

type Claims = Omit<IndexRecord, 'state'> & { readonly v: 1 }

function macOf(
  key: string,
  session: SessionId,
  { v, fold, through_seq, through_offset, through_hash }: Claims,
  state: string,
): string {
  const claimed = JSON.stringify([v, session, fold, through_seq, through_offset, through_hash])
  return hmacSha256(key, `${claimed}\n${state}`)
}

async function indexText(sessions: Folder, session: SessionId): Promise<string | undefined> {
  try {
    return await closing(await sessions.open(indexName(session), 'read'), async (file) => {
      const { size } = await file.stat()
      return size > INDEX_BYTES ? undefined : (await readSpan(file, 0, size)).toString('utf8')
    })
  } catch (error) {
    // If the index is unreadable, the Log itself is read.
    if (error instanceof FileFailure) return undefined
    throw error
  }
}
