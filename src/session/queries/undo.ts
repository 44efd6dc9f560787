import { sha256 } from '../../encoding/hash.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { causeOf, failed, ok, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { TurnId } from '../../model/ids.ts'
import { changedTurns, type ChangedTurn, type FileChange } from '../../history/file-changes.ts'
import { bufferedFiles, type OpenBuffers } from '../../host/files/buffered-files.ts'
import { FILE_BYTES } from '../../host/files/confined-write.ts'
import { eventsOf } from '../reading/whole-session.ts'
import type { Session } from '../live/session.ts'
import type { SessionParts } from '../live/session-parts.ts'

export type UndoResult = EventData<'files_restored'>
type RestoredFile = UndoResult['files'][number]
type UndoParts = Pick<SessionParts, 'log' | 'tools'>

/**
 * Restores the files that a Turn wrote or edited; without `turn`, of the last such Turn that is not yet undone. A file
 * that changed since the Turn is left alone and reported. So is a file whose stored content is redacted, unless the
 * current keys restore its exact content. Can be repeated after a crash: files that are already restored count as
 * restored.
 */
export async function undoTurn(
  parts: UndoParts,
  session: Session,
  turn?: TurnId,
): Promise<Result<UndoResult>> {
  return session.between(async (record) => {
    const events = await changingEvents(parts.log, session)
    if (!events.ok) return events
    const chosen = chooseTurn(changedTurns(events.value), turn)
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
    const data: UndoResult = { undone_turn_id, files: restored, by: 'person' }
    const recorded = await record([{ type: 'files_restored', data }])
    return recorded.ok ? ok(data) : recorded
  })
}

/** The Events of the whole Session that tell which files Turns changed. */
export function changingEvents(
  log: SessionParts['log'],
  session: Session,
): Promise<Result<readonly WholeEvent[]>> {
  const types = ['turn_started', 'tool_result', 'files_restored'] as const
  return eventsOf(log, session, types, (event) => {
    return event.type !== 'tool_result' || event.data.after_blob !== undefined
  })
}

/** The Turn with this id, or the last one that can be undone. */
function chooseTurn(turns: readonly ChangedTurn[], turn: TurnId | undefined): Result<ChangedTurn> {
  const chosen =
    turn === undefined
      ? turns.findLast(({ undone }) => !undone)
      : turns.find((one) => one.turn === turn)
  if (chosen !== undefined) return ok(chosen)
  const text =
    turn === undefined
      ? 'Nothing to undo: this Session has no file changes that are not already restored.'
      : 'That Turn did not change any files.'
  return failed('not_found', text)
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
  return shown.ok && shown.value.unsaved === true
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
async function exactBefore(
  { store, secrets }: SessionParts['log'],
  { before_blob, redacted_of }: FileChange,
): Promise<Result<Buffer | 'redacted' | undefined>> {
  if (before_blob === undefined) return ok(undefined)
  const stored = await store.get(before_blob)
  const exact = redacted_of?.before
  if (!stored.ok || exact === undefined) return stored
  const found = new Redactor(secrets).restored(stored.value, (bytes) => sha256(bytes) === exact)
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
