import { realpath } from 'node:fs/promises'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from '../files/files.ts'
import { moveAside } from './watch/move-aside.ts'
import type { Confinement, Exit, RecordedPlace } from './confinement.ts'
import { gitDirectoriesOf } from './git/directories.ts'
import type { PreparedSandbox } from './plan.ts'
import {
  findingsBetween,
  namedBetween,
  rememberMade,
  watchOver,
  type Finding,
  type Watch,
} from './watch/watch.ts'

export type LeftBehind = Pick<Exit, 'appeared' | 'runsLater'>

export const NOTHING_LEFT: LeftBehind = { appeared: [], runsLater: [] }

/** Looks at what a command left behind and moves aside what cannot stay. */
export async function settleWatch(
  watch: PreparedSandbox['watch'],
  { keep }: Pick<Confinement, 'keep'>,
): Promise<Result<LeftBehind>> {
  if (watch === undefined) return ok(NOTHING_LEFT)
  const { before, options } = watch
  return asHostResult('look at protected paths', async () => {
    const after = await watchOver(before.root, options)
    const moved = await moveAside(before.root, findingsBetween(before, after, options), keep)
    if (!moved.ok) return moved
    rememberMade(before, after)
    const gone = new Set(moved.value)
    const runsLater = namedBetween(before, after).filter((path) => !gone.has(path))
    return ok({ appeared: moved.value, runsLater })
  })
}

/** A look in the form in which it is recorded. */
export function recordedPlaces({ places }: Watch): RecordedPlace[] {
  return places.map(({ path, kind, id, target, stamp, held }) => ({
    path,
    kind,
    id,
    ...(target === undefined ? {} : { target }),
    ...(held ? {} : { stamp }),
  }))
}

/** What differs at protected paths from what was recorded before a command whose end nobody saw. Moves nothing. */
export async function inspectSince(
  { workspace, protectedPaths }: Pick<Confinement, 'workspace' | 'protectedPaths'>,
  recorded: readonly RecordedPlace[],
): Promise<Result<readonly Finding[]>> {
  return asHostResult('look at protected paths', async () => {
    const root = await realpath(workspace)
    const gitDirectories = await gitDirectoriesOf(root)
    const options = { paths: ['.hawser', ...protectedPaths], gitDirectories, left: ['.hawser'] }
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
    return ok(findingsBetween({ root, places, named: new Map() }, after, options))
  })
}
