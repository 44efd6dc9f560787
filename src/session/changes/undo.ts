import { composeSteps, type ChangeUnit, type ComposedChange } from '../../history/file-changes.ts'
import {
  notCovered,
  notCoveredWords,
  uncoveredLines,
  type CommandGaps,
  type NotCovered,
  type RanCommand,
} from '../../history/ran-commands.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { TurnId } from '../../model/ids.ts'
import { readablePath } from '../../model/events/snapshot-entry.ts'
import { commandSnapshots } from '../commands/command-snapshots.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { LockedSession } from '../live/locked-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { loadChanges, type SessionChanges } from './load-changes.ts'
import { restoreFiles } from './restore-files.ts'

type FilesRestored = EventData<'files_restored'>

export interface UndoOptions {
  /** Default: the last Turn, or command of the person, that changed something and is not undone. */
  readonly turn?: TurnId | undefined
  /** Restores the state before `turn`: also everything after it is undone. */
  readonly onwards?: boolean | undefined
  /** Also restores files that something else changed since. */
  readonly force?: boolean | undefined
}

export interface UndoResult extends FilesRestored {
  /** Commands whose changes are not known and stay. */
  readonly uncovered: readonly RanCommand[]
  /** Paths that the snapshots around the others do not cover. */
  readonly notCovered: NotCovered
}

type UndoParts = Pick<SessionParts, 'log' | 'tools'>

/**
 * Restores the files that a Turn changed, by tools or by commands. Never goes back silently to an older Turn: if a command ran
 * since whose changes are not known, the person must name the Turn. A file that something else changed since is left alone and
 * reported, unless forced. Can be repeated after a crash: files that are already restored count as restored.
 */
export async function undoChanges(
  parts: UndoParts,
  session: LiveSession,
  options: UndoOptions = {},
): Promise<Result<UndoResult>> {
  return session.between(async (locked) => {
    const changes = await settledChanges(parts, session, locked)
    if (!changes.ok) return changes
    const chosen = chooseChanges(session, changes.value, options)
    if (!chosen.ok) return chosen
    const { of, changes: composed, uncoveredCommands: uncovered, gaps, name } = chosen.value
    const doing = { code: 'undo_began', what: `Undoing the file changes of ${name}` }
    const done = await restoreNamed(parts, session, locked.record, { ...options, doing }, composed)
    if (!done.ok) return done
    const data: FilesRestored = { ...of, ...done.value, by: 'person' }
    const recorded = await locked.record([{ type: 'files_restored', data }])
    return recorded.ok ? ok({ ...data, uncovered, notCovered: notCovered(gaps) }) : recorded
  })
}

/** Reverses the last undo, unless files were changed since. */
export async function redoChanges(
  parts: UndoParts,
  session: LiveSession,
  { force }: Pick<UndoOptions, 'force'> = {},
): Promise<Result<UndoResult>> {
  return session.between(async (locked) => {
    const changes = await settledChanges(parts, session, locked)
    if (!changes.ok) return changes
    const { redoable } = changes.value
    if (redoable === undefined)
      return failed(
        'not_found',
        'Nothing to redo: no undo, or files were changed since the last one.',
      )
    const snapshots = await openSnapshots(parts)
    if (!snapshots.ok) return snapshots
    for (const pair of redoable.pairs) {
      const stored = await snapshots.value.changes(...pair)
      if (!stored.ok) return stored
    }
    const composed = composeSteps(redoable.steps).map((change) => {
      return { ...change, isInterrupted: false }
    })
    const doing = { code: 'redo_began', what: 'Redoing the file changes that were undone last' }
    const done = await restoreNamed(parts, session, locked.record, { force, doing }, composed)
    if (!done.ok) return done
    const data: FilesRestored = { ...redoable.of, redo: true, ...done.value, by: 'person' }
    const recorded = await locked.record([{ type: 'files_restored', data }])
    return recorded.ok ? ok({ ...data, uncovered: [], notCovered: notCovered([]) }) : recorded
  })
}

/** What the Session changed, with what a command changed that was killed together with Hawser. */
export async function settledChanges(
  { log, tools }: UndoParts,
  session: LiveSession,
  { publish, record, signal }: LockedSession,
): Promise<Result<SessionChanges>> {
  const recorder = { publish, record, signal, events: () => session.events }
  const settled = await commandSnapshots({ log, tools }, recorder).settleSnapshots?.()
  if (settled?.ok === false) return settled
  return loadChanges(log, tools.snapshots, session)
}

interface UndoPlan {
  readonly of: Pick<FilesRestored, 'undone_turn_id' | 'undone_command_id' | 'onwards'>
  readonly name: string
  readonly changes: readonly ComposedChange[]
  readonly uncoveredCommands: readonly RanCommand[]
  readonly gaps: readonly CommandGaps[]
}

function chooseChanges(
  session: LiveSession,
  changes: SessionChanges,
  { turn, onwards = false }: UndoOptions,
): Result<UndoPlan> {
  if (turn !== undefined && onwards) return fromTurn(changes, turn)
  const unit = turn === undefined ? lastUnit(session, changes) : unitOf(changes, turn)
  if (!unit.ok) return unit
  const { number, command_id, turn: undone_turn_id, steps } = unit.value
  const isOwn = undone_turn_id === undefined
  return ok({
    of: isOwn ? { undone_command_id: command_id ?? '' } : { undone_turn_id },
    name: isOwn ? `your command after Turn ${number}` : `Turn ${number}`,
    changes: composeSteps(steps),
    uncoveredCommands: changes.uncoveredCommands.filter(
      ({ turn_id }) => !isOwn && turn_id === undone_turn_id,
    ),
    // The last change may be an older one, because what a later command changed is not covered.
    gaps: changes.gaps.filter(
      ({ key, turn: at }) =>
        key === undone_turn_id || key === command_id || (turn === undefined && at > number),
    ),
  })
}

function unitOf(
  { units, uncoveredCommands: uncovered, gaps }: SessionChanges,
  turn: TurnId,
): Result<ChangeUnit> {
  const named = units.find((one) => one.turn === turn)
  if (named !== undefined) return ok(named)
  return noChanges(
    uncovered.filter(({ turn_id }) => turn_id === turn),
    gaps.filter(({ key }) => key === turn),
  )
}

function fromTurn(
  { numberOf, stepsSince, uncoveredCommands: uncovered, gaps }: SessionChanges,
  turn: TurnId,
): Result<UndoPlan> {
  const number = numberOf(turn)
  if (number === undefined) return noChanges([])
  return ok({
    of: { undone_turn_id: turn, onwards: true },
    name: `Turn ${number} and everything after it`,
    changes: composeSteps(stepsSince(number)),
    uncoveredCommands: uncovered.filter((one) => one.turn >= number),
    gaps: gaps.filter((one) => one.turn >= number),
  })
}

/** The last unit that can be undone. */
function lastUnit(
  { id }: LiveSession,
  { units, uncoveredCommands: uncovered, gaps }: SessionChanges,
): Result<ChangeUnit> {
  const last = units.findLast(({ isUndone }) => !isUndone)
  const since = uncovered.filter((one) => last === undefined || isAfter(one, last))
  if (last === undefined) {
    const nothing =
      'Nothing to undo: this Session has no file changes that are not already restored.'
    const words = [nothing, ...uncoveredWords(since), ...gapWords(gaps)]
    return failed('not_found', words.join(' '), { uncovered: since })
  }
  if (since.length === 0 || last.turn === undefined) return ok(last)
  const { number, turn } = last
  const words = [
    ...uncoveredWords(since),
    `Nothing was undone. The last Turn with recorded file changes is Turn ${number}.`,
  ]
  const next = { action: `Undo Turn ${number} only.`, command: `hawser undo ${id} ${number}` }
  const refused = failed('not_found', words.join(' '), { turn: number, uncovered: since }, [next])
  return withCause(refused, { type: 'commands_since', turn })
}

/** A command of the person after a Turn has the number of that Turn. */
function isAfter({ turn, by }: RanCommand, { number }: ChangeUnit): boolean {
  return by === 'person' ? turn >= number : turn > number
}

/** For a Turn that changed nothing. */
export function noChanges(ran: readonly RanCommand[], gaps: readonly CommandGaps[] = []): Failed {
  const words = ['That Turn did not change any files.', ...uncoveredWords(ran), ...gapWords(gaps)]
  return failed('not_found', words.join(' '), { uncovered: ran })
}

function gapWords(gaps: readonly CommandGaps[]): string[] {
  const words = notCoveredWords(notCovered(gaps))
  return words === '' ? [] : [words]
}

/** Which Turns ran commands, and which ones; empty without any. */
function uncoveredWords(ran: readonly RanCommand[]): string[] {
  if (ran.length === 0) return []
  return [`What these commands changed is not recorded: ${uncoveredLines(ran).join('; ')}.`]
}

interface Restoring extends Pick<UndoOptions, 'force'> {
  readonly doing: { readonly code: string; readonly what: string }
}

/** The intention is durable before the first file changes. */
async function restoreNamed(
  { log, tools }: UndoParts,
  session: LiveSession,
  record: LockedSession['record'],
  { force = false, doing: { code, what } }: Restoring,
  changes: readonly ComposedChange[],
): ReturnType<typeof restoreFiles> {
  const snapshots = await openSnapshots({ tools })
  if (!snapshots.ok) return snapshots
  const intended = await record([notice(code, `${what}: ${namedPaths(changes)}.`)])
  if (!intended.ok) return intended
  const parts = { log, tools, snapshots: snapshots.value, session: session.id, force }
  return restoreFiles(parts, changes)
}

const NAMED = 20

/** Some of the paths, and how many more there are. */
export function namedPaths(changes: readonly ComposedChange[]): string {
  const files = changes.filter(({ from, to }) => (from ?? to)?.kind !== 'folder')
  const named = (files.length === 0 ? changes : files).map(({ path }) => readablePath(path))
  const more = named.length - NAMED
  return named.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Refused where a host opened the workspace without any. */
export async function openSnapshots({ tools }: Pick<UndoParts, 'tools'>) {
  if (tools.snapshots !== undefined) return ok(await tools.snapshots())
  return failed('internal', 'This workspace was opened without snapshots.')
}
