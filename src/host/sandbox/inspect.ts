import { realpath } from 'node:fs/promises'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from '../files/files.ts'
import { moveAside } from './watch/move-aside.ts'
import type { Confinement, Exit, RecordedPlace } from './confinement.ts'
import { gitDirectoriesOf } from './git/directories.ts'
import type { PreparedSandbox } from './plan.ts'
import {
  protectedChanges,
  namedBetween,
  rememberMade,
  watchOver,
  type ProtectedChange,
  type Watch,
} from './watch/watch.ts'

export type LeftBehind = Pick<Exit, 'appeared' | 'runsLater'>

export const NOTHING_LEFT: LeftBehind = { appeared: [], runsLater: [] }

/** Compares the protected paths with their state before the command, and moves away what must not stay. */
export async function settleWatch(
  watch: PreparedSandbox['watch'],
  { keep }: Pick<Confinement, 'keep'>,
): Promise<Result<LeftBehind>> {
  if (watch === undefined) return ok(NOTHING_LEFT)
  const { before, options } = watch
  return asHostResult('check protected paths', async () => {
    const after = await watchOver(before.root, options)
    const moved = await moveAside(before.root, protectedChanges(before, after, options), keep)
    if (!moved.ok) return moved
    rememberMade(before, after)
    const gone = new Set(moved.value)
    const runsLater = namedBetween(before, after).filter((path) => !gone.has(path))
    return ok({ appeared: moved.value, runsLater })
  })
}

/** The form in which a snapshot is recorded. */
export function recordedPlaces({ places }: Watch): RecordedPlace[] {
  return places.map(({ path, kind, id, target, stamp, held }) => ({
    path,
    kind,
    id,
    ...(target === undefined ? {} : { target }),
    ...(held ? {} : { stamp }),
  }))
}

/** Compares the protected paths with the state recorded before a command whose end was not observed. Moves nothing. */
export async function inspectSince(
  { workspace, protectedPaths }: Pick<Confinement, 'workspace' | 'protectedPaths'>,
  recorded: readonly RecordedPlace[],
): Promise<Result<readonly ProtectedChange[]>> {
  return asHostResult('check protected paths', async () => {
    const root = await realpath(workspace)
    const gitDirectories = await gitDirectoriesOf(root)
    const options = { paths: ['.hawser', ...protectedPaths], gitDirectories, skipped: ['.hawser'] }
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
        held: stamp === undefined,
        ...(git === undefined ? {} : { git }),
      }
    })
    return ok(protectedChanges({ root, places, named: new Map() }, after, options))
  })
}
