import { createHash } from 'node:crypto'
import { lstatSync, type BigIntStats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isHawserName } from '../../../model/safety/folded-name.ts'
import { kindOf } from '../../files/confined-read.ts'
import { idOf } from '../../files/walked-folder.ts'
import { isOwn, originOf } from '../../workspaces/origin.ts'
import type { ProtectedPlace } from './protected-places.ts'
import { entryNames, linkTarget } from '../../files/look.ts'

/**
 * The time bubblewrap needs grows with the square of the number of folders that it binds. So only this many nested `.hawser`
 * folders are held, that is, neither they nor a folder on the way can be moved: those of this home first, then those nearest
 * to the root.
 */
export const MOST_HELD = 24

/**
 * Further ones are only covered, which needs no bind. One that is moved stays covered, and what takes its place is found when
 * the command ends. Beyond this number, a change is found when the command ends.
 */
export const MOST_COVERED = 1_000

/** A `.hawser` below the root of a workspace: that of another workspace, or planted. */
export interface HawserFolder extends ProtectedPlace {
  /** The sandbox hides it, and no command can move it. */
  readonly isHeld: boolean
  /** The sandbox hides it, although a command can move it. */
  readonly isCovered?: true
}

/** The entries at these paths, each called `.hawser` in some spelling. `hawserHome` decides which of them are ours. */
export function hawserFolders(
  root: string,
  paths: readonly string[],
  hawserHome: string,
): readonly HawserFolder[] {
  const places = paths.flatMap((path) => placeAt(root, path))
  if (places.length <= MOST_HELD) return places.map((place) => ({ ...place, isHeld: true }))
  const ranked = places
    .map((place) => ({ place, rank: rankOf(root, place, hawserHome) }))
    .toSorted((a, b) => a.rank - b.rank)
  return ranked.map(({ place }, at) => {
    if (at < MOST_HELD) return { ...place, isHeld: true }
    // A file is hidden by a bind.
    if (at < MOST_COVERED && place.kind === 'folder')
      return { ...place, isHeld: false, isCovered: true, stamp: '' }
    return { ...place, isHeld: false, ...contents(root, place) }
  })
}

/** Whether a path ends in a `.hawser`, at any depth. */
export function isHawserPath(path: string): boolean {
  return isHawserName(path.slice(path.lastIndexOf('/') + 1))
}

/** Whether another process of this home created the `.hawser` at a path: then it stays, although it is new. */
export function isOfThisHome(root: string, path: string, hawserHome: string): boolean {
  const at = resolve(root, path)
  const facts = preciseFacts(at)
  const isPrivate = facts?.isDirectory() === true && (facts.mode & 0o777n) === 0o700n
  return isPrivate && at.endsWith('/.hawser') && isOwn(originOf(dirname(at), hawserHome))
}

const DEEP = 10_000

function rankOf(root: string, { path }: ProtectedPlace, hawserHome: string): number {
  const depth = path.split('/').length
  return isOfThisHome(root, path, hawserHome) ? depth : DEEP + depth
}

function placeAt(root: string, path: string): ProtectedPlace[] {
  const at = resolve(root, path)
  const facts = preciseFacts(at)
  if (facts === undefined) return []
  const kind = kindOf(facts)
  const target = kind === 'symlink' ? linkTarget(at) : undefined
  return [{ path, kind, id: idOf(facts), target, stamp: `${facts.ctimeNs}:${facts.size}` }]
}

/** A stamp over the settings and Logs of a folder that is not hidden. */
function contents(root: string, { path, kind, stamp }: ProtectedPlace): { readonly stamp: string } {
  if (kind !== 'folder') return { stamp }
  const at = resolve(root, path)
  const own = ['', 'config.json', 'sessions'].map((name) => join(at, name))
  const logs = entryNames(join(at, 'sessions'))
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => join(at, 'sessions', name))
  const stamps = [...own, ...logs].map((file) => {
    const facts = preciseFacts(file)
    return facts === undefined ? '' : `${facts.ino}:${facts.ctimeNs}`
  })
  return { stamp: createHash('sha256').update(stamps.join(' ')).digest('hex').slice(0, 32) }
}

function preciseFacts(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
