import { sha256 } from '../encoding/hash.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { EventData } from '../model/event.ts'
import type { TurnId } from '../model/ids.ts'
import { changedTurns, type ChangedTurn, type FileChange } from '../history/file-changes.ts'
import { FILE_BYTES } from '../host/confined-write.ts'
import type { Session } from './session.ts'
import type { SessionParts } from './session-parts.ts'

export type Restored = EventData<'files_restored'>
type RestoredFile = Restored['files'][number]

/**
 * Puts the files that a Turn wrote or edited back as they were before it; without `turn`, the last such Turn that was not
 * taken back. A file that is not as the Turn left it is left alone and named. May be called again after a crash: what was
 * restored already counts as restored.
 */
export async function undoTurn(
  parts: SessionParts,
  session: Session,
  turn?: TurnId,
): Promise<Result<Restored>> {
  return session.between(async (record) => {
    const chosen = chooseTurn(changedTurns(session.events), turn)
    if (!chosen.ok) return chosen
    const { turn: undone_turn_id, files, number } = chosen.value
    const names = files.map(({ path }) => path).join(', ')
    const text = `Taking back the file changes of Turn ${number}: ${names}.`
    // The intention stands in the Log before the first file changes.
    const intended = await record([{ type: 'notice', data: { code: 'undo_began', text } }])
    if (!intended.ok) return intended
    const restored: RestoredFile[] = []
    for (const change of files) restored.push(await restore(parts, change))
    const data: Restored = { undone_turn_id, files: restored, by: 'person' }
    const recorded = await record([{ type: 'files_restored', data }])
    return recorded.ok ? ok(data) : recorded
  })
}

/** The Turn with this id, or the last that can be taken back. */
function chooseTurn(turns: readonly ChangedTurn[], turn: TurnId | undefined): Result<ChangedTurn> {
  const chosen =
    turn === undefined
      ? turns.findLast(({ undone }) => !undone)
      : turns.find((one) => one.turn === turn)
  if (chosen !== undefined) return ok(chosen)
  const text =
    turn === undefined
      ? 'There is no file change to take back: no Turn of this Session wrote or edited a file that is not restored already.'
      : 'That Turn did not write or edit any file.'
  return failed('not_found', text)
}

async function restore(parts: SessionParts, change: FileChange): Promise<RestoredFile> {
  const outcome = await restoredAs(parts, change)
  return { ...change, outcome }
}

async function restoredAs(
  { files, store }: SessionParts,
  { path, before_blob, after_blob }: FileChange,
): Promise<RestoredFile['outcome']> {
  const before = before_blob === undefined ? ok(undefined) : await store.get(before_blob)
  if (!before.ok) return 'failed'
  const now = await files.read(path, FILE_BYTES)
  if (!now.ok && now.error.kind !== 'not_found') return 'failed'
  const content = now.ok ? now.value.bytes : undefined
  if (isSame(content, before.value)) return 'restored'
  if (content === undefined || !after_blob.startsWith(sha256(content))) return 'changed_since'
  const expect = { sha256: sha256(content) }
  const done =
    before.value === undefined
      ? await files.remove(path, { expect, place: path })
      : await files.write(path, before.value, { expect, place: path })
  if (done.ok) return 'restored'
  return done.error.details['reason'] === 'changed_since' ? 'changed_since' : 'failed'
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b)
}
