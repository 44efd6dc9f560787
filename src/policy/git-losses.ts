import { HISTORY, OWN_WORK, REMOTE, WORK, type RepositoryLoss } from './repository-loss.ts'
import { isWholeTree, movedPlace, type ShownPlace } from './repository-paths.ts'

/**
 * What a git command loses that nothing can restore. Commands that leave the lost commits in a reflog or print their hash
 * are not among them: `commit --amend`, `rebase`, `branch -D`, `tag -d`, `stash drop`. `script` judges a shell script that
 * git starts. Pure.
 */
export function gitLosses(
  args: readonly string[],
  place: ShownPlace,
  script: (text: string) => readonly RepositoryLoss[],
): readonly RepositoryLoss[] {
  const { own, settings, folder } = globalsOf(args)
  const [name = '', ...rest] = own
  const aliases = settings.flatMap((setting) => aliasLosses(setting, script))
  const judge = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  const where = folder === undefined ? place : movedPlace(place, folder)
  const command: GitCommand = { args: rest, settings, place: where, script }
  const losses = (judge?.(command) ?? []).map((loss) =>
    where.away ? { reason: loss.reason } : loss,
  )
  return [...aliases, ...losses]
}

interface GitCommand {
  readonly args: readonly string[]
  /** Of `-c`. */
  readonly settings: readonly string[]
  readonly place: ShownPlace
  readonly script: (text: string) => readonly RepositoryLoss[]
}

const COMMANDS: Readonly<Record<string, (command: GitCommand) => readonly RepositoryLoss[]>> = {
  checkout: ({ args }) => when(has(args, 'f', 'force') || namesAll(args), WORK),
  'checkout-index': ({ args }) => when(has(args, 'f', 'force') && has(args, 'a', 'all'), WORK),
  clean: ({ args, settings }) => {
    const needsForce = !settings.some((one) =>
      /^clean\.requireForce=(?:false|no|off|0)$/i.test(one),
    )
    const isForced = !needsForce || has(args, 'f', 'force')
    return when(isForced && !has(args, 'n', 'dry-run') && !has(args, 'i', 'interactive'), OWN_WORK)
  },
  'filter-repo': ({ args }) =>
    when(!has(args, '', 'dry-run') && !has(args, '', 'analyze'), HISTORY),
  gc: ({ args, settings }) =>
    when(prunesSoon(valueOf(args, 'prune') ?? settingOf(settings, 'gc.pruneExpire')), HISTORY),
  prune: ({ args }) =>
    when(!has(args, 'n', 'dry-run') && prunesSoon(valueOf(args, 'expire') ?? 'now'), HISTORY),
  push: ({ args }) => {
    const isForced =
      has(args, 'f', 'force') ||
      has(args, '', 'force-with-lease') ||
      has(args, 'd', 'delete') ||
      has(args, '', 'mirror') ||
      has(args, '', 'prune')
    const refs = operandsOf(args).slice(1)
    const isLoss = isForced || refs.some((ref) => /^(?:\+|:.)/.test(ref))
    return when(isLoss && !has(args, 'n', 'dry-run'), REMOTE)
  },
  'read-tree': ({ args }) => when(has(args, '', 'reset') && has(args, 'u', ''), WORK),
  reflog: ({ args }) => {
    const [action = ''] = args
    const deletes = action === 'expire' || action === 'delete'
    return when(deletes && !has(args, 'n', 'dry-run'), HISTORY)
  },
  reset: ({ args }) => when(has(args, '', 'hard'), OWN_WORK),
  restore: ({ args }) => {
    const changesFiles = has(args, 'W', 'worktree') || !has(args, 'S', 'staged')
    return when(changesFiles && namesAll(args), WORK)
  },
  rm: ({ args }) => {
    const removesFiles = has(args, 'f', 'force') && has(args, 'r', '') && !has(args, '', 'cached')
    return when(removesFiles && !has(args, 'n', 'dry-run') && namesAll(args), WORK)
  },
  stash: ({ args }) => when(args[0] === 'clear', HISTORY),
  submodule: ({ args, script }) => {
    const action = args.find((arg) => !arg.startsWith('-'))
    if (action === 'deinit') return when(has(args, 'f', 'force'), WORK)
    if (action !== 'foreach') return []
    return script(
      args
        .slice(args.indexOf('foreach') + 1)
        .filter((arg) => !/^--(?:recursive|quiet)$/.test(arg))
        .join(' '),
    )
  },
  switch: ({ args }) => when(has(args, 'f', 'force') || has(args, '', 'discard-changes'), WORK),
  'update-ref': ({ args }) => when(has(args, 'd', ''), HISTORY),
  worktree: ({ args }) => when(args[0] === 'remove' && has(args, 'f', 'force'), WORK),
  bisect: ({ args, script }) => (args[0] === 'run' ? script(args.slice(1).join(' ')) : []),
  rebase: ({ args, script }) =>
    args.flatMap((arg, at) => {
      if (arg === '-x' || arg === '--exec') return script(args[at + 1] ?? '')
      return arg.startsWith('--exec=') ? script(arg.slice('--exec='.length)) : []
    }),
}

function when(isLoss: boolean, loss: RepositoryLoss): readonly RepositoryLoss[] {
  return isLoss ? [loss] : []
}

interface Globals {
  readonly own: readonly string[]
  readonly settings: readonly string[]
  readonly folder: string | undefined
}

/** The options before the subcommand. */
function globalsOf(args: readonly string[]): Globals {
  const settings: string[] = []
  let folder: string | undefined
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (!arg.startsWith('-')) break
    const [name, attached] = splitAt(arg)
    if (!VALUED.has(name)) continue
    const value = attached ?? args[++at] ?? ''
    if (name === '-c') settings.push(value)
    else if (name !== '--namespace') folder = value
  }
  return { own: args.slice(at), settings, folder }
}

const VALUED = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env'])

function splitAt(arg: string): readonly [string, string?] {
  const at = arg.indexOf('=')
  return arg.startsWith('--') && at !== -1 ? [arg.slice(0, at), arg.slice(at + 1)] : [arg]
}

/** `-c alias.x='!rm -rf .git'` */
function aliasLosses(setting: string, script: GitCommand['script']): readonly RepositoryLoss[] {
  const value = /^alias\.[^=]+=(.*)$/is.exec(setting)?.[1]
  if (value === undefined) return []
  return script(value.startsWith('!') ? value.slice(1) : `git ${value}`)
}

/** An option by its letter, also in a group, or by its name, also abbreviated; `--no-` undoes it. */
function has(args: readonly string[], letter: string, name: string): boolean {
  return ownOptions(args).some((arg) => {
    if (!arg.startsWith('--')) return letter !== '' && lettersOf(arg).includes(letter)
    const [given] = splitAt(arg)
    return name !== '' && (given === `--${name}` || (given.length > 3 && isShort(given, name)))
  })
}

/** Abbreviated, but not the whole name of another option. */
function isShort(given: string, name: string): boolean {
  return `--${name}`.startsWith(given) && !WHOLE_NAMES.has(given)
}

const WHOLE_NAMES = new Set(['--force', '--all', '--prune', '--delete', '--mirror'])

/** The letters of a group, without the value of one that takes the rest. */
function lettersOf(group: string): string {
  return group.replace(/^-/, '').replace(/([bBcCemos]).*$/, '$1')
}

function ownOptions(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).filter((arg) => /^-./.test(arg))
}

function operandsOf(args: readonly string[]): readonly string[] {
  return args.filter((arg) => !arg.startsWith('-'))
}

function valueOf(args: readonly string[], name: string): string | undefined {
  const at = args.findIndex((arg) => {
    const [given] = splitAt(arg)
    return given.length > 3 && `--${name}`.startsWith(given)
  })
  const arg = args[at]
  if (arg === undefined) return undefined
  return arg.includes('=')
    ? arg.slice(arg.indexOf('=') + 1)
    : name === 'expire'
      ? args[at + 1]
      : undefined
}

/** The value of a setting that `-c` gives; the last one counts. */
function settingOf(settings: readonly string[], name: string): string | undefined {
  const start = `${name}=`.toLowerCase()
  return settings.findLast((one) => one.toLowerCase().startsWith(start))?.slice(start.length)
}

/** Whether objects that are younger than the two weeks of the default are deleted. */
function prunesSoon(value: string | undefined): boolean {
  if (value === undefined) return false
  return !/^(?:never|false|(?:[2-9]|\d\d+)[. ]weeks?.*|\d+[. ](?:month|year)s?.*)$/.test(value)
}

/** Whether an operand is the whole work tree, wherever the command runs. */
function namesAll(args: readonly string[]): boolean {
  return operandsOf(args).some(
    (arg) =>
      /^:(?:\/|\(top\))?$/.test(arg) ||
      isWholeTree(arg, { inGit: false, below: false, away: false }),
  )
}
