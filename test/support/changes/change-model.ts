/** The content of each file; a missing one does not exist. */
export type Contents = ReadonlyMap<string, string>

/** What the changes of a Session are, without snapshots, Events or a disk: an oracle for undo and redo. */
export interface ModelStep {
  readonly path: string
  readonly from: string | undefined
  readonly to: string | undefined
}

interface ModelMove {
  /** Absent for a restoration. */
  readonly key?: string
  readonly turn: number
  readonly steps: readonly ModelStep[]
}

interface ModelUndo {
  readonly of: string
  readonly steps: readonly ModelStep[]
  readonly isPartial: boolean
  readonly undoneBefore: ReadonlySet<string>
}

/** The expected result of an undo or redo: which paths are left alone; `undefined` if there is nothing to do. */
export type Expected = { readonly left: readonly string[]; readonly after: Contents } | undefined

/** One Session: its acts are given in order, each with the contents before it. */
export class ChangeModel {
  #moves: ModelMove[] = []
  #stack: ModelUndo[] = []
  #undone: ReadonlySet<string> = new Set()
  #undoneAt = new Map<number, ReadonlySet<string>>()
  #turns = 0

  /** As a fork of it begins. */
  copy(): ChangeModel {
    const copy = new ChangeModel()
    copy.#moves = [...this.#moves]
    copy.#stack = [...this.#stack]
    copy.#undone = this.#undone
    copy.#undoneAt = new Map(this.#undoneAt)
    copy.#turns = this.#turns
    return copy
  }

  get turns(): number {
    return this.#turns
  }

  beginTurn(): void {
    this.#turns += 1
    this.#undoneAt.set(this.#turns, this.#undone)
  }

  /** The running Turn, or a command of the person, changed files. A file that a tool wrote changed, even if a command removed it. */
  change(key: string, before: Contents, after: Contents, isWritten = false): void {
    const steps = stepsBetween(before, after)
    if (steps.length === 0 && !isWritten) return
    this.#stack = []
    if (steps.length === 0) return
    this.#moves.push({ key, turn: this.#turns, steps })
  }

  get keys(): readonly string[] {
    return [...new Set(this.#moves.flatMap(({ key }) => key ?? []))]
  }

  /** `key`: one unit; `from`: everything from a Turn on; default: the last unit that is not undone. */
  undo(
    now: Contents,
    { key, from, force = false }: { key?: string; from?: number; force?: boolean } = {},
  ): Expected {
    const chosen = key ?? this.keys.findLast((one) => !this.#undone.has(one))
    if (from === undefined && (chosen === undefined || !this.keys.includes(chosen)))
      return undefined
    const isIn = (move: ModelMove) => (from === undefined ? move.key === chosen : move.turn >= from)
    const wanted = composed(this.#moves.filter(isIn).flatMap(({ steps }) => steps))
    const result = restored(now, wanted, force)
    const isPartial = result.left.length > 0
    const of = from === undefined ? String(chosen) : `from ${from}`
    const steps = this.#done(now, wanted, result.after)
    const top = this.#stack.at(-1)
    const isAgain = top !== undefined && top.isPartial && top.of === of
    if (steps.length > 0) {
      if (isAgain) this.#stack.pop()
      this.#stack.push({
        of,
        steps: isAgain ? [...top.steps, ...steps] : steps,
        isPartial,
        undoneBefore: isAgain ? top.undoneBefore : this.#undone,
      })
    }
    if (!isPartial) {
      const before = from === undefined ? this.#undone : (this.#undoneAt.get(from) ?? new Set())
      const keys = this.#moves.filter(isIn).flatMap((move) => move.key ?? [])
      this.#undone = new Set([...before, ...keys, ...(from === undefined ? [of] : [])])
    }
    this.#moves.push({ turn: this.#turns, steps })
    return result
  }

  redo(now: Contents, { force = false } = {}): Expected {
    const top = this.#stack.at(-1)
    if (top === undefined) return undefined
    const wanted = composed(top.steps).map((change) => ({ ...change, isInterrupted: false }))
    const result = restored(now, wanted, force)
    this.#moves.push({ turn: this.#turns, steps: this.#done(now, wanted, result.after) })
    if (result.left.length > 0) return result
    this.#stack.pop()
    this.#undone = top.undoneBefore
    return result
  }

  /** With what was as wanted before, although nothing in this Session says why: another one, or a killed try, did it. */
  #done(now: Contents, wanted: readonly Wanted[], after: Contents): readonly ModelStep[] {
    const last = new Map<string, string | undefined>()
    for (const { steps } of this.#moves) for (const { path, to } of steps) last.set(path, to)
    const before = wanted.filter(
      ({ path, from, to }) => now.get(path) === from && last.get(path) === to,
    )
    const steps = before.map(({ path, from, to }) => ({ path, from: to, to: from }))
    return [...stepsBetween(now, after), ...steps]
  }
}

interface Wanted extends ModelStep {
  readonly isInterrupted: boolean
}

function composed(steps: readonly ModelStep[]): readonly Wanted[] {
  const all = new Map<string, Wanted>()
  for (const { path, from, to } of steps) {
    const known = all.get(path)
    const isInterrupted = known !== undefined && (known.isInterrupted || known.to !== from)
    all.set(path, { path, from: known === undefined ? from : known.from, to, isInterrupted })
  }
  return [...all.values()].filter(({ from, to }) => from !== to)
}

function restored(now: Contents, wanted: readonly Wanted[], force: boolean) {
  const after = new Map(now)
  const left: string[] = []
  for (const { path, from, to, isInterrupted } of wanted) {
    const is = now.get(path)
    if (is === from) continue
    if (!force && (is !== to || isInterrupted)) left.push(path)
    else if (from === undefined) after.delete(path)
    else after.set(path, from)
  }
  return { left: left.toSorted(), after }
}

function stepsBetween(before: Contents, after: Contents): readonly ModelStep[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].flatMap((path) => {
    const [from, to] = [before.get(path), after.get(path)]
    return from === to ? [] : [{ path, from, to }]
  })
}
