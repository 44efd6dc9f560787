import { isUtf8 } from 'node:buffer'
import type { BlobStore } from '../blobs/store.ts'
import { unifiedDiff } from '../encoding/unified-diff.ts'
import { shownPath } from '../host/confined-path.ts'
import { changedTurns, joinedChanges, type FileChange } from '../history/file-changes.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { BlobKey, TurnId } from '../model/ids.ts'
import type { Session } from './session.ts'
import type { SessionParts } from './session-parts.ts'

/** What became of one file. */
export interface FileDiff {
  readonly path: string
  readonly change: 'created' | 'changed'
  /** Both contents are there and are text. */
  readonly text: boolean
  /** Unified; a sentence where `text` is false. */
  readonly diff: string
}

/** What write and edit made of files, in the whole Session or in one Turn: from before its first change to after its last. */
export async function diffTurns(
  { store }: SessionParts,
  session: Session,
  turn?: TurnId,
): Promise<Result<FileDiff[]>> {
  const all = changedTurns(session.events)
  const chosen = turn === undefined ? all : all.filter((one) => one.turn === turn)
  if (turn !== undefined && chosen.length === 0) {
    return failed('not_found', 'That Turn did not write or edit any file.')
  }
  return ok(await Promise.all(joinedChanges(chosen).map((change) => diffOf(store, change))))
}

async function diffOf(
  store: BlobStore,
  { path, before_blob, after_blob }: FileChange,
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
  return { path, change, text: true, diff: unifiedDiff(name, before, after) }
}

async function textOf(store: BlobStore, key: BlobKey): Promise<string | undefined> {
  const blob = await store.get(key)
  return blob.ok && isUtf8(blob.value) ? blob.value.toString('utf8') : undefined
}
