import { mentionedBlobs, type BlobMentions } from '../../../blobs/sweep.ts'
import { workspaceBlobStore } from '../../../blobs/workspace-store.ts'
import type { Clock } from '../../../host/clock.ts'
import {
  asResult,
  closing,
  FileFailure,
  ifPossible,
  ifThere,
  readSpan,
  removeTemporaries,
  replaceFile,
  writeAll,
  type File,
  type Folder,
} from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import type { Holder } from '../../../host/process/holder.ts'
import { RECORDS } from '../../../host/files/records.ts'
import { recordFolders } from '../../../host/workspace.ts'
import { pieces, type RawSource } from '../../../host/files/raw-source.ts'
import { underShortLock } from '../../../host/short-lock.ts'
import { wait } from '../../../host/wait.ts'
import { fileLeases } from '../../../log/files/file-leases.ts'
import { leaseName, logName } from '../../../log/files/names.ts'
import type { Lease } from '../../../log/lease-store.ts'
import { scan } from '../../../log/scan.ts'
import { ok, type Result } from '../../../model/errors.ts'
import { SessionId, type BlobKey } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'

/** What decides which records of a workspace belong to an Instance. */
export interface MovingParts {
  /** The `.hawser` of the workspace. */
  readonly own: Folder
  readonly instance: string
  /** The person's heads: a Session with a head there is theirs, whatever its Log says. */
  readonly heads: Folder
  /** The server's heads of the Instance's Logs in this workspace. */
  readonly guestHeads: Folder | undefined
  /** The frame log of the Instance, which names blobs too. */
  readonly frames: RawSource | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly holder: Holder
}

/** A folder with this name is not finished. */
const UNFINISHED = 'moving-'

/**
 * Makes sure that an Instance has its records apart from those of the person, see ADR 20. An earlier version left them among
 * these: then its Sessions are moved, with copies of the blobs that they or its frames name. Each file is copied, synced, and
 * only then removed; the folder gets its name at last. So after a crash at any step, the next call finishes the work.
 */
export async function moveRecords(parts: MovingParts): Promise<Result<void>> {
  return asResult('move the records of the Instance', async () => {
    const all = await parts.own.folder(RECORDS, 'create')
    return closing(all, async () => {
      if (await isThere(all, parts.instance)) return ok(undefined)
      if (!(await isThere(parts.own, 'sessions'))) return createRecords(all, parts.instance)
      return underShortLock({ folder: all, clock: parts.clock }, async () => {
        if (await isThere(all, parts.instance)) return ok(undefined)
        return moveInto(all, parts)
      })
    })
  })
}

async function isThere(parent: Folder, name: string): Promise<boolean> {
  const found = await ifThere(parent.folder(name, 'open'))
  await found?.close()
  return found !== undefined
}

/** No Session was in the workspace. */
async function createRecords(all: Folder, instance: string): Promise<Result<void>> {
  const records = await all.folder(instance, 'create')
  await records.close()
  return ok(undefined)
}

async function moveInto(all: Folder, parts: MovingParts): Promise<Result<void>> {
  const unfinished = UNFINISHED + parts.instance
  const moved = await closing(await all.folder(unfinished, 'create'), (records) =>
    fill(records, parts),
  )
  if (!moved.ok) return moved
  await all.rename(unfinished, parts.instance)
  await all.sync()
  return ok(undefined)
}

/** Open folders of records. */
interface Folders {
  readonly sessions: Folder
  readonly blobs: Folder
}

async function fill(records: Folder, parts: MovingParts): Promise<Result<void>> {
  return closing(await recordFolders(records), async (to) => {
    // Left by a copy that was interrupted.
    for (const folder of [to.sessions, to.blobs]) await removeTemporaries(folder, Infinity)
    return closing(await recordFolders(parts.own), (from) => fromShared(parts, from, to))
  })
}

/** Moves what is in the folders that the Instance used to share with the person. */
async function fromShared(parts: MovingParts, from: Folders, to: Folders): Promise<Result<void>> {
  for (const session of await sessionsOf(parts, from.sessions)) {
    const moved = await moveSession(parts, session, from, to)
    if (!moved.ok) return moved
  }
  const { frames } = parts
  if (frames === undefined) return ok(undefined)
  return copyBlobs(parts, { bytes: [], sources: [frames] }, from, to)
}

/** The Sessions whose first Event names the Instance, and those that the server has a head of. */
async function sessionsOf(
  { instance, guestHeads }: MovingParts,
  sessions: Folder,
): Promise<readonly SessionId[]> {
  const known: ReadonlySet<string> = new Set(await guestHeads?.names())
  const found: SessionId[] = []
  for (const name of (await sessions.names()).toSorted()) {
    const session = SessionId.safeParse(name.replace(/\.ndjson$/, '')).data
    if (session === undefined || name !== logName(session)) continue
    const file = await regular(sessions, name)
    if (file === undefined) continue
    const isBound = await closing(file, () => names(file, session, instance))
    if (isBound || known.has(session)) found.push(session)
  }
  return found
}

async function names(file: File, session: SessionId, instance: string): Promise<boolean> {
  let isBound = false
  await scan(file, { session, strict: true }, ({ content: { isKnown, event } }) => {
    isBound =
      isKnown && event.type === 'session_started' && event.data.tether?.instance === instance
    return false
  })
  return isBound
}

/** Blobs first: from the moment that a Log is gone, a sweep no longer finds what it names. */
async function moveSession(
  parts: MovingParts,
  session: SessionId,
  from: Folders,
  to: Folders,
): Promise<Result<void>> {
  const lease = await leaseOf(parts, from.sessions, session)
  if (!lease.ok) return lease
  let isTheirs = true
  try {
    if (lease.value !== undefined) await copyHolder(lease.value, to.sessions, session, parts.ids)
    const all = (await from.sessions.names()).filter((name) => name.startsWith(`${session}.`))
    // The Log is removed last: as long as it is there, the next call finds what is left.
    const files = all
      .filter((name) => name !== leaseName(session))
      .toSorted(lastIs(logName(session)))
    const done: string[] = []
    for (const name of files) {
      const file = await regular(from.sessions, name)
      if (file === undefined) continue
      const copied = await closing(file, async () => {
        await copy(file, to.sessions, name, parts.ids)
        return copyBlobs(parts, { bytes: [pieces(file)], sources: [] }, from, to)
      })
      if (!copied.ok) return copied
      done.push(name)
    }
    // A Session that the person took over stays theirs too.
    if (await hasFile(parts.heads, session)) return ok(undefined)
    isTheirs = false
    for (const name of done) await ifThere(from.sessions.remove(name))
    await from.sessions.sync()
    return ok(undefined)
  } finally {
    await (isTheirs ? lease.value?.giveBack() : lease.value?.release())
  }
}

/** The lease itself stays, as when a Session is deleted. Of a holder that was killed, the next writer records the name. */
async function copyHolder(
  { abandonedBy }: Lease,
  to: Folder,
  session: SessionId,
  ids: Ids,
): Promise<void> {
  if (abandonedBy === undefined || (await hasFile(to, leaseName(session)))) return
  const bytes = Buffer.from(`${JSON.stringify(abandonedBy)}\n`)
  await replaceFile(to, leaseName(session), bytes, ids.temporary())
}

function lastIs(last: string): (a: string, b: string) => number {
  return (a, b) => Number(a === last) - Number(b === last)
}

/** A guest that was killed may live on for a moment. */
const LEASE_TRIES = 200
const LEASE_WAIT_MS = 50

/** `undefined` if something else than a file is in the place of the lease: no writer holds that. */
async function leaseOf(
  { clock, ids, holder }: MovingParts,
  sessions: Folder,
  session: SessionId,
): Promise<Result<Lease | undefined>> {
  for (let tries = 1; ; tries += 1) {
    const lease = await fileLeases({ sessions, clock, ids, holder }).take(session)
    if (!lease.ok && lease.error.kind === 'not_regular_file') return ok(undefined)
    if (lease.ok || lease.error.kind !== 'session_busy' || tries === LEASE_TRIES) return lease
    await wait(clock, LEASE_WAIT_MS)
  }
}

/** Copies, because the person's Sessions may name the same blobs. What nothing names there any more is swept. */
async function copyBlobs(
  { ids, clock }: MovingParts,
  mentions: BlobMentions,
  from: Folders,
  to: Folders,
): Promise<Result<void>> {
  const store = workspaceBlobStore({ folder: from.blobs, ids, clock })
  const keys = await mentionedBlobs(store, mentions)
  if (!keys.ok) return keys
  for (const key of keys.value) await copyBlob(key, from, to, ids)
  return ok(undefined)
}

async function copyBlob(key: BlobKey, from: Folders, to: Folders, ids: Ids): Promise<void> {
  const file = await regular(from.blobs, key)
  if (file === undefined) return
  await closing(file, async () => {
    const { size } = await file.stat()
    // Larger ones are not blobs, and what is complete has its name.
    if (size > LIMITS.blob_bytes || (await hasFile(to.blobs, key))) return
    await copy(file, to.blobs, key, ids)
  })
}

const PIECE_BYTES = 256 * 1024

/** Replaces the file `name` with a durable copy. */
async function copy(from: File, to: Folder, name: string, ids: Ids): Promise<void> {
  const temporary = ids.temporary()
  const file = await to.open(temporary, 'create')
  try {
    await closing(file, async () => {
      for (let at = 0; ; at += PIECE_BYTES) {
        const piece = await readSpan(from, at, PIECE_BYTES)
        if (piece.length > 0) await writeAll(file, piece)
        if (piece.length < PIECE_BYTES) break
      }
      await file.sync()
    })
    await to.rename(temporary, name)
  } catch (error) {
    await ifPossible(to.remove(temporary))
    throw error
  }
  await to.sync()
}

/** `undefined` for what is missing, or not a file: a guest of an earlier version may have put anything there. */
async function regular(folder: Folder, name: string): Promise<File | undefined> {
  return folder.open(name, 'read').catch((error: unknown) => {
    if (error instanceof FileFailure && ODD.has(error.code)) return undefined
    throw error
  })
}

const ODD: ReadonlySet<string> = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'NOT_REGULAR'])

async function hasFile(folder: Folder, name: string): Promise<boolean> {
  const file = await regular(folder, name)
  await file?.close()
  return file !== undefined
}
