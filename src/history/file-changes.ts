import type { WholeEvent } from '../model/events/event.ts'
import type { BlobKey, TurnId } from '../model/ids.ts'

/** What a Turn made of one file, from its first change to its last. */
export interface FileChange {
  /** From the workspace, links resolved. */
  readonly path: string
  /** Absent: there was no such file. */
  readonly before_blob?: BlobKey
  readonly after_blob: BlobKey
  /** What the contents really hash to, where the stored ones are redacted. */
  readonly redacted_of?: {
    readonly before?: string | undefined
    readonly after?: string | undefined
  }
}

export interface ChangedTurn {
  readonly turn: TurnId
  /** Which Turn of the Session it is, counted from 1. */
  readonly number: number
  /** In the order in which files were first changed. */
  readonly files: readonly FileChange[]
  /** A person took it back; what could not be restored then can be tried again. */
  readonly undone: boolean
}

/** The Turns that changed files by write or edit, the earliest first. What programs changed is not known to the Log. */
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
    undone: undone.has(turn),
  }))
}

/** One file over several Turns: as it was before the first of them and after the last. */
export function joinedChanges(turns: readonly ChangedTurn[]): FileChange[] {
  const all = new Map<string, FileChange>()
  for (const change of turns.flatMap(({ files }) => files)) {
    all.set(change.path, fromTo(all.get(change.path) ?? change, change))
  }
  return [...all.values()]
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

function isWhole({ data }: WholeEvent<'files_restored'>): boolean {
  return data.files.every(({ outcome }) => outcome === 'restored')
}
