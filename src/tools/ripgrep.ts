import { systemProgram } from '../host/process/system-program.ts'
import { causeOf, failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { ToolContext } from './tool.ts'

/** What to search for, and where. */
export interface Search {
  /** Added to the flags of every search. */
  readonly flags: readonly string[]
  /** Relative to the workspace, as returned by `searchedPlace`. */
  readonly place: string
  /** Receives the output of ripgrep, including errors. */
  readonly onOutput: (chunk: Buffer) => void
}

/**
 * Runs ripgrep in the workspace and returns its exit code: 0 for matches, 1 for none, 2 for an error or unreadable
 * files. Configuration of a repository or a person does not affect it.
 */
export async function ripgrep(search: Search, context: ToolContext): Promise<Result<0 | 1 | 2>> {
  const program = await systemProgram('rg')
  if (program === undefined) return notInstalled()
  const exit = await context.runReadOnly({
    argv: [program, ...FLAGS, ...search.flags, '--', `./${search.place}`],
    wallMs: context.limits.command_ms,
    searches: true,
    signal: context.signal,
    onOutput: search.onOutput,
  })
  if (!exit.ok) return exit
  const { code, wasInterrupted, timedOut } = exit.value
  if (wasInterrupted) return failed('interrupted', 'The search was interrupted.')
  if (timedOut) return failed('timeout', 'The search took too long. Narrow it by path or glob.')
  if (code === 0 || code === 1 || code === 2) return ok(code)
  return code === 127 ? notInstalled() : failed('internal', 'ripgrep failed.', { code })
}

/** The location to search, with links resolved. What `read` refuses is not searched either. */
export async function searchedPlace(path: string, { files }: ToolContext): Promise<Result<string>> {
  const file = await files.read(path, 0)
  if (file.ok) return ok(file.value.path)
  const cause = causeOf(file.error)
  if (cause?.type !== 'found' || cause.entry !== 'folder') return file
  const folder = await files.list(path)
  return folder.ok ? files.realRelative(path) : folder
}

/** What every search skips; reported when nothing is found. */
export const LEFT_OUT = 'Hidden files and files that .gitignore excludes are skipped.'

const FLAGS = [
  '--no-config',
  '--no-follow',
  '--no-messages',
  // A .gitignore applies even without git; the user's global one does not.
  '--no-require-git',
  '--no-ignore-global',
] as const

function notInstalled(): Failed {
  const message = 'This needs ripgrep (rg), which is not installed. Use bash instead.'
  return failed('not_configured', message, { program: 'rg' }, [{ action: 'Install ripgrep.' }])
}
