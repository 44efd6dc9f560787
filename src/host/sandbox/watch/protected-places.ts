import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import type { EntryKind } from '../../../model/error-cause.ts'
import { foldedName } from '../../../model/safety/folded-name.ts'
import { kindOf } from '../../files/confined-read.ts'
import { enter, hasCode, idOf, openRoot, type WalkedFolder } from '../../files/walked-folder.ts'
import { pathNames } from '../../files/confined-path.ts'

/** An entry at a protected path of a workspace, or on the way to one. */
export interface ProtectedPlace {
  /** Relative to the workspace, spelled as on disk. */
  readonly path: string
  readonly kind: EntryKind
  /** Device and inode. */
  readonly id: string
  /** The target of a symbolic link. */
  readonly target: string | undefined
  /** Changes whenever the content changes. */
  readonly stamp: string
}

/**
 * The entries at these paths of a workspace, in any spelling that some file system treats as the same. Follows no links: a
 * link or file in place of a folder on the way is itself returned, since it decides where the path leads.
 */
export async function protectedPlaces(
  workspace: string,
  paths: readonly string[],
): Promise<readonly ProtectedPlace[]> {
  const root = await openRoot(workspace)
  try {
    return await placesAt(root, '', paths.map(foldedNames))
  } finally {
    await root.handle.close()
  }
}

/** Lists each folder once for all paths that lead through it. */
async function placesAt(
  folder: WalkedFolder,
  prefix: string,
  paths: readonly (readonly string[])[],
): Promise<readonly ProtectedPlace[]> {
  const byName = new Map<string, (readonly string[])[]>()
  for (const [first = '', ...rest] of paths) {
    byName.set(first, [...(byName.get(first) ?? []), rest])
  }
  const wildcards = [...byName.keys()].filter((name) => name.startsWith('*'))
  const found = await Promise.all(
    readdirSync(folder.base).map(async (name) => {
      const folded = foldedName(name)
      const ending = wildcards.filter((one) => folded.endsWith(one.slice(1)))
      const rests = [folded, ...ending].flatMap((one) => byName.get(one) ?? [])
      if (rests.length === 0) return []
      const place = placeAt(folder, prefix, name)
      if (place === undefined) return []
      if (place.kind !== 'folder') return [place]
      const deeper = rests.filter(({ length }) => length > 0)
      const inside = deeper.length === 0 ? [] : await below(folder, place.path, deeper)
      return deeper.length < rests.length ? [place, ...inside] : inside
    }),
  )
  return found.flat()
}

async function below(
  folder: WalkedFolder,
  path: string,
  names: readonly (readonly string[])[],
): Promise<readonly ProtectedPlace[]> {
  const inner = await enter(folder, path.slice(path.lastIndexOf('/') + 1))
  // Replaced since it was listed; the next scan sees the new entry.
  if (inner === 'missing' || 'target' in inner) return []
  try {
    return await placesAt(inner, `${path}/`, names)
  } finally {
    await inner.handle.close()
  }
}

function placeAt(folder: WalkedFolder, prefix: string, name: string): ProtectedPlace | undefined {
  try {
    const facts = lstatSync(folder.at(name), { bigint: true })
    const kind = kindOf(facts)
    const target = kind === 'symlink' ? readlinkSync(folder.at(name)) : undefined
    const stamp = `${facts.ctimeNs}:${facts.size}`
    return { path: prefix + name, kind, id: idOf(facts), target, stamp }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function foldedNames(path: string): string[] {
  return pathNames(path).map(foldedName)
}
