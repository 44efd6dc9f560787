import { prefixText } from '../model/rule.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import { findLosses } from './find-losses.ts'
import { gitLosses } from './git-losses.ts'
import { looseCommands, type LooseCommand } from './loose-commands.ts'
import { commandStartedBy } from './wrappers.ts'
import { HISTORY, WORK, type RepositoryLoss } from './repository-loss.ts'
import { isGitPath, isWholeTree, movedPlace, type ShownPlace } from './repository-paths.ts'

/**
 * What a command would destroy of a repository and nothing could restore, as its text shows: history, and work that is not
 * committed. It decides about a question and is not a boundary: a program can do the same without showing it. Pure.
 */
export function lossesOf(command: string, folder = '.'): readonly RepositoryLoss[] {
  const start = movedPlace({ inGit: false, below: false, away: false }, folder)
  return scriptLosses(command, start, 0)
}

/** Scripts in arguments of scripts are read to this depth. */
const DEEPEST = 6

function scriptLosses(script: string, start: ShownPlace, depth: number): readonly RepositoryLoss[] {
  if (depth > DEEPEST) return []
  let place = start
  return looseCommands(script).flatMap((command) => {
    const losses = commandLosses(command, place, depth)
    const [program, ...args] = command.words
    if (program === 'cd' || program === 'pushd')
      place = movedPlace(place, args.find((arg) => !arg.startsWith('-')) ?? '~')
    return losses
  })
}

function commandLosses(
  command: LooseCommand,
  place: ShownPlace,
  depth: number,
): readonly RepositoryLoss[] {
  const written = command.writes.some((path) => isGitPath(path, place)) ? [HISTORY] : []
  return [...written, ...programLosses(command, place, depth)]
}

function programLosses(
  command: LooseCommand,
  place: ShownPlace,
  depth: number,
): readonly RepositoryLoss[] {
  const { words } = command
  const [first = '', ...args] = words
  const program = first.slice(first.lastIndexOf('/') + 1)
  const script = (text: string) => scriptLosses(text, place, depth + 1)
  if (REMOVERS.has(program)) return removalLosses(args, place)
  if (program === 'mv')
    return operandsOf(args).some((path) => isGitPath(path, place)) ? [HISTORY] : []
  if (program === 'find')
    return findLosses(args, place, (inner) => innerLosses(command, inner, place, depth))
  if (program === 'git') return gitLosses(args, place, script)
  if (SHELLS.has(program)) return shellScripts(args, command).flatMap(script)
  if (program === 'eval') return script(args.join(' '))
  if (program === 'trap') return script(operandsOf(args)[0] ?? '')
  const started = commandStartedBy(words)
  if (started !== undefined) {
    const added = program === 'xargs' ? pipedWords(command) : []
    return innerLosses(command, [...started, ...added], place, depth)
  }
  if (!STARTERS.has(program)) return []
  return [
    ...suffixes(args).flatMap((inner) => innerLosses(command, inner, place, depth)),
    ...args.filter((arg) => /\s/.test(arg)).flatMap(script),
  ]
}

function innerLosses(
  { input, pipeSource: piped }: LooseCommand,
  words: readonly string[],
  place: ShownPlace,
  depth: number,
): readonly RepositoryLoss[] {
  if (depth > DEEPEST) return []
  const fed = {
    ...definedFields({ input, pipeSource: piped }),
  }
  return programLosses({ words, writes: [], ...fed }, place, depth + 1)
}

const REMOVERS = new Set(['rm', 'unlink', 'shred', 'truncate'])
const SHELLS = new Set('sh bash dash ash zsh ksh mksh fish rbash $SHELL ${SHELL}'.split(' '))

/** Programs that start a command whose place in their arguments is not known, or that take a script. */
const STARTERS = new Set(
  'env sudo su doas pkexec runuser setpriv chroot unshare nsenter watch entr parallel flock numactl prlimit setarch script unbuffer strace ltrace fakeroot systemd-run ssh docker podman concurrently hyperfine xargs timeout nice ionice nohup setsid stdbuf time chrt taskset busybox toybox npx'.split(
    ' ',
  ),
)

/** Programs that lose something themselves, or start others. */
const KNOWN = new Set([...REMOVERS, ...SHELLS, 'mv', 'find', 'git', 'eval'])

function suffixes(args: readonly string[]): readonly (readonly string[])[] {
  const at = args.findIndex((arg) => KNOWN.has(arg.slice(arg.lastIndexOf('/') + 1)))
  return at === -1 ? [] : [args.slice(at)]
}

function removalLosses(args: readonly string[], place: ShownPlace): readonly RepositoryLoss[] {
  const operands = operandsOf(args)
  if (operands.some((path) => isGitPath(path, place))) return [HISTORY]
  const options = args.filter((arg) => arg.startsWith('-'))
  const isRecursive = options.some((arg) => /^-[^-]*[rR]/.test(arg) || arg.startsWith('--r'))
  return isRecursive && operands.some((path) => isWholeTree(path, place)) ? [WORK] : []
}

function operandsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  return [...own.filter((arg) => !arg.startsWith('-')), ...(end === -1 ? [] : args.slice(end + 1))]
}

/** The script after `-c`, alone or in a group of letters; else what the shell reads. */
function shellScripts(args: readonly string[], command: LooseCommand): readonly string[] {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg))
  const text = at === -1 ? undefined : args.slice(at + 1).find((arg) => !/^[-+]/.test(arg))
  if (text !== undefined) return [text]
  if (command.input !== undefined) return [command.input]
  const readsScript = args.includes('-s') || operandsOf(args).length === 0
  return readsScript ? [printedBy(command.pipeSource).join(' ')] : []
}

/** The arguments of a command that prints them. */
function printedBy(command: LooseCommand | undefined): readonly string[] {
  const [program, ...args] = command?.words ?? []
  return program === 'echo' || program === 'printf' ? args : []
}

/** What `xargs` adds, if the text shows it: the words of `echo`, or a place that a search finds. */
function pipedWords({ pipeSource }: LooseCommand): readonly string[] {
  const [program, ...args] = pipeSource?.words ?? []
  if (program !== 'find') return printedBy(pipeSource).flatMap((arg) => arg.split(/\s+/))
  const found = findLosses(
    [...args, '-delete'],
    { inGit: false, below: false, away: false },
    () => [],
  )
  return found.length === 0 ? [] : ['.git']
}

/** Whether a prefix shows by itself that commands which start with it lose something. */
export function showsLoss(words: readonly string[]): boolean {
  return lossesOf(prefixText(words)).length > 0
}
