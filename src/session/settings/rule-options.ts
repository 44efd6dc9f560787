import { failed, ok, type Result } from '../../model/errors.ts'
import type { Rule } from '../../model/rule.ts'
import { plainPath, prefixRule } from '../../policy/rules.ts'

/** A rule as command-line options: exactly one of the first four. */
export interface RuleOptions {
  readonly prefix?: string | undefined
  readonly command?: string | undefined
  readonly file?: string | undefined
  readonly folder?: string | undefined
  /** The folder in which the command runs; default: the workspace. */
  readonly in?: string | undefined
}

/** Converts options to a rule. `invalid_args` if they are missing, conflicting, or too wide for a rule. Pure. */
export function ruleFromOptions(options: RuleOptions, answer: Rule['answer']): Result<Rule> {
  const { prefix, command, file, folder } = options
  const given = [prefix, command, file, folder].filter((value) => value !== undefined)
  if (given.length !== 1 || (options.in !== undefined && command === undefined)) {
    return failed(
      'invalid_args',
      'Pass exactly one of --prefix, --command, --file and --folder; --in requires --command.',
    )
  }
  if (prefix !== undefined) return prefixRule(prefix, answer)
  if (command !== undefined) {
    if (command.trim() === '') return failed('invalid_args', 'The command is empty.')
    const place = inside(options.in ?? '.')
    return place.ok ? ok({ kind: 'command', answer, command, folder: place.value }) : place
  }
  const path = inside(file ?? folder ?? '')
  if (!path.ok) return path
  if (file === undefined) return ok({ kind: 'folder', answer, path: path.value })
  if (path.value === '.') return failed('invalid_args', 'The workspace is a folder: use --folder.')
  return ok({ kind: 'file', answer, path: path.value })
}

function inside(path: string): Result<string> {
  let depth = 0
  const leaves = path.split('/').some((segment) => {
    if (segment === '..') depth -= 1
    else if (segment !== '' && segment !== '.') depth += 1
    return depth < 0
  })
  if (path !== '' && !path.startsWith('/') && !leaves) return ok(plainPath(path))
  const message = `"${path}" is not a path inside the workspace. Pass a path relative to the workspace.`
  return failed('outside_workspace', message, { path })
}
