import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { BlobKey, TurnId } from '../model/ids.ts'
import {
  isSameEntry,
  readablePath,
  type PathChange,
  type SnapshotEntry,
} from '../model/events/snapshot-entry.ts'

/** The content that `write` or `edit` left: the hash of the real one, and where it is stored, perhaps redacted. */
export interface StoredContent {
  readonly kind: 'stored'
  readonly sha256: string
  readonly blob: BlobKey
  readonly isRedacted: boolean
}

/** What was at a path; `undefined` if nothing was. */
export type FileState = SnapshotEntry | StoredContent | undefined

export interface FileStep {
  readonly path: string
  readonly from: FileState
  readonly to: FileState
}

/** What a Turn changed, by tools and by commands, or what one command of the person changed. */
export interface ChangeUnit {
  /** Absent for a command of the person. */
  readonly turn?: TurnId
  readonly command_id?: string
  /** Number of the Turn in the Session, counted from 1; for a command, of the Turn before it. */
  readonly number: number
  /** In the order in which they happened. */
  readonly steps: readonly FileStep[]
  /** A person undid it; files that could not be restored can be tried again. */
  readonly isUndone: boolean
}

/** Something that changed files, in the order of the Log. */
interface Move {
  /** Of its unit: a Turn or a command. Absent for a restoration. */
  readonly key?: string
  readonly number: number
  readonly steps: readonly FileStep[]
}

export interface FileHistory {
  /** In the order of their first change. */
  readonly units: readonly ChangeUnit[]
  /** All steps from the beginning of a Turn on, restorations among them; of everything without a number. */
  readonly stepsSince: (number?: number) => readonly FileStep[]
  /** The number of a Turn, counted from 1. */
  readonly numberOf: (turn: TurnId) => number | undefined
  /** The undo that redo reverses: the last one, unless it is reversed already, or files were changed since. */
  readonly redoable: RedoableUndo | undefined
}

/** An undo, and what it changed; tried again after a conflict or a crash, it is one with the tries before. */
export interface RedoableUndo {
  readonly of: Pick<FilesRestored, 'undone_turn_id' | 'undone_command_id' | 'onwards'>
  readonly steps: readonly FileStep[]
  /** The snapshots that the steps come from. */
  readonly pairs: readonly SnapshotPair[]
}

type FilesRestored = EventData<'files_restored'>

/** The ids of two snapshots, for which `fileHistory` needs the changes. */
export type SnapshotPair = readonly [before: string, after: string]

/** The snapshots in these Events whose changes `fileHistory` needs. Pure. */
export function snapshotPairs(events: readonly WholeEvent[]): readonly SnapshotPair[] {
  return events.flatMap(({ type, data }): SnapshotPair[] => {
    if (type !== 'workspace_snapshot' && type !== 'files_restored') return []
    const { before, after } = data
    return before === undefined || after === undefined || before === after ? [] : [[before, after]]
  })
}

/** What tools and commands changed. Without the changes between two snapshots, what happened there is left out. Pure. */
export function fileHistory(
  events: readonly WholeEvent[],
  changesOf: (pair: SnapshotPair) => readonly PathChange[] | undefined,
): FileHistory {
  const moves: Move[] = []
  const undos = new UndoStack(moves)
  const numbers = new Map<string, number>()
  const owners = new Map<string, TurnId | undefined>()
  let turns = 0
  const move = (key: string, steps: readonly FileStep[]) => {
    if (steps.length === 0) return
    moves.push({ key, number: numbers.get(key) ?? turns, steps })
    undos.forget()
  }
  for (const event of events) {
    const { turn_id } = event
    if (event.type === 'turn_started' && turn_id !== undefined) {
      numbers.set(turn_id, (turns += 1))
      undos.beginTurn(turns)
    }
    if (event.type === 'tool_result' && turn_id !== undefined)
      move(turn_id, writtenSteps(event.data))
    if (event.type === 'workspace_snapshot') {
      const { call_id } = event.data
      if (!owners.has(call_id)) owners.set(call_id, turn_id)
      move(owners.get(call_id) ?? call_id, snapshotSteps(event.data, changesOf))
    }
    if (event.type === 'files_restored') {
      const { data } = event
      const steps = undos.take(data, restoredSteps(data, changesOf), numbers)
      // After going back the files are as this Session left them: what came between is of another branch.
      if (data.rewound_from === undefined) moves.push({ number: turns, steps })
    }
  }
  return {
    units: unitsOf(moves, numbers, undos.undoneKeys),
    stepsSince: (number = 0) =>
      moves.filter((one) => one.number >= number).flatMap(({ steps }) => steps),
    numberOf: (turn) => numbers.get(turn),
    redoable: undos.last,
  }
}

/** An undo on the stack. */
interface StackedUndo extends RedoableUndo {
  /** What was undone before it. */
  readonly undoneBefore: ReadonlySet<string>
  /** Some of its files could not be restored. */
  readonly isPartial: boolean
}

/** Follows undo and redo through the Events of a Session. */
class UndoStack {
  readonly #moves: readonly Move[]
  readonly #undoneAt = new Map<number, ReadonlySet<string>>()
  readonly #stack: StackedUndo[] = []
  /** Keys of the units that are undone. */
  undoneKeys: ReadonlySet<string> = new Set()

  /** `moves` grows with the Events. */
  constructor(moves: readonly Move[]) {
    this.#moves = moves
  }

  get last(): RedoableUndo | undefined {
    return this.#stack.at(-1)
  }

  beginTurn(number: number): void {
    this.#undoneAt.set(number, this.undoneKeys)
  }

  /** Files were changed: what was undone before is final. */
  forget(): void {
    this.#stack.length = 0
  }

  /**
   * Returns the steps of a restoration: those between its snapshots, and those of a try that ended in a crash before it was
   * recorded, of which the next one says that they are done.
   */
  take(
    data: FilesRestored,
    recorded: readonly FileStep[],
    numbers: ReadonlyMap<string, number>,
  ): readonly FileStep[] {
    const isPartial = data.files.some(({ outcome }) => outcome !== 'restored')
    const key = data.undone_turn_id ?? data.undone_command_id ?? ''
    const number = data.onwards === true ? numbers.get(key) : undefined
    const isIn = (one: Move) => (number === undefined ? one.key === key : one.number >= number)
    const top = this.#stack.at(-1)
    const wanted =
      data.redo === true
        ? reverseSteps(composeSteps(top?.steps ?? []))
        : reverseSteps(composeSteps(this.#moves.filter(isIn).flatMap(({ steps }) => steps)))
    const steps = [...recorded, ...this.#earlierTry(data, wanted, recorded)]
    if (data.redo === true) this.#redo(top, isPartial)
    else {
      this.#push(data, steps, isPartial)
      if (!isPartial) this.#markUndone(key, number, isIn)
    }
    return steps
  }

  #redo(top: StackedUndo | undefined, isPartial: boolean): void {
    if (top === undefined || isPartial) return
    this.#stack.pop()
    this.undoneKeys = top.undoneBefore
  }

  #push(data: FilesRestored, steps: readonly FileStep[], isPartial: boolean): void {
    if (steps.length === 0) return
    const { undone_turn_id, undone_command_id, onwards, before, after } = data
    const top = this.#stack.at(-1)
    const of = {
      ...(undone_turn_id === undefined ? {} : { undone_turn_id }),
      ...(undone_command_id === undefined ? {} : { undone_command_id }),
      ...(onwards === true ? { onwards } : {}),
    }
    const isAgain = top?.isPartial === true && isSameUndo(top.of, of)
    if (isAgain) this.#stack.pop()
    const pair: readonly SnapshotPair[] =
      before === undefined || after === undefined ? [] : [[before, after]]
    this.#stack.push({
      of,
      steps: isAgain ? [...top.steps, ...steps] : steps,
      pairs: isAgain ? [...top.pairs, ...pair] : pair,
      undoneBefore: isAgain ? top.undoneBefore : this.undoneKeys,
      isPartial,
    })
  }

  /** Undone from a Turn on: what was undone before that Turn is as it was then. */
  #markUndone(key: string, number: number | undefined, isIn: (move: Move) => boolean): void {
    const before =
      number === undefined ? this.undoneKeys : (this.#undoneAt.get(number) ?? this.undoneKeys)
    const keys = this.#moves.filter(isIn).flatMap((move) => move.key ?? [])
    this.undoneKeys = new Set([...before, key, ...keys])
  }

  #earlierTry(
    { files, rewound_from }: FilesRestored,
    wanted: readonly FileStep[],
    recorded: readonly FileStep[],
  ): readonly FileStep[] {
    if (rewound_from !== undefined) return []
    const known = new Set(recorded.map(({ path }) => path))
    const left = new Set(
      files.flatMap(({ path, outcome }) => (outcome === 'restored' ? [] : [path])),
    )
    const missing = wanted.filter(({ path, from }) => {
      // A folder with entries of others stays, and counts as restored.
      return !known.has(path) && !left.has(readablePath(path)) && from?.kind !== 'folder'
    })
    if (missing.length === 0) return []
    const states = new Map<string, FileState>()
    for (const { steps } of this.#moves) for (const { path, to } of steps) states.set(path, to)
    return missing.filter(({ path, from }) => isSameState(states.get(path), from))
  }
}

function isSameUndo(one: RedoableUndo['of'], other: RedoableUndo['of']): boolean {
  return (
    one.undone_turn_id === other.undone_turn_id &&
    one.undone_command_id === other.undone_command_id &&
    one.onwards === other.onwards
  )
}

function reverseSteps(steps: readonly FileStep[]): readonly FileStep[] {
  return steps.map(({ path, from, to }) => ({ path, from: to, to: from }))
}

/** What steps changed at one path, from before the first to after the last. */
export interface ComposedChange extends FileStep {
  /** Something else changed the path between two steps. */
  readonly isInterrupted: boolean
}

/** By path, in the order of their first step; without those that are as before. Pure. */
export function composeSteps(steps: readonly FileStep[]): readonly ComposedChange[] {
  const all = new Map<string, ComposedChange>()
  for (const { path, from, to } of steps) {
    const known = all.get(path)
    const isInterrupted =
      known !== undefined && (known.isInterrupted || !isSameState(known.to, from))
    all.set(path, { path, from: known === undefined ? from : known.from, to, isInterrupted })
  }
  return [...all.values()].filter(({ from, to }) => !isSameState(from, to))
}

/** A tool records no mode, so only content decides there. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one?.kind !== 'stored' && other?.kind !== 'stored') return isSameEntry(one, other)
  return hashOf(one) !== undefined && hashOf(one) === hashOf(other)
}

function hashOf(state: FileState): string | undefined {
  return state?.kind === 'file' || state?.kind === 'stored' ? state.sha256 : undefined
}

function unitsOf(
  moves: readonly Move[],
  turns: ReadonlyMap<string, number>,
  undone: ReadonlySet<string>,
): readonly ChangeUnit[] {
  const keys = new Set(moves.flatMap(({ key }) => key ?? []))
  return [...keys].flatMap((key) => {
    const own = moves.filter((one) => one.key === key)
    const steps = own.flatMap((one) => one.steps)
    // What it changed, it changed back.
    if (composeSteps(steps).length === 0) return []
    const number = own[0]?.number ?? 0
    const name = isTurn(key, turns) ? { turn: key } : { command_id: key }
    return [{ ...name, number, steps, isUndone: undone.has(key) }]
  })
}

function isTurn(key: string, turns: ReadonlyMap<string, number>): key is TurnId {
  return turns.has(key)
}

type WrittenFile = Pick<EventData<'tool_result'>, 'before_blob' | 'after_blob' | 'redacted_of'> & {
  readonly path?: string | undefined
}

function writtenSteps(data: WrittenFile): readonly FileStep[] {
  const { path, before_blob, after_blob, redacted_of } = data
  if (path === undefined || after_blob === undefined) return []
  const from = storedState(before_blob, redacted_of?.before)
  return [{ path, from, to: storedState(after_blob, redacted_of?.after) }]
}

function storedState(blob: BlobKey | undefined, real: string | undefined): FileState {
  if (blob === undefined) return undefined
  const sha256 = real ?? blob.slice(0, blob.indexOf('.'))
  return { kind: 'stored', sha256, blob, isRedacted: real !== undefined }
}

type SnapshotIds = Pick<EventData<'workspace_snapshot'>, 'before' | 'after'>

function snapshotSteps(
  { before, after }: SnapshotIds,
  changesOf: (pair: SnapshotPair) => readonly PathChange[] | undefined,
): readonly FileStep[] {
  if (before === undefined || after === undefined || before === after) return []
  const changes = changesOf([before, after]) ?? []
  return changes.map((change) => ({ path: change.path, from: change.before, to: change.after }))
}

/** Older versions took no snapshots of what they restored, and recorded no `change`. */
function restoredSteps(
  data: EventData<'files_restored'>,
  changesOf: (pair: SnapshotPair) => readonly PathChange[] | undefined,
): readonly FileStep[] {
  if (data.before !== undefined) return snapshotSteps(data, changesOf)
  return data.files
    .filter(({ outcome, change }) => outcome === 'restored' && change === undefined)
    .flatMap((file) => writtenSteps(file))
    .map(({ path, from, to }) => ({ path, from: to, to: from }))
}

/** The outcome for people: a file that did not exist before is removed, not restored. */
export function undoOutcome({ outcome, change, before_blob }: RestoredFile): UndoOutcome {
  if (outcome !== 'restored') return outcome
  const isGone = change === undefined ? before_blob === undefined : change === 'removed'
  return isGone ? 'removed' : 'restored'
}

type RestoredFile = EventData<'files_restored'>['files'][number]
export type UndoOutcome = RestoredFile['outcome'] | 'removed'
