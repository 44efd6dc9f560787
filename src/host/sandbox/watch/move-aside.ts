import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  lstat,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { ok, type Result } from '../../../model/errors.ts'
import type { FolderIdentity } from '../../../model/folder-identity.ts'
import { liesIn } from '../../files/confined-path.ts'
import { pathOf, type FolderPlace } from '../../files/disk.ts'
import { asHostResult, closing } from '../../files/files.ts'
import { atFolder } from '../../files/folder-identity.ts'
import { enter, hasCode, openRoot, type WalkedFolder } from '../../files/walked-folder.ts'
import type { ProtectedChange } from './watch.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const CHUNK_BYTES = 65_536

/**
 * Receives the content of one file that appeared, with its path relative to the workspace; the content of a link is its
 * target. On success the file is removed. Called once for each file of a folder.
 */
export type KeepMovedFile = (
  path: string,
  content: AsyncIterable<Uint8Array>,
) => Promise<Result<unknown>>

/** The folders in which something may be moved. A path is relative to the workspace, or absolute in a git directory. */
export interface WatchedFolders {
  readonly workspace: FolderPlace
  readonly gitDirectories?: readonly FolderIdentity[]
}

/**
 * Moves changes aside and returns the paths it moved. Each is first renamed within its folder, so that nothing reads it
 * under its old name; then `keep` receives its content, and what was kept is removed. Without `keep`, or if it fails, the
 * entry stays under its new name. A replaced link or configuration is restored.
 */
export async function moveAside(
  { workspace, gitDirectories = [] }: WatchedFolders,
  findings: readonly Pick<ProtectedChange, 'path' | 'earlier'>[],
  keep: KeepMovedFile | undefined,
): Promise<Result<readonly string[]>> {
  if (findings.length === 0) return ok([])
  return asHostResult('move away changes at protected paths', async () => {
    const moved: string[] = []
    for (const { path, earlier } of findings) {
      const outer = isAbsolute(path)
        ? gitDirectories.find((one) => liesIn(path, one.path))
        : workspace
      // It is not a git directory of this workspace any more.
      if (outer === undefined) continue
      const root = await openPlace(outer)
      const below = isAbsolute(path) ? relative(pathOf(outer), path) : path
      const wasMoved = await closing(root.handle, () =>
        inFolderOf(root, below, (folder, name) => moveAway(folder, name, path, earlier, keep)),
      )
      if (wasMoved) moved.push(path)
    }
    return ok(moved)
  })
}

function openPlace(place: FolderPlace): Promise<WalkedFolder> {
  return typeof place === 'string' ? openRoot(place) : atFolder(place, openRoot)
}

async function moveAway(
  folder: WalkedFolder,
  name: string,
  path: string,
  earlier: ProtectedChange['earlier'],
  keep: KeepMovedFile | undefined,
): Promise<boolean> {
  const aside = `.hawser-moved-${randomBytes(8).toString('hex')}`
  try {
    await rename(folder.at(name), folder.at(aside))
  } catch (error) {
    // Another command has already moved it.
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  if (earlier.target !== undefined) await symlink(earlier.target, folder.at(name))
  else if (earlier.text !== undefined) {
    await writeFile(folder.at(name), earlier.text, { flag: 'wx' })
  }
  if (keep !== undefined) await handOver(folder, aside, path, keep)
  return true
}

/** Passes the entry to `keep` and removes it. Returns false when part of it had to stay. */
async function handOver(
  folder: WalkedFolder,
  name: string,
  path: string,
  keep: KeepMovedFile,
): Promise<boolean> {
  const facts = await lstat(folder.at(name))
  if (facts.isDirectory()) return handOverFolder(folder, name, path, keep)
  const kept = facts.isFile()
    ? await handOverFile(folder, name, path, keep)
    : await keep(path, once(facts.isSymbolicLink() ? await readlink(folder.at(name)) : ''))
  if (kept.ok) await unlink(folder.at(name))
  return kept.ok
}

async function handOverFile(
  folder: WalkedFolder,
  name: string,
  path: string,
  keep: KeepMovedFile,
): Promise<Result<unknown>> {
  return asHostResult('read a file that was moved aside', async () => {
    const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    return closing(handle, () => keep(path, filePieces(handle)))
  })
}

async function handOverFolder(
  folder: WalkedFolder,
  name: string,
  path: string,
  keep: KeepMovedFile,
): Promise<boolean> {
  const inner = await enter(folder, name).catch((error: unknown): 'missing' => {
    // Closed to its own owner, so it stays under its new name.
    if (hasCode(error, 'EACCES')) return 'missing'
    throw error
  })
  if (inner === 'missing' || 'target' in inner) return false
  const all = await closing(inner.handle, async () => {
    let gone = true
    for (const one of await readdir(inner.base)) {
      gone = (await handOver(inner, one, `${path}/${one}`, keep)) && gone
    }
    return gone
  })
  if (all) await rmdir(folder.at(name))
  return all
}

async function* filePieces(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES))
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function inFolderOf(
  root: WalkedFolder,
  path: string,
  work: (folder: WalkedFolder, name: string) => Promise<boolean>,
): Promise<boolean> {
  const [first = '', ...rest] = path.split('/')
  if (rest.length === 0) return work(root, first)
  const inner = await enter(root, first)
  // The folder was replaced since the scan, so this is not what the scan found.
  if (inner === 'missing' || 'target' in inner) return false
  return closing(inner.handle, () => inFolderOf(inner, rest.join('/'), work))
}
