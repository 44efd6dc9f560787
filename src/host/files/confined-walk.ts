import { fstatSync, statSync } from 'node:fs'
import { foldedName, isHawserName } from '../../model/safety/folded-name.ts'
import { failed, ok, withCause, type Result } from '../../model/errors.ts'
import {
  pathNames,
  absent,
  liesIn,
  outside,
  segmentsBelow,
  segmentsOf,
  shownPath,
  untouchable,
} from './confined-path.ts'
import { enter, idOf, whereIs, type WalkedFolder } from './walked-folder.ts'

/** An open workspace and the paths in it that are never accessed. */
export interface Ground {
  readonly root: WalkedFolder
  /** The path of the root when it was opened, in every spelling that may start an absolute path; the real one first. */
  readonly spellings: readonly [string, ...string[]]
  /** Absolute folders that are never accessed. */
  readonly refuse: readonly string[]
  /** Those below the root, as folded names. Every `.hawser` is refused besides. */
  readonly refusedNames: readonly (readonly string[])[]
}

/** Where a path leads: an open folder, and a name in it that is not opened yet. */
export interface WalkedPlace {
  readonly folder: WalkedFolder
  /** Absent for the root itself. */
  readonly name: string | undefined
  /** Relative path of `name`, with links on the way resolved; `.` for the root. */
  readonly relative: string
}

/**
 * Walks from the root to the folder that contains `path` and runs `work` there. Each step opens one name in an open folder
 * and follows no link; a link on the way is read, and its target is walked in the same way. So a walk that reaches its
 * end has neither left the workspace nor accessed anything outside it, whatever was swapped meanwhile.
 */
export async function atPlace<T>(
  ground: Ground,
  path: string,
  folders: 'open' | 'make',
  work: (place: WalkedPlace) => Promise<Result<T>>,
): Promise<Result<T>> {
  return walking(ground, path, async (walk) => {
    const arrived = folders === 'make' ? await makeMissing(walk) : ok(undefined)
    if (!arrived.ok) return arrived
    if (walk.missing.length > 0) return absent(path)
    const folder = walk.trail.at(-1) ?? ground.root
    const stays = await inGround(ground, path, folder)
    return stays.ok ? work({ folder, name: walk.name, relative: relativeOf(walk) }) : stays
  })
}

/** The `relative` of a path, also of a missing one. Opens nothing at its end. */
export async function relativePath(ground: Ground, path: string): Promise<Result<string>> {
  return walking(ground, path, async (walk) => ok(relativeOf(walk)))
}

/** Fails when the file opened for `path` is outside the workspace or must not be accessed. */
export async function inGround(
  { spellings, refuse, refusedNames }: Ground,
  path: string,
  {
    handle: { fd },
    path: walked,
  }: { readonly handle: { readonly fd: number }; readonly path: string },
): Promise<Result<void>> {
  const where = await whereIs(fd, walked)
  const [root] = spellings
  if (where === undefined || !liesIn(where, root)) return outside(path)
  const id = idOf(fstatSync(fd, { bigint: true }))
  const refused =
    isRefused(refusedNames, where.slice(root.length).split('/')) || idsOf(refuse).has(id)
  return refused ? untouchable(path) : ok(undefined)
}

/**
 * Whether names below the root lead to or into a folder that is never accessed. A `.hawser` at any depth may belong to
 * another workspace.
 */
export function isRefused(refusedNames: Ground['refusedNames'], names: readonly string[]): boolean {
  if (names.some(isHawserName)) return true
  const folded = names.filter((name) => name !== '').map(foldedName)
  return refusedNames.some((refused) => segmentsBelow(folded, refused) !== undefined)
}

/** The Linux limit on links, and limits on open folders and steps that no ordinary path reaches. */
const MOST_LINKS = 40
const MOST_DEEP = 128
const MOST_STEPS = 1_000

interface Walk {
  readonly ground: Ground
  readonly path: string
  /** The open folders below the root, and their names. */
  readonly trail: WalkedFolder[]
  readonly names: string[]
  /** The rest of the path: folders that do not exist. */
  readonly missing: string[]
  readonly name: string | undefined
  readonly refusedIds: ReadonlySet<string>
}

async function walking<T>(
  ground: Ground,
  path: string,
  work: (walk: Walk) => Promise<Result<T>>,
): Promise<Result<T>> {
  const segments = segmentsOf(path, ground.spellings)
  if (!segments.ok) return segments
  if (isRefused(ground.refusedNames, segments.value)) return untouchable(path)
  const name = segments.value.at(-1)
  const refusedIds = idsOf(ground.refuse)
  const walk: Walk = { ground, path, trail: [], names: [], missing: [], name, refusedIds }
  try {
    const went = await go(walk, segments.value.slice(0, -1))
    if (!went.ok) return went
    const names = relativeOf(walk).split('/')
    return isRefused(ground.refusedNames, names) ? untouchable(path) : await work(walk)
  } finally {
    await Promise.all(walk.trail.map(({ handle }) => handle.close()))
  }
}

/** A name still to walk; `isPlanted` if it came from a link and not from the caller. */
interface Step {
  readonly name: string
  readonly isPlanted: boolean
}

async function go(walk: Walk, segments: readonly string[]): Promise<Result<void>> {
  const { ground, path, trail, missing } = walk
  const steps: Step[] = segments.map((name) => ({ name, isPlanted: false }))
  let [links, taken] = [0, 0]
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    taken += 1
    if (taken > MOST_STEPS) return tooFar(path)
    if (step.name === '' || step.name === '.') continue
    if (step.name === '..') {
      if (!(await goBack(walk))) return outside(path)
      continue
    }
    // Also if it comes from a link, or is one: then the end of the walk would not show it.
    if (isHawserName(step.name)) return untouchable(path)
    const found = await enter(trail.at(-1) ?? ground.root, step.name)
    if (found === 'missing') {
      if (step.isPlanted) return absent(path)
      missing.push(step.name, ...steps.map(({ name }) => name))
      return ok(undefined)
    }
    if ('target' in found) {
      links += 1
      const names = links > MOST_LINKS ? undefined : await follow(walk, found.target)
      if (names === undefined) return links > MOST_LINKS ? endless(path) : outside(path)
      steps.unshift(...names.map((name) => ({ name, isPlanted: true })))
      continue
    }
    const arrived = await arrive(walk, found, step.name)
    if (!arrived.ok) return arrived
  }
  return ok(undefined)
}

async function arrive(walk: Walk, folder: WalkedFolder, name: string): Promise<Result<void>> {
  walk.trail.push(folder)
  walk.names.push(name)
  if (walk.trail.length > MOST_DEEP) return tooFar(walk.path)
  return walk.refusedIds.has(await folder.id()) ? untouchable(walk.path) : ok(undefined)
}

/** Returns to the folder the walk came from, which may differ from what the system now considers its parent. */
async function goBack({ trail, names }: Walk): Promise<boolean> {
  names.pop()
  const left = trail.pop()
  await left?.handle.close()
  return left !== undefined
}

/** The target of a link, as names to walk. An absolute target must start with the root. */
async function follow(walk: Walk, target: string): Promise<readonly string[] | undefined> {
  if (!target.startsWith('/')) return target.split('/')
  const names = pathNames(target)
  const below = walk.ground.spellings.map((root) => segmentsBelow(names, pathNames(root)))
  while (await goBack(walk));
  return below.find((rest) => rest !== undefined)
}

async function makeMissing(walk: Walk): Promise<Result<void>> {
  const { ground, path, trail, missing } = walk
  for (let name = missing.shift(); name !== undefined; name = missing.shift()) {
    const folder = trail.at(-1) ?? ground.root
    await folder.make(name)
    const found = await enter(folder, name)
    if (found === 'missing') return absent(path)
    if ('target' in found) return endless(path)
    const arrived = await arrive(walk, found, name)
    if (!arrived.ok) return arrived
  }
  return ok(undefined)
}

function relativeOf({ names, missing, name }: Walk): string {
  return [...names, ...missing, ...(name === undefined ? [] : [name])].join('/') || '.'
}

function tooFar(path: string) {
  const message = `${shownPath(path)} passes through too many folders.`
  return failed('invalid_args', message, { reason: 'path' })
}

function endless(path: string) {
  const message = `${shownPath(path)} follows too many symbolic links or a broken one.`
  const refused = failed('not_regular_file', message, { found: 'symlink' })
  return withCause(refused, { type: 'found', entry: 'symlink' })
}

/**
 * Names alone are not enough: a file system may ignore case, and a folder may be mounted twice. Synchronous, because this
 * runs at each step of each walk, and a thread would cost ten times as much.
 */
function idsOf(folders: readonly string[]): ReadonlySet<string> {
  return new Set(folders.flatMap(idsAt))
}

function idsAt(folder: string): string[] {
  try {
    const there = statSync(folder, { bigint: true, throwIfNoEntry: false })
    return there === undefined ? [] : [idOf(there)]
  } catch {
    return []
  }
}
