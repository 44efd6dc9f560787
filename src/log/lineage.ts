import type { SessionId } from '../model/ids.ts'
import { Inheritance } from './inherited.ts'
import type { Cursor } from './line.ts'

/** A Log of a lineage. */
export interface LineagePart {
  readonly session: SessionId
  /** The position of its first line. It ends where the next one begins. */
  readonly start: Cursor
}

/**
 * The Logs from the root to a fork, which are read as one sequence of bytes: position 0 is the first byte of the root. Positions
 * of lines, heads, indexes and checkpoints are positions in it.
 */
export class Lineage {
  /** The position of the first line that can be read: not the first of all if a Log is missing. */
  readonly start: Cursor
  readonly #parts: readonly LineagePart[]
  readonly #inheritances: readonly (Inheritance | undefined)[]

  /** `parts`: the oldest first; the last one is the reader itself. */
  constructor(start: Cursor, parts: readonly LineagePart[]) {
    this.start = start
    this.#parts = parts
    const sessions = parts.map(({ session }) => session)
    this.#inheritances = parts.map((_, i) =>
      i === parts.length - 1 ? undefined : new Inheritance(sessions.slice(i + 1)),
    )
  }

  /** The position of the first line that is not inherited. */
  get ownStart(): number {
    return this.#parts.at(-1)?.start.offset ?? 0
  }

  /** The number of Logs. */
  get length(): number {
    return this.#parts.length
  }

  /** A Log that it needs is missing. */
  get isBroken(): boolean {
    return this.start.offset > 0
  }

  /** The Session whose Log has the byte at `position`. */
  ownerOf(position: number): SessionId | undefined {
    return this.#parts[this.#at(position)]?.session
  }

  /** How the reader reads the line at `position`; `undefined` if it is its own. */
  inheritanceOf(position: number): Inheritance | undefined {
    return this.#inheritances[this.#at(position)]
  }

  /** The position after what the last of these Sessions in the lineage has: its own lines, and those that it inherits. */
  startAfter(sessions: ReadonlySet<SessionId>): Cursor {
    const last = this.#parts.slice(0, -1).findLastIndex(({ session }) => sessions.has(session))
    return this.#parts[last + 1]?.start ?? this.start
  }

  #at(position: number): number {
    let at = this.#parts.length - 1
    while (at > 0 && (this.#parts[at]?.start.offset ?? 0) > position) at -= 1
    return at
  }
}
