import type { Literal } from './words/literals.ts'
import type { Showing } from './words/shown-things.ts'

/** A tool call that a text asks for. */
export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** What a rule made of a clause. Without calls, `missing` says what the clause lacks; without either, it asks for nothing. */
export interface Reading {
  readonly calls: readonly Call[]
  readonly missing?: string
  /** Files that were named, for a later "it". */
  readonly about?: readonly string[]
}

/** What a rule may look at beside the clause. */
export interface Context {
  readonly literals: readonly Literal[]
  /** What "it" and "that file" mean here. */
  readonly it: readonly string[]
  /** The mark that ends the clause: part of a text that was given without quotes. */
  readonly mark: string
  readonly showing: Showing
}

export const NOTHING: Reading = { calls: [] }
