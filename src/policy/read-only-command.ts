import type { SourceOrigin } from '../model/events/context-source.ts'
import { hardenedGit, liesInside } from './read-only-git.ts'
import { readingProgram, type ReadingProgram } from './reading-programs.ts'

/** How a command that only reads is started: its argument vector, made safe, and variables for it. */
export interface ReadOnlyCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * The command in a form that only reads and starts no other program; `undefined` if nothing is known about it. A
 * fixed table of argument vectors: an option that is not in it makes the command unknown. Pure.
 */
export function readOnlyCommand(argv: readonly string[]): ReadOnlyCommand | undefined {
  const [program = '', ...args] = argv
  if (argv.some((word) => word.includes('\0'))) return undefined
  if (program === 'git') {
    const git = hardenedGit(args)
    return git && { argv: git.argv, env: { ...git.env, PATH: SYSTEM_PATH } }
  }
  const form = readingProgram(program)?.hydrates
  if (form === undefined || !args.every((arg) => fits(form, arg))) return undefined
  return { argv, env: { PATH: SYSTEM_PATH } }
}

/** Whether a hydration changes nothing: only a command can, unless the table has it. Pure. */
export function isReadOnly(plan: SourceOrigin): boolean {
  return plan.kind !== 'command' || readOnlyCommand(plan.argv) !== undefined
}

/** A program of the same name in the workspace must not take the place of the system's. */
const SYSTEM_PATH =
  '/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin:/opt/homebrew/bin'

function fits(
  { options, operands }: NonNullable<ReadingProgram['hydrates']>,
  arg: string,
): boolean {
  if (arg.startsWith('-')) return options.test(arg) || (arg === '--' && operands === 'inside')
  return operands === 'inside' ? liesInside(arg) : operands.test(arg)
}
