import type { CliWorld } from './world.ts'

/** One command: enough to parse its arguments, print its help, complete and document it without loading it. */
export interface Command {
  /** Its words, as in `log show`. */
  readonly name: string
  /** One line, as in a list of commands. */
  readonly summary: string
  /** What its help and the manual say below the summary: one or more paragraphs. */
  readonly details?: string
  readonly args?: readonly Argument[]
  readonly options: readonly Option[]
  /** Lines a person can type; at least one. */
  readonly examples: readonly string[]
  /** The implementation, loaded when the command runs. */
  readonly load: () => Promise<{ readonly run: Run }>
  /** The file with `Output`, the shape of its JSON, if that is not the implementation. */
  readonly shape?: () => Promise<object>
}

export interface Argument {
  /** `<session>` is required, `[turn]` is optional, `[prompt...]` takes any number of words. */
  readonly name: string
  readonly help: string
}

export interface Option {
  /** As in `--session <id>` or `--json`. */
  readonly flags: string
  readonly help: string
  readonly choices?: readonly string[]
  /** The option can be repeated; its value is a list. */
  readonly repeatable?: true
}

/** Arguments and options as typed, not validated yet: each command parses its own. */
export interface CommandInput {
  readonly args: readonly unknown[]
  readonly options: Readonly<Record<string, unknown>>
}

/** Runs a command and returns its exit code. Throws for defects only. */
export type Run = (world: CliWorld, commandInput: CommandInput) => Promise<number>

export const JSON_OPTION: Option = {
  flags: '--json',
  help: 'print the result as JSON on standard output',
}

export const WORKSPACE_OPTION: Option = {
  flags: '--workspace <dir>',
  help: 'workspace folder (default: the nearest one, from the current folder upwards)',
}

export const INSTANCE_OPTION: Option = {
  flags: '--instance <name>',
  help: 'read the Sessions of this Instance, in the workspace that it works in, instead of your own',
}

export const OPTIONAL_SESSION: Argument = {
  name: '[session]',
  help: 'id of a Session, or the end of it (default: latest)',
}

export const SESSION_ARGUMENT: Argument = {
  name: '<session>',
  help: 'id of a Session, the end of it, or `latest`',
}
