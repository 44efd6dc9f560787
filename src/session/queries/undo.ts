import { sha256 } from '../../encoding/hash.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { causeOf, failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { TurnId } from '../../model/ids.ts'
import { changedTurns, type ChangedTurn, type FileChange } from '../../history/file-changes.ts'
import {
  COMMAND_EVENTS,
  ranCommands,
  uncoveredLines,
  type RanCommand,
} from '../../history/ran-commands.ts'
import { bufferedFiles, type OpenBuffers } from '../../host/files/buffered-files.ts'
import { FILE_BYTES } from '../../host/files/confined-write.ts'
import { eventsOf } from '../reading/whole-session.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'

type FilesRestored = EventData<'files_restored'>
type RestoredFile = FilesRestored['files'][number]

export interface UndoResult extends FilesRestored {
  /** Commands of the Turn; what they changed is not recorded and stays. */
  readonly uncovered: readonly RanCommand[]
}

type UndoParts = Pick<SessionParts, 'log' | 'tools'>

/**
 * Restores the files that a Turn wrote or edited; without `turn`, of the last such Turn that is not yet undone, unless
 * commands ran since: what they changed is not recorded, so the person must name the older Turn. A file that changed since the Turn is left alone and reported. So is a file whose stored content is redacted, unless the
 * current keys restore its exact content. Can be repeated after a crash: files that are already restored count as
 * restored.
 */
export async function undoTurn(
  parts: UndoParts,
  session: LiveSession,
  turn?: TurnId,
): Promise<Result<UndoResult>> {
  return session.between(async ({ record }) => {
    const events = await changingEvents(parts.log, session)
    if (!events.ok) return events
    const ran = ranCommands(events.value)
    const chosen = chooseTurn(session, changedTurns(events.value), ran, turn)
    if (!chosen.ok) return chosen
    const { turn: undone_turn_id, files, number } = chosen.value
    const names = files.map(({ path }) => path).join(', ')
    const text = `Undoing the file changes of Turn ${number}: ${names}.`
    // The intention is durable before the first file changes.
    const intended = await record([notice('undo_began', text)])
    if (!intended.ok) return intended
    const restored: RestoredFile[] = []
    const buffers = parts.tools.buffers?.(session.id)
    for (const change of files) restored.push(await restore(parts, change, buffers))
    const data: FilesRestored = { undone_turn_id, files: restored, by: 'person' }
    const recorded = await record([{ type: 'files_restored', data }])
    const uncovered = ran.filter(({ turn_id }) => turn_id === undone_turn_id)
    return recorded.ok ? ok({ ...data, uncovered }) : recorded
  })
}

/** The Events of the whole Session about files that Turns changed, and about commands that could change any. */
export function changingEvents(
  log: SessionParts['log'],
  session: LiveSession,
): Promise<Result<readonly WholeEvent[]>> {
  const types = ['tool_result', 'files_restored', ...COMMAND_EVENTS] as const
  return eventsOf(log, session, types, (event) => {
    if (event.type === 'tool_call') return event.data.name === 'bash'
    return event.type !== 'tool_result' || event.data.after_blob !== undefined
  })
}

/** The Turn with this id, or the last one that can be undone. */
function chooseTurn(
  { id }: LiveSession,
  turns: readonly ChangedTurn[],
  ran: readonly RanCommand[],
  turn: TurnId | undefined,
): Result<ChangedTurn> {
  if (turn !== undefined) {
    const named = turns.find((one) => one.turn === turn)
    return named === undefined
      ? noChanges(ran.filter(({ turn_id }) => turn_id === turn))
      : ok(named)
  }
  const last = turns.findLast(({ isUndone }) => !isUndone)
  const since = ran.filter((one) => last === undefined || isAfter(one, last))
  if (last === undefined) {
    const nothing =
      'Nothing to undo: this Session has no file changes that are not already restored.'
    return failed('not_found', [nothing, ...uncoveredWords(since)].join(' '), { uncovered: since })
  }
  if (since.length === 0) return ok(last)
  const { number } = last
  const words = [
    ...uncoveredWords(since),
    `Nothing was undone. The last Turn with recorded file changes is Turn ${number}.`,
  ]
  const next = { action: `Undo Turn ${number} only.`, command: `hawser undo ${id} ${number}` }
  const refused = failed('not_found', words.join(' '), { turn: number, uncovered: since }, [next])
  return withCause(refused, { type: 'commands_since', turn: last.turn })
}

/** A command of the person after a Turn has the number of that Turn. */
function isAfter({ turn, by }: RanCommand, { number }: ChangedTurn): boolean {
  return by === 'person' ? turn >= number : turn > number
}

/** For a Turn that wrote and edited nothing. */
export function noChanges(ran: readonly RanCommand[]): Failed {
  const nothing = 'That Turn did not write or edit any files.'
  return failed('not_found', [nothing, ...uncoveredWords(ran)].join(' '), { uncovered: ran })
}

/** Which Turns ran commands, and which ones; empty without any. */
function uncoveredWords(ran: readonly RanCommand[]): string[] {
  if (ran.length === 0) return []
  return [`What these commands changed is not recorded: ${uncoveredLines(ran).join('; ')}.`]
}

async function restore(
  parts: UndoParts,
  change: FileChange,
  buffers: OpenBuffers | undefined,
): Promise<RestoredFile> {
  const { files } = parts.tools
  if (buffers !== undefined && (await isUnsaved(files, buffers, change)))
    return { ...change, outcome: 'changed_since' }
  return { ...change, ...(await restoredAs(parts, change)) }
}

/** What a person has typed and not saved is never replaced. */
async function isUnsaved(
  files: UndoParts['tools']['files'],
  buffers: OpenBuffers,
  { path }: FileChange,
): Promise<boolean> {
  const shown = await bufferedFiles(files, buffers).read(path, FILE_BYTES)
  return shown.ok && shown.value.isUnsaved === true
}

type FileOutcome = Pick<RestoredFile, 'outcome' | 'why'>

async function restoredAs(parts: UndoParts, change: FileChange): Promise<FileOutcome> {
  const { files } = parts.tools
  const { path, after_blob, redacted_of } = change
  const before = await exactBefore(parts.log, change)
  if (!before.ok) return { outcome: 'failed' }
  const now = await files.read(path, FILE_BYTES)
  if (!now.ok && now.error.kind !== 'not_found') return { outcome: 'failed' }
  const content = now.ok ? now.value.bytes : undefined
  if (isBefore(content, before.value, change)) return { outcome: 'restored' }
  const left = redacted_of?.after ?? after_blob
  if (content === undefined || !left.startsWith(sha256(content)))
    return { outcome: 'changed_since' }
  if (before.value === 'redacted') return { outcome: 'failed', why: 'redacted' }
  const expect = { sha256: sha256(content) }
  const done =
    before.value === undefined
      ? await files.remove(path, { expect, place: path })
      : await files.write(path, before.value, { expect, place: path })
  if (done.ok) return { outcome: 'restored' }
  return { outcome: causeOf(done.error)?.type === 'changed_since' ? 'changed_since' : 'failed' }
}

/** The previous content; `undefined` if the file did not exist; `redacted` if only a redacted copy is stored. */
export async function exactBefore(
  { store, secrets }: SessionParts['log'],
  { before_blob, redacted_of }: Pick<FileChange, 'before_blob' | 'redacted_of'>,
): Promise<Result<Buffer | 'redacted' | undefined>> {
  if (before_blob === undefined) return ok(undefined)
  const stored = await store.get(before_blob)
  const exact = redacted_of?.before
  if (!stored.ok || exact === undefined) return stored
  const found = new Redactor(secrets).restore(stored.value, (bytes) => sha256(bytes) === exact)
  return ok(found ?? 'redacted')
}

function isBefore(
  content: Buffer | undefined,
  before: Buffer | 'redacted' | undefined,
  { redacted_of }: FileChange,
): boolean {
  if (before !== 'redacted') return isSame(content, before)
  return content !== undefined && sha256(content) === redacted_of?.before
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b)
}
