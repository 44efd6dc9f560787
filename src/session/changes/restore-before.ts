import { composeSteps, type ComposedChange } from '../../history/file-changes.ts'
import { notCovered, type NotCovered, type RanCommand } from '../../history/ran-commands.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import type { TurnId } from '../../model/ids.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { LockedSession } from '../live/locked-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { filesOf, plansOf, restoreFiles, type RestoreParts } from './restore-files.ts'
import { namedPaths, openSnapshots, settledChanges } from './undo.ts'

/** What to do with files that something else changed since: nothing at all, leave them, or overwrite them. */
export type ConflictChoice = 'refuse' | 'leave' | 'overwrite'

/** What restoring the files to before a Turn would do. */
export interface FilesBefore {
  readonly changes: readonly ComposedChange[]
  /** For people: some of the paths that changed. */
  readonly names: string
  /** What something else changed since, as far as it is known now. */
  readonly conflicts: readonly string[]
  /** Commands since then whose changes are not known, and stay. */
  readonly commands: readonly RanCommand[]
  /** Paths that the snapshots around the others do not cover. */
  readonly notCovered: NotCovered
}

type Parts = Pick<SessionParts, 'log' | 'tools'>

/** Reads what the Session changed since a Turn began, inherited Turns included, and what is in those files now. */
export async function filesBefore(
  parts: Parts,
  session: LiveSession,
  locked: LockedSession,
  turn: TurnId,
): Promise<Result<FilesBefore>> {
  const loaded = await settledChanges(parts, session, locked)
  if (!loaded.ok) return loaded
  const { numberOf, stepsSince, uncoveredCommands, gaps } = loaded.value
  const number = numberOf(turn) ?? Infinity
  const changes = composeSteps(stepsSince(number))
  const commands = uncoveredCommands.filter((ran) => ran.turn >= number)
  const known = { commands, notCovered: notCovered(gaps.filter((one) => one.turn >= number)) }
  const names = namedPaths(changes)
  if (changes.length === 0) return ok({ changes, names, conflicts: [], ...known })
  const opened = await restoreParts(parts, session, 'refuse')
  if (!opened.ok) return opened
  const plans = await plansOf(opened.value, changes)
  if (!plans.ok) return plans
  const conflicts = filesOf(plans.value, new Map()).flatMap(({ path, outcome }) =>
    outcome === 'changed_since' ? [path] : [],
  )
  return ok({ changes, names, conflicts, ...known })
}

/** Why files are not restored without asking; `undefined` if nothing else changed them. */
export function changedSince({ conflicts: paths }: FilesBefore): Failed | undefined {
  if (paths.length === 0) return undefined
  const message = `Nothing was restored, because these files were changed by something else since: ${paths.join(', ')}.`
  const refused = failed('no_match', message, { files: paths }, [
    { action: 'Compare the files with what the Turns changed, or choose what happens to them.' },
  ])
  return withCause(refused, { type: 'files_changed', paths: [...paths] })
}

/** Restores the files. `conflicts` says what happens to those that something else changed. Can be repeated after a crash. */
export async function restoreBefore(
  parts: Parts,
  session: Pick<LiveSession, 'id'>,
  { changes }: FilesBefore,
  conflicts: ConflictChoice,
): ReturnType<typeof restoreFiles> {
  const opened = await restoreParts(parts, session, conflicts)
  return opened.ok ? restoreFiles(opened.value, changes) : opened
}

async function restoreParts(
  { log, tools }: Parts,
  { id: session }: Pick<LiveSession, 'id'>,
  conflicts: ConflictChoice,
): Promise<Result<RestoreParts>> {
  const snapshots = await openSnapshots({ tools })
  if (!snapshots.ok) return snapshots
  const force = conflicts === 'overwrite'
  return ok({ log, tools, snapshots: snapshots.value, session, force })
}
