import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { BlobKey, TurnId } from '../model/ids.ts'

/** The change of one file by a Turn, from its first change to its last. */
export interface FileChange {
  /** Relative to the workspace, with links resolved. */
  readonly path: string
  /** Absent if the file did not exist. */
  readonly before_blob?: BlobKey
  readonly after_blob: BlobKey
  /** The hashes of the real contents, if the stored ones are redacted. */
  readonly redacted_of?: {
    readonly before?: string | undefined
    readonly after?: string | undefined
  }
}

export interface ChangedTurn {
  readonly turn: TurnId
  /** Number of the Turn in the Session, counted from 1. */
  readonly number: number
  /** In the order in which files were first changed. */
  readonly files: readonly FileChange[]
  /** A person undid it; files that could not be restored can be tried again. */
  readonly isUndone: boolean
}

/** The Turns that changed files with write or edit, the earliest first. The Log does not record changes by programs. */
export function changedTurns(events: readonly WholeEvent[]): ChangedTurn[] {
  const turns = new Map<TurnId, Map<string, FileChange>>()
  const order: TurnId[] = []
  const undone = new Set<TurnId>()
  for (const event of events) {
    const { turn_id } = event
    if (event.type === 'turn_started' && turn_id !== undefined) order.push(turn_id)
    if (event.type === 'files_restored' && isWhole(event)) undone.add(event.data.undone_turn_id)
    if (event.type !== 'tool_result' || turn_id === undefined) continue
    const { path, before_blob, after_blob, redacted_of } = event.data
    if (path === undefined || after_blob === undefined) continue
    const files = turns.get(turn_id) ?? new Map<string, FileChange>()
    turns.set(turn_id, files)
    const first = files.get(path)
    const change = { path, before_blob, after_blob, redacted_of }
    files.set(path, fromTo(first ?? change, change))
  }
  return [...turns].map(([turn, files]) => ({
    turn,
    number: order.indexOf(turn) + 1,
    files: [...files.values()],
    isUndone: undone.has(turn),
  }))
}

/** The changes of all Turns that are still in the files: from before the first to after the last, without what was undone. */
export function changesInForce(events: readonly WholeEvent[]): FileChange[] {
  const all = new Map<string, FileChange>()
  for (const { type, data } of events) {
    if (type === 'files_restored')
      for (const file of data.files) if (file.outcome === 'restored') takeBack(all, file)
    if (type !== 'tool_result') continue
    const { path, before_blob, after_blob, redacted_of } = data
    if (path === undefined || after_blob === undefined) continue
    const change = { path, before_blob, after_blob, redacted_of }
    all.set(path, fromTo(all.get(path) ?? change, change))
  }
  return [...all.values()]
}

/** A file that is absent again, or as before the first change, has not changed. */
function takeBack(all: Map<string, FileChange>, { path, before_blob, redacted_of }: RestoredFile) {
  const known = all.get(path)
  if (known === undefined) return
  const isAsBefore =
    known.before_blob === before_blob && known.redacted_of?.before === redacted_of?.before
  if (before_blob === undefined || isAsBefore) {
    all.delete(path)
    return
  }
  const after = { path, after_blob: before_blob, redacted_of: { after: redacted_of?.before } }
  all.set(path, fromTo(known, after))
}

type Change = Pick<FileChange, 'path' | 'after_blob'> & {
  readonly [K in 'before_blob' | 'redacted_of']?: FileChange[K] | undefined
}

/** From before the first change to after the last. */
function fromTo(first: Change, last: Change): FileChange {
  const { path, before_blob } = first
  const before = first.redacted_of?.before
  const after = last.redacted_of?.after
  const redacted_of = {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  }
  return {
    path,
    ...(before_blob === undefined ? {} : { before_blob }),
    after_blob: last.after_blob,
    ...(before === undefined && after === undefined ? {} : { redacted_of }),
  }
}

/** The outcome for people: a file that did not exist before the Turn is removed, not restored. */
export function undoOutcome({ outcome, before_blob }: RestoredFile): UndoOutcome {
  return outcome === 'restored' && before_blob === undefined ? 'removed' : outcome
}

type RestoredFile = EventData<'files_restored'>['files'][number]
export type UndoOutcome = RestoredFile['outcome'] | 'removed'

function isWhole({ data }: WholeEvent<'files_restored'>): boolean {
  return data.files.every(({ outcome }) => outcome === 'restored')
}
