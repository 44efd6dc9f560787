import { lstat, readdir, readlink } from 'node:fs/promises'
import { foldedName } from '../confined-path.ts'
import { kindOf, type EntryKind } from '../confined-read.ts'
import { enter, hasCode, idOf, openRoot, type WalkedFolder } from '../walked-folder.ts'

/** Something that stands at a protected path of a workspace, or in the way to one. */
export interface ProtectedPlace {
  /** From the workspace, as it is spelt on the disk. */
  readonly path: string
  readonly kind: EntryKind
  /** Device and inode. */
  readonly id: string
  /** What a link says. */
  readonly target: string | undefined
}

/**
 * What stands at these paths of a workspace, in any spelling that some file system takes for the same. Follows no link: a
 * link, a file or anything else in the place of a folder on the way is told itself, since it decides where the path leads.
 */
export async function protectedPlaces(
  workspace: string,
  paths: readonly string[],
): Promise<readonly ProtectedPlace[]> {
  const root = await openRoot(workspace)
  try {
    const found = await Promise.all(paths.map((path) => placesAt(root, '', namesOf(path))))
    return [...new Map(found.flat().map((place) => [place.path, place])).values()]
  } finally {
    await root.handle.close()
  }
}

async function placesAt(
  folder: WalkedFolder,
  prefix: string,
  names: readonly string[],
): Promise<readonly ProtectedPlace[]> {
  const [wanted, ...rest] = names
  if (wanted === undefined) return []
  const alike = (await readdir(folder.base)).filter((name) => foldedName(name) === wanted)
  const found = await Promise.all(
    alike.map(async (name) => {
      const place = await placeAt(folder, prefix, name)
      if (place === undefined) return []
      return place.kind === 'folder' && rest.length > 0 ? below(folder, place.path, rest) : [place]
    }),
  )
  return found.flat()
}

async function below(
  folder: WalkedFolder,
  path: string,
  names: readonly string[],
): Promise<readonly ProtectedPlace[]> {
  const inner = await enter(folder, path.slice(path.lastIndexOf('/') + 1))
  // Swapped since it was looked at, which is for the next look to tell.
  if (inner === 'missing' || 'target' in inner) return []
  try {
    return await placesAt(inner, `${path}/`, names)
  } finally {
    await inner.handle.close()
  }
}

async function placeAt(
  folder: WalkedFolder,
  prefix: string,
  name: string,
): Promise<ProtectedPlace | undefined> {
  try {
    const facts = await lstat(folder.at(name), { bigint: true })
    const kind = kindOf(facts)
    const target = kind === 'symlink' ? await readlink(folder.at(name)) : undefined
    return { path: prefix + name, kind, id: idOf(facts), target }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function namesOf(path: string): string[] {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .map(foldedName)
}
