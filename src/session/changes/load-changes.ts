import {
  fileHistory,
  snapshotPairs,
  type FileHistory,
  type SnapshotPair,
} from '../../history/file-changes.ts'
import {
  COMMAND_EVENTS,
  commandGaps,
  ranCommands,
  type CommandGaps,
  type RanCommand,
} from '../../history/ran-commands.ts'
import type { Snapshots } from '../../host/snapshots/snapshots.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { PathChange } from '../../model/events/snapshot-entry.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { eventsOf } from '../reading/whole-session.ts'

/** What a Session changed in the workspace. */
export interface SessionChanges extends FileHistory {
  /** Commands whose changes are not known. */
  readonly uncoveredCommands: readonly RanCommand[]
  /** What the snapshots around the others do not cover. */
  readonly gaps: readonly CommandGaps[]
}

/** Reads the Events of the whole Session about changed files, and the snapshots that they name. */
export async function loadChanges(
  log: SessionParts['log'],
  open: SessionParts['tools']['snapshots'],
  session: LiveSession,
): Promise<Result<SessionChanges>> {
  const types = ['tool_result', 'files_restored', ...COMMAND_EVENTS] as const
  const events = await eventsOf(log, session, types, isNeeded)
  if (!events.ok) return events
  const pairs = snapshotPairs(events.value)
  const found = new Map<string, readonly PathChange[]>()
  // Most Sessions need no snapshot.
  const snapshots = pairs.length === 0 ? undefined : await open?.()
  for (const pair of snapshots === undefined ? [] : pairs) {
    const changes = await snapshots?.changes(...pair)
    if (changes?.ok === true) found.set(keyOf(pair), changes.value)
  }
  const changesOf = (pair: SnapshotPair) => found.get(keyOf(pair))
  const uncoveredCommands = ranCommands(events.value, ({ before, after }) => {
    const isKnown = before === after || found.has(keyOf([before ?? '', after ?? '']))
    return !isKnown
  })
  const history = fileHistory(events.value, changesOf)
  return ok({ ...history, uncoveredCommands, gaps: commandGaps(events.value) })
}

/** The content of a file in a snapshot. */
export type ContentOf = (sha256: string) => Promise<Buffer | undefined>

export function contentFrom(open: (() => Promise<Snapshots>) | undefined): ContentOf {
  return async (sha256) => (await open?.())?.content(sha256)
}

function isNeeded(event: WholeEvent): boolean {
  if (event.type === 'tool_call') return event.data.name === 'bash'
  return event.type !== 'tool_result' || event.data.after_blob !== undefined
}

function keyOf([before, after]: SnapshotPair): string {
  return `${before} ${after}`
}
