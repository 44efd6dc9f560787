import { hash, randomUUID } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import { shownPath } from './confined-path.ts'
import { readPlace, type ReadFile } from './confined-read.ts'
import { inGround, type Ground, type WalkedPlace } from './confined-walk.ts'
import { hasCode } from './walked-folder.ts'

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** The largest file that is read whole or replaced: the previous content must fit into memory so that it can be restored. */
export const FILE_BYTES = 10 * 1024 * 1024

/** The required current content: none, any, or the one with this SHA-256. */
export type ExpectedContent = 'absent' | 'anything' | { readonly sha256: string }

/** The place of a file, which has a name; the root has none. */
export type FilePlace = WalkedPlace & { readonly name: string }

/**
 * Writes bytes under a name as a new file: temporary file beside it, all bytes, sync, rename, folder sync. The old file is
 * never written to, so other open descriptors and hard links keep its content. Mode and, if permitted, owner are kept;
 * set-id bits are not. Returns the previous content.
 *
 * A change made by another process in the few microseconds between the last check and the rename is lost.
 */
export async function replacePlace(
  ground: Ground,
  path: string,
  place: FilePlace,
  { bytes, expect }: { readonly bytes: Uint8Array; readonly expect: ExpectedContent },
): Promise<Result<Buffer | undefined>> {
  const before = await currentFile(ground, path, place, expect)
  if (!before.ok) return before
  const { folder, name } = place
  const temporary = folder.at(`.hawser-${randomUUID()}.tmp`)
  await fill(temporary, bytes, before.value?.facts)
  try {
    const settled = await stillThere(ground, path, place, before.value)
    if (!settled.ok) {
      await unlink(temporary)
      return settled
    }
    await rename(temporary, folder.at(name))
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  await folder.handle.sync()
  return ok(before.value?.bytes)
}

/** Removes a file and returns its content. */
export async function removePlace(
  ground: Ground,
  path: string,
  place: FilePlace,
  expect: Exclude<ExpectedContent, 'absent'>,
): Promise<Result<Buffer>> {
  const before = await readCurrent(ground, path, place)
  if (!before.ok) return before
  if (!meets(before.value.bytes, expect)) return changedSince(path)
  const settled = await stillThere(ground, path, place, before.value)
  if (!settled.ok) return settled
  await unlink(place.folder.at(place.name))
  await place.folder.handle.sync()
  return ok(before.value.bytes)
}

/** The current file, if it is what the caller expects. */
async function currentFile(
  ground: Ground,
  path: string,
  place: FilePlace,
  expect: ExpectedContent,
): Promise<Result<ReadFile | undefined>> {
  const before = await readCurrent(ground, path, place)
  if (before.ok) return meets(before.value.bytes, expect) ? before : changedSince(path)
  if (before.error.kind !== 'not_found') return before
  return typeof expect === 'object' ? changedSince(path) : ok(undefined)
}

async function readCurrent(
  ground: Ground,
  path: string,
  place: FilePlace,
): Promise<Result<ReadFile>> {
  const current = await readPlace(ground, path, place, FILE_BYTES)
  if (!current.ok || !current.value.truncated) return current
  const message = `${shownPath(path)} is too large to replace: its content could not be restored.`
  return failed('too_large', message, {
    limit: FILE_BYTES,
    actual: Number(current.value.facts.size),
  })
}

function meets(bytes: Buffer, expect: ExpectedContent): boolean {
  if (typeof expect === 'object') return hash('sha256', bytes, 'hex') === expect.sha256
  return expect === 'anything'
}

export function changedSince(path: string): Failed {
  const message = `${shownPath(path)} has changed since it was last read.`
  const next = [{ action: 'Read the file again.' }]
  const refused = failed('no_match', message, { reason: 'changed_since' }, next)
  return withCause(refused, { type: 'changed_since' })
}

/** Writes and syncs a new file; on any failure the file is removed. */
async function fill(
  temporary: string,
  bytes: Uint8Array,
  like: BigIntStats | undefined,
): Promise<void> {
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    for (let done = 0; done < bytes.length;) {
      done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten
    }
    if (like !== undefined) await makeAlike(handle, like)
    await handle.sync()
    await handle.close()
  } catch (error) {
    await handle.close().catch(() => {})
    await unlink(temporary).catch(() => {})
    throw error
  }
}

async function makeAlike(handle: FileHandle, like: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true })
  if (own.uid !== like.uid || own.gid !== like.gid) {
    await handle.chown(Number(like.uid), Number(like.gid)).catch((error: unknown) => {
      if (!hasCode(error, 'EPERM')) throw error
    })
  }
  await handle.chmod(Number(like.mode & 0o777n))
}

/** The final check: the folder is still in the workspace, and the file is still the one that was read, or still missing. */
async function stillThere(
  ground: Ground,
  path: string,
  { folder, name }: FilePlace,
  before: ReadFile | undefined,
): Promise<Result<void>> {
  const stays = await inGround(ground, path, folder)
  if (!stays.ok) return stays
  const now = await lstat(folder.at(name), { bigint: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  return stampOf(now) === stampOf(before?.facts) ? ok(undefined) : changedSince(path)
}

function stampOf(facts: BigIntStats | undefined): string {
  if (facts === undefined) return 'nothing'
  const { dev, ino, size, mtimeNs, ctimeNs } = facts
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}
