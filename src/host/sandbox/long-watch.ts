import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from '../files/files.ts'
import { inOrder } from '../in-order.ts'
import type { Confinement } from './confinement.ts'
import { recordedPlaces, settleWatch } from './inspect.ts'
import type { LeftByProcess } from './long-process.ts'
import type { PreparedSandbox } from './plan.ts'
import { watchOver, type Watch, type WatchedPlace } from './watch/watch.ts'

/** Repeated checks of the protected paths, for a process that lives long. Each check is relative to the one before. */
export interface LongWatch {
  /** Moves away what must not stay, and returns what was found since the last `take`. */
  take(): Promise<Result<LeftByProcess>>
  /** The process has stopped: checks, and keeps what it finds for the next `take`. */
  pause(): Promise<void>
  /** The process is about to continue: what appeared since `pause` is not its work. */
  resume(): Promise<void>
}

const NOTHING: LeftByProcess = { appearedPaths: [], runsLater: [], unprotectedPaths: [] }

export function watchLong(watch: PreparedSandbox['watch'], confinement: Confinement): LongWatch {
  if (watch === undefined) {
    return { take: async () => ok(NOTHING), pause: async () => {}, resume: async () => {} }
  }
  const { options } = watch
  const atStart = new Map(watch.before.places.map((place) => [place.path, place]))
  let before = watch.before
  let found = NOTHING
  let isChecked = true

  const snapshot = async (): Promise<Result<Watch>> =>
    asHostResult('check protected paths', async () => {
      const { places, ...rest } = await watchOver(before.root, options)
      return ok({ ...rest, places: places.map((place) => heldSince(atStart, place)) })
    })
  const renew = async (): Promise<Result<void>> => {
    const now = await snapshot()
    if (!now.ok) return now
    const recorded = await confinement.watching?.(recordedPlaces(now.value))
    if (recorded?.ok === false) return recorded
    before = now.value
    return ok(undefined)
  }
  const check = async (): Promise<Result<void>> => {
    isChecked = false
    const now = await snapshot()
    if (!now.ok) return now
    const lost = now.value.places.filter((place) => isReplaced(atStart, place))
    const left = await settleWatch({ before: withoutLost(before, lost), options }, confinement)
    if (!left.ok) return left
    found = {
      appearedPaths: union(found.appearedPaths, left.value.appearedPaths),
      runsLater: union(found.runsLater, left.value.runsLater),
      unprotectedPaths: lost.map(({ path }) => path),
    }
    const renewed = await renew()
    isChecked = renewed.ok
    return renewed
  }
  const take = async (): Promise<Result<LeftByProcess>> => {
    const checked = await check()
    if (!checked.ok) return checked
    const taken = found
    found = NOTHING
    return ok(taken)
  }
  const next = inOrder()
  return {
    take: () => next(take),
    pause: async () => void (await next(check)),
    resume: () =>
      next(async () => {
        // After a failed check, the next one still has to find what the process left.
        if (isChecked) await renew()
      }),
  }
}

/** Only what was mounted at the start, and is still the same file, is protected by the kernel. */
function heldSince(atStart: ReadonlyMap<string, WatchedPlace>, place: WatchedPlace): WatchedPlace {
  const was = atStart.get(place.path)
  // Only what git reads can be judged by its content; a person may edit the rest at any time.
  const isHeld = was?.isHeld === true && (place.git === undefined || was.id === place.id)
  return { ...place, isHeld }
}

function isReplaced(atStart: ReadonlyMap<string, WatchedPlace>, place: WatchedPlace): boolean {
  const was = atStart.get(place.path)
  return was?.isHeld === true && was.kind !== 'symlink' && was.id !== place.id
}

/** The snapshot with replaced git files as ones that the process could change. */
function withoutLost(before: Watch, lost: readonly WatchedPlace[]): Watch {
  const paths = new Set(lost.flatMap(({ git, path }) => (git === undefined ? [] : [path])))
  return {
    ...before,
    places: before.places.map((place) =>
      paths.has(place.path) ? { ...place, isHeld: false } : place,
    ),
  }
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])]
}
