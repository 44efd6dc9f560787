import type { CliWorld } from './world.ts'

/** One command: enough to parse what a person typed, to help, to complete and to document it, without loading it. */
export interface Command {
  /** Its words, as in `log show`. */
  readonly name: string
  /** One line, as in a list of commands. */
  readonly summary: string
  readonly args?: readonly Argument[]
  readonly options: readonly Option[]
  /** Lines a person can type; at least one. */
  readonly examples: readonly string[]
  /** What it does, loaded when it is asked for. */
  readonly load: () => Promise<{ readonly run: Run }>
}

export interface Argument {
  /** `<session>` must be there, `[turn]` may, `[prompt...]` may be many words. */
  readonly name: string
  readonly help: string
}

export interface Option {
  /** As in `--session <id>` or `--json`. */
  readonly flags: string
  readonly help: string
  readonly choices?: readonly string[]
  /** It may be said more than once; its value is a list then. */
  readonly repeatable?: true
}

/** What a person typed, cut into pieces and not yet judged: a command parses it. */
export interface Given {
  readonly args: readonly unknown[]
  readonly options: Readonly<Record<string, unknown>>
}

/** Runs a command and answers with its exit code. Throws for defects only. */
export type Run = (world: CliWorld, given: Given) => Promise<number>

export const JSON_OPTION: Option = { flags: '--json', help: 'answer as JSON on standard output' }

export const WORKSPACE_OPTION: Option = {
  flags: '--workspace <dir>',
  help: 'folder to work in, exactly; by default it is found from the current one upwards',
}

export const OPTIONAL_SESSION: Argument = {
  name: '[session]',
  help: 'id of a Session or its last characters; the latest by default',
}

export const SESSION_ARGUMENT: Argument = {
  name: '<session>',
  help: 'id of a Session, its last characters, or `latest`',
}
