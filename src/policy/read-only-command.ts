import { hardenedGit, liesInside } from './read-only-git.ts'

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
  const form = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  if (form === undefined || !args.every((arg) => fits(form, arg))) return undefined
  return { argv, env: { PATH: SYSTEM_PATH } }
}

/** A program of the same name in the workspace must not take the place of the system's. */
const SYSTEM_PATH =
  '/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin:/opt/homebrew/bin'

interface ProgramForm {
  readonly options: RegExp
  /** `inside`: paths relative to the workspace and in it. */
  readonly operands: 'inside' | RegExp
}

const NOTHING = /^(?!)/

const PROGRAMS: Readonly<Record<string, ProgramForm>> = {
  cat: { options: /^-[nbs]+$/, operands: 'inside' },
  date: { options: /^(?:-u|-I|--utc|--iso-8601|-R)$/, operands: /^\+[^\n]*$/ },
  head: { options: /^(?:-\d{1,6}|-[nc]\d{1,9}|-n|-c|-q)$/, operands: 'inside' },
  ls: { options: /^-[1aAdFhlLnprRStX]+$/, operands: 'inside' },
  pwd: { options: NOTHING, operands: NOTHING },
  tail: { options: /^(?:-\d{1,6}|-[nc]\d{1,9}|-n|-c|-q)$/, operands: 'inside' },
  uname: { options: /^-[asnrvm]+$/, operands: NOTHING },
  wc: { options: /^-[lwcm]+$/, operands: 'inside' },
}

function fits({ options, operands }: ProgramForm, arg: string): boolean {
  if (arg.startsWith('-')) return options.test(arg) || (arg === '--' && operands === 'inside')
  return operands === 'inside' ? liesInside(arg) : operands.test(arg)
}
