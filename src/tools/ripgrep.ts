import { systemProgram } from '../host/process/system-program.ts'
import { causeOf, failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { ToolContext } from './tool.ts'

/** What to look for, and where. */
export interface Search {
  /** After the flags that every search has. */
  readonly flags: readonly string[]
  /** From the workspace, as `searchedPlace` gave it. */
  readonly place: string
  /** Takes what ripgrep says; what it complains about comes the same way. */
  readonly onOutput: (chunk: Buffer) => void
}

/**
 * Runs ripgrep over a place of the workspace, and answers with its exit code: 0 found, 1 found nothing, 2 a complaint, or
 * files that could not be read. Nothing that a repository or a person configured changes what it does.
 */
export async function ripgrep(search: Search, context: ToolContext): Promise<Result<0 | 1 | 2>> {
  const program = await systemProgram('rg')
  if (program === undefined) return notInstalled()
  const exit = await context.runReadOnly({
    argv: [program, ...FLAGS, ...search.flags, '--', `./${search.place}`],
    wallMs: context.limits.command_ms,
    signal: context.signal,
    onOutput: search.onOutput,
  })
  if (!exit.ok) return exit
  const { code, interrupted, timedOut } = exit.value
  if (interrupted) return failed('interrupted', 'The search was interrupted.')
  if (timedOut) return failed('timeout', 'The search took too long. Narrow it by path or glob.')
  if (code === 0 || code === 1 || code === 2) return ok(code)
  return code === 127 ? notInstalled() : failed('internal', 'ripgrep broke off.', { code })
}

/** The place to search, links on its way resolved. What cannot be read is not searched either. */
export async function searchedPlace(path: string, { files }: ToolContext): Promise<Result<string>> {
  const file = await files.read(path, 0)
  if (file.ok) return ok(file.value.path)
  const cause = causeOf(file.error)
  if (cause?.type !== 'found' || cause.entry !== 'folder') return file
  const folder = await files.list(path)
  return folder.ok ? files.realRelative(path) : folder
}

/** What no search looks at, said wherever nothing was found. */
export const LEFT_OUT = 'Hidden files and those that .gitignore names are left out.'

const FLAGS = [
  '--no-config',
  '--no-follow',
  '--no-messages',
  // A .gitignore counts also where git was never used; one for all of a person's work does not.
  '--no-require-git',
  '--no-ignore-global',
] as const

function notInstalled(): Failed {
  const message = 'This needs ripgrep (rg), which is not installed here. Use bash instead.'
  return failed('not_configured', message, { program: 'rg' }, [{ action: 'Install ripgrep.' }])
}
