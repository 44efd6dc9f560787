import type { Literal } from './literals.ts'

/** A tool call for a command, with the names and arguments of this program's own tools. */
export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Pictures and documents that a question is about. */
export interface Subject {
  /** Those whose handles are named; those that came with the question, or else the latest; or all of them. */
  readonly which: 'named' | 'latest' | 'all'
  readonly handles: readonly string[]
}

/** The meaning of one step of a text. */
export interface Reading {
  readonly calls?: readonly Call[]
  readonly subject?: Subject
  /** The question is about the result of the last call. */
  readonly asksLastResult?: true
  /** Files that a later "it" refers to. */
  readonly files?: readonly string[]
  /** It starts after everything before it is done. */
  readonly waits?: boolean
  /** Words after the command that match no rule. */
  readonly rest?: string
}

/** The images and documents in a request when a text is read. */
export interface Visible {
  /** With the text, only in earlier messages, only described, or absent. */
  readonly where: 'here' | 'earlier' | 'described' | 'nowhere'
  /** Handles that need no view: their bytes are in the request, or were just found to be unavailable. */
  readonly settledHandles: ReadonlySet<string>
  /** Handles that are described without bytes, in order. */
  readonly describedHandles: readonly string[]
}

export const NOTHING_VISIBLE: Visible = {
  where: 'nowhere',
  settledHandles: new Set(),
  describedHandles: [],
}

/** What a rule may use besides the words of its step; `it` is what "it" refers to. */
export type Context = { literals: readonly Literal[]; it: readonly string[]; visible: Visible }
