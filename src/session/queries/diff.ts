import { isUtf8 } from 'node:buffer'
import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { unifiedDiff } from '../../encoding/unified-diff.ts'
import { shownPath } from '../../host/files/confined-path.ts'
import { changedTurns, changesInForce, type FileChange } from '../../history/file-changes.ts'
import { ok, type Result } from '../../model/errors.ts'
import { ranCommands, type RanCommand } from '../../history/ran-commands.ts'
import type { BlobKey, TurnId } from '../../model/ids.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { changingEvents, noChanges } from './undo.ts'

/** The change of one file. */
export interface FileDiff {
  readonly path: string
  readonly change: 'created' | 'changed'
  /** Both contents are available and are text. */
  readonly text: boolean
  /** A unified diff; a sentence if `text` is false. */
  readonly diff: string
}

export interface SessionDiff {
  readonly files: readonly FileDiff[]
  /** Commands that ran; what they changed is not recorded and not among `files`. */
  readonly uncovered: readonly RanCommand[]
  /** The Turn is undone: its changes are no longer in the files. */
  readonly undone: boolean
}

/**
 * The changes that write and edit made to files. Of the whole Session: from before the first change to after the last,
 * without those that were undone. Of one Turn: what it changed, also if that was undone.
 */
export async function diffTurns(
  log: SessionParts['log'],
  session: LiveSession,
  turn?: TurnId,
): Promise<Result<SessionDiff>> {
  const events = await changingEvents(log, session)
  if (!events.ok) return events
  const ran = ranCommands(events.value)
  const uncovered = turn === undefined ? ran : ran.filter(({ turn_id }) => turn_id === turn)
  const chosen = changedTurns(events.value).find((one) => one.turn === turn)
  if (turn !== undefined && chosen === undefined && uncovered.length === 0) return noChanges([])
  const changes = turn === undefined ? changesInForce(events.value) : (chosen?.files ?? [])
  const redactor = new Redactor(log.secrets)
  return ok({
    files: await Promise.all(changes.map((change) => diffOf(log.store, redactor, change))),
    uncovered,
    undone: chosen?.isUndone ?? false,
  })
}

async function diffOf(
  store: BlobStore,
  redactor: Redactor,
  { path, before_blob, after_blob, redacted_of }: FileChange,
): Promise<FileDiff> {
  const change = before_blob === undefined ? 'created' : 'changed'
  const [before, after] = await Promise.all([
    before_blob === undefined ? '' : textOf(store, before_blob),
    textOf(store, after_blob),
  ])
  const name = shownPath(path)
  if (before === undefined || after === undefined) {
    return { path, change, text: false, diff: `${name}: the content is not text, or is missing.\n` }
  }
  // Redacted again, because earlier versions stored unredacted content.
  const diff = await unifiedDiff(name, redactor.text(before), redactor.text(after))
  const differ = before !== after || redacted_of?.before !== redacted_of?.after
  if (diff !== '' || !differ) return { path, change, text: true, diff }
  return { path, change, text: false, diff: `${name}: only keys changed; they are not shown.\n` }
}

async function textOf(store: BlobStore, key: BlobKey): Promise<string | undefined> {
  const blob = await store.get(key)
  return blob.ok && isUtf8(blob.value) ? blob.value.toString('utf8') : undefined
}
