import { hash, randomUUID } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import { shownPath } from './confined-path.ts'
import { readPlace, type ReadFile } from './confined-read.ts'
import { inGround, type Ground, type WalkedPlace } from './confined-walk.ts'
import { hasCode } from './walked-folder.ts'

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** The largest file that is read whole or replaced: what stood there must fit into memory to be put back. */
export const FILE_BYTES = 10 * 1024 * 1024

/** What must stand there for a change to happen: nothing, no matter what, or the content with this SHA-256. */
export type ExpectedContent = 'absent' | 'anything' | { readonly sha256: string }

/** The end of a path to a file; the root is none. */
export type FilePlace = WalkedPlace & { readonly name: string }

/**
 * Puts bytes under a name as a new file: a temporary one beside it, every byte, sync, rename, folder sync. What stood
 * there is never written to, so whoever else has it open or under another name keeps it as it was. Mode and, where the
 * system lets us, owner stay; the bits that make a program run as its owner do not. Returns what stood there.
 *
 * Whoever changes the file between the last look and the rename, a few microseconds, loses that change.
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

/** Takes a file away and returns what it held. */
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

/** What stands there now, if it is what the caller expects. */
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
  const message = `${shownPath(path)} is too large to be replaced: it could not be put back.`
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
  const message = `${shownPath(path)} is not as it was when it was last looked at.`
  const next = [{ action: 'Read it again.' }]
  const refused = failed('no_match', message, { reason: 'changed_since' }, next)
  return withCause(refused, { type: 'changed_since' })
}

/** Writes and syncs a file that nobody else can have; on any failure it is gone again. */
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

/** A last look: the folder is still in the workspace, and under the name is what was read, or still nothing. */
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
