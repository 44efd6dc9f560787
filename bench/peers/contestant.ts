import type { VendorDialect } from '../../test/support/providers/vendor-schemas.ts'
import type { Place } from '../program.ts'

/** One program of the comparison. */
export interface Contestant {
  readonly name: string
  readonly version: string
  readonly dialect: VendorDialect
  /** The calls that its model makes, in the words of its own tools. */
  readonly calls: Readonly<Record<CallKind, ModelCall>>
  /** Its own home, which only it uses, and the folder that it works in. */
  readonly home: string
  readonly workspace: string
  /** One Turn without a person, with a model at `baseUrl`, in a new Session or in the one of the last run. */
  command(baseUrl: string, resumes: boolean): Promise<RunCommand>
}

/** Reads the file of 300 bytes, or runs a command that prints a word. */
export type CallKind = 'read' | 'shell'

export interface ModelCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export interface RunCommand extends Place {
  readonly args: readonly [program: string, ...rest: string[]]
}

/** A program that cannot take part on this machine. It is listed in the table with the reason. */
export interface Absentee {
  readonly name: string
  readonly version: string
  readonly skipped: string
}

export const PROMPT = 'Do what the model says.'
export const READ_FILE = 'notes.txt'
export const SHELL_COMMAND = 'echo hi'
