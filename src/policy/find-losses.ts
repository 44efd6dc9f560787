import { HISTORY, type RepositoryLoss } from './repository-loss.ts'
import { isGitPath, isWholeTree, matchesGit, type ShownPlace } from './repository-paths.ts'

/** What `find` with these arguments deletes of a repository. `started` judges a command that it starts. Pure. */
export function findLosses(
  args: readonly string[],
  place: ShownPlace,
  started: (words: readonly string[]) => readonly RepositoryLoss[],
): readonly RepositoryLoss[] {
  const first = args.findIndex((arg, at) => isExpression(arg) && !isPositionOption(args, at))
  const starts = (first === -1 ? args : args.slice(0, first)).filter((arg) => !arg.startsWith('-'))
  const tests = first === -1 ? [] : args.slice(first)
  const actions = startedCommands(tests)
  const deletes =
    tests.includes('-delete') || actions.some(([program = '']) => DELETES.test(program))
  const isLoss = deletes && selectsGit(starts.length === 0 ? ['.'] : starts, tests, place)
  return isLoss ? [HISTORY] : actions.flatMap((words) => started(words))
}

const DELETES = /(?:^|\/)(?:rm|unlink|shred|truncate|mv)$/

function isExpression(arg: string): boolean {
  return /^[-(!]/.test(arg)
}

/** `-H`, `-L`, `-P`, `-O3` and `-D opts` come before the folders. */
function isPositionOption(args: readonly string[], at: number): boolean {
  return /^-(?:[HLPE]|O\d?|D)$/.test(args[at] ?? '')
}

/** The commands of `-exec` and its variants, without the places that it inserts. */
function startedCommands(tests: readonly string[]): readonly (readonly string[])[] {
  return tests.flatMap((test, at) => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(test)) return []
    const rest = tests.slice(at + 1)
    const end = rest.findIndex((word) => word === ';' || word === '+')
    return [(end === -1 ? rest : rest.slice(0, end)).filter((word) => word !== '{}')]
  })
}

function selectsGit(
  starts: readonly string[],
  tests: readonly string[],
  place: ShownPlace,
): boolean {
  const names = tests.flatMap((test, at) => {
    if (!NAME_TEST.test(test)) return []
    const before = tests[at - 1]
    const negated = before === '!' || before === '-not'
    return [{ test, value: tests[at + 1] ?? '', negated, at }]
  })
  const wanted = names.filter(({ negated }) => !negated)
  const pruned = prunedBefore(tests)
  const isPruned = wanted.some((one) => one.at < pruned && mentionsGit(one))
  if (names.some((one) => one.negated && mentionsGit(one))) return false
  const mentioned = wanted.some((one) => one.at >= pruned && mentionsGit(one))
  if (isPruned && !mentioned) return false
  if (starts.some((start) => isGitPath(start, place)))
    return !wanted.some(({ value }) => value.endsWith('.lock'))
  if (wanted.length > 0) return mentioned
  const isShallow = tests[tests.indexOf('-maxdepth') + 1] === '1' && tests.includes('f')
  if (tests.includes('-empty') || isShallow) return false
  return starts.some((start) => isWholeTree(start, place))
}

/**
 * The place of the last `-prune` whose tests only skip: `-name .git -prune -o …`. Without the alternative, or with an action
 * before it, what is pruned is what the action gets.
 */
function prunedBefore(tests: readonly string[]): number {
  return tests.findLastIndex((test, at) => {
    if (test !== '-prune') return false
    const next = tests
      .slice(at + 1)
      .find((one) => /^-(?:or?|delete|exec|execdir|ok|okdir)$/.test(one))
    return next === '-o' || next === '-or'
  })
}

const NAME_TEST = /^-(?:i?name|i?path|i?wholename|i?regex)$/

function mentionsGit({ test, value }: { readonly test: string; readonly value: string }): boolean {
  if (test.endsWith('name') && !test.endsWith('wholename')) return matchesGit(value)
  return /(?:^|[/*])\\?\.git(?:[/*$]|$)/i.test(value)
}
