/**
 * Finds every occurrence of a set of keys in a sequence, one unit at a time (Aho-Corasick). A unit is a byte or a UTF-16 code
 * unit, as the caller chooses. The state contains everything that later units can still complete.
 */
export class KeyAutomaton {
  /** By state: the length of the longest key prefix that the sequence ends with. */
  readonly depth: readonly number[]
  /** By state: the length of the longest key that the sequence ends with; 0 for none. */
  readonly matchLengths: readonly number[]
  /** The length of the longest key. */
  readonly longest: number
  /** Units that occur in no key all have class 0. */
  readonly #classes: ReadonlyMap<number, number>
  readonly #lowClasses = new Uint16Array(LOW_UNITS)
  readonly #table: Int32Array
  readonly #width: number

  constructor(keys: readonly (readonly number[])[]) {
    this.longest = Math.max(1, ...keys.map(({ length }) => length))
    this.#classes = new Map([...new Set(keys.flat())].map((unit, at) => [unit, at + 1]))
    this.#width = this.#classes.size + 1
    for (const [unit, kind] of this.#classes) if (unit < LOW_UNITS) this.#lowClasses[unit] = kind
    const { children, depth, matched } = this.#tree(keys)
    this.#table = new Int32Array(children.length * this.#width)
    this.#link(children, matched)
    this.depth = depth
    this.matchLengths = matched
  }

  /** The state after one more unit; 0 is the state of an empty sequence. */
  next(state: number, unit: number): number {
    const kind = unit < LOW_UNITS ? this.#lowClasses[unit] : this.#classes.get(unit)
    return this.#table[state * this.#width + (kind ?? 0)] ?? 0
  }

  #tree(keys: readonly (readonly number[])[]) {
    const children = [new Map<number, number>()]
    const depth = [0]
    const matched = [0]
    for (const key of keys) {
      let state = 0
      for (const unit of key) {
        const kind = this.#classes.get(unit) ?? 0
        let child = children[state]?.get(kind)
        if (child === undefined) {
          child = children.length
          children[state]?.set(kind, child)
          children.push(new Map<number, number>())
          depth.push((depth[state] ?? 0) + 1)
          matched.push(0)
        }
        state = child
      }
      if (state !== 0) matched[state] = key.length
    }
    return { children, depth, matched }
  }

  /** Fills the table breadth first, so that the fallback of a state, which is shallower, is complete before it. */
  #link(children: readonly Map<number, number>[], matched: number[]): void {
    const fallback = new Int32Array(children.length)
    const queue = [0]
    for (let state = queue.shift(); state !== undefined; state = queue.shift()) {
      const shorter = fallback[state] ?? 0
      if ((matched[state] ?? 0) === 0) matched[state] = matched[shorter] ?? 0
      for (let kind = 1; kind < this.#width; kind += 1) {
        const child = children[state]?.get(kind)
        const otherwise = state === 0 ? 0 : (this.#table[shorter * this.#width + kind] ?? 0)
        this.#table[state * this.#width + kind] = child ?? otherwise
        if (child === undefined) continue
        fallback[child] = otherwise
        queue.push(child)
      }
    }
  }
}

/** An array lookup, for speed: a command may print many megabytes. */
const LOW_UNITS = 256
