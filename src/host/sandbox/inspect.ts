import { realpath } from 'node:fs/promises'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from '../files/files.ts'
import { checkFolder } from '../files/folder-identity.ts'
import { moveAside } from './watch/move-aside.ts'
import type { Confinement, Exit, RecordedPlace } from './confinement.ts'
import { gitDirectoriesOf } from './git/directories.ts'
import type { PreparedSandbox } from './plan.ts'
import { isHawserPath, isOfThisHome } from './watch/hawser-folders.ts'
import {
  protectedChanges,
  namedBetween,
  rememberMade,
  watchOver,
  type ProtectedChange,
  type Watch,
  type WatchOptions,
} from './watch/watch.ts'

export type LeftBehind = Pick<Exit, 'appearedPaths' | 'runsLater'>

export const NOTHING_LEFT: LeftBehind = { appearedPaths: [], runsLater: [] }

/** Compares the protected paths with their state before the command, and moves away what must not stay. */
export async function settleWatch(
  watch: PreparedSandbox['watch'],
  { keep, ofGuest = false }: Pick<Confinement, 'keep' | 'ofGuest'>,
): Promise<Result<LeftBehind>> {
  if (watch === undefined) return ok(NOTHING_LEFT)
  const { before, options } = watch
  return asHostResult('check protected paths', async () => {
    const { identity, gitDirectories } = options
    for (const one of [...(identity === undefined ? [] : [identity]), ...gitDirectories]) {
      const there = await checkFolder(one)
      if (!there.ok) return there
    }
    const after = await watchOver(before.root, options)
    const found = protectedChanges(before, after, options)
    const changes = withoutOwn(found, before.root, { ...options, ofGuest })
    const folders = { workspace: identity ?? before.root, gitDirectories }
    const moved = await moveAside(folders, changes, keep)
    if (!moved.ok) return moved
    rememberMade(before, after)
    const gone = new Set(moved.value)
    const runsLater = namedBetween(before, after).filter((path) => !gone.has(path))
    return ok({ appearedPaths: moved.value, runsLater })
  })
}

/** Leaves out a `.hawser` that another process of this home created meanwhile, or may have created; see `ofGuest`. */
function withoutOwn(
  changes: readonly ProtectedChange[],
  root: string,
  { hawserHome, ofGuest }: Pick<WatchOptions, 'hawserHome'> & { readonly ofGuest: boolean },
): readonly ProtectedChange[] {
  const isLeft = (path: string) =>
    isHawserPath(path) && ((ofGuest && path.includes('/')) || isOfThisHome(root, path, hawserHome))
  return changes.filter(({ path }) => !isLeft(path))
}

/** The form in which a snapshot is recorded. */
export function recordedPlaces({ places }: Watch): RecordedPlace[] {
  return places.map(({ path, kind, id, target, stamp, isHeld }) => ({
    path,
    kind,
    id,
    ...(target === undefined ? {} : { target }),
    ...(isHeld ? {} : { stamp }),
  }))
}

/** Compares the protected paths with the state recorded before a command whose end was not observed. Moves nothing. */
export async function inspectSince(
  {
    workspace,
    identity,
    home: hawserHome,
    protectedPaths,
    ofGuest = false,
  }: Pick<Confinement, 'workspace' | 'identity' | 'home' | 'protectedPaths' | 'ofGuest'>,
  recorded: readonly RecordedPlace[],
): Promise<Result<readonly ProtectedChange[]>> {
  return asHostResult('check protected paths', async () => {
    const found = identity === undefined ? undefined : await checkFolder(identity)
    if (found?.ok === false) return found
    const root = found?.value.path ?? (await realpath(workspace))
    const gitDirectories = await gitDirectoriesOf(root)
    const paths = ['.hawser', ...protectedPaths]
    const options = { paths, gitDirectories, skippedNames: ['.hawser'], hawserHome }
    const after = await watchOver(root, options)
    const now = new Map(after.places.map((place) => [place.path, place]))
    const places = recorded.map(({ path, kind, id, target, stamp }) => {
      const same = now.get(path)
      const git = same?.id === id && same.stamp === stamp ? same.git : undefined
      return {
        path,
        kind,
        id,
        target,
        stamp: stamp ?? '',
        isHeld: stamp === undefined,
        ...(git === undefined ? {} : { git }),
      }
    })
    const before = { root, places, namedFiles: new Map<string, string>() }
    return ok(withoutOwn(protectedChanges(before, after, options), root, { ...options, ofGuest }))
  })
}

/** Moves away what an inspection found, after a person agreed: by then, other folders may be at these paths. */
export async function moveFound(
  { workspace, identity }: Pick<Confinement, 'workspace' | 'identity'>,
  found: readonly ProtectedChange[],
  keep: Confinement['keep'],
): Promise<Result<readonly string[]>> {
  return asHostResult('move away changes at protected paths', async () => {
    const there = identity === undefined ? undefined : await checkFolder(identity)
    if (there?.ok === false) return there
    const gitDirectories = await gitDirectoriesOf(there?.value.path ?? (await realpath(workspace)))
    return moveAside({ workspace: identity ?? workspace, gitDirectories }, found, keep)
  })
}
