import type { Word } from './command-line.ts'

/**
 * Programs that start others, or that change what later commands of the same line do. What they run is in their arguments,
 * so a prefix does not show what it allows.
 */
const LAUNCHERS = new Set(
  [
    // Shells, and builtins that run, define or redirect commands or set variables.
    'sh bash dash ash zsh ksh mksh fish csh tcsh rbash busybox toybox pwsh elvish nu xonsh',
    'eval exec source . command builtin alias unalias trap enable hash export declare typeset readonly local unset set',
    'shopt read mapfile readarray let getopts umask ulimit bind complete',
    // Programs that take a command line.
    'env xargs sudo su doas pkexec runuser setpriv capsh timeout nice ionice nohup setsid stdbuf chroot unshare nsenter',
    'time watch entr parallel flock chrt taskset numactl prlimit setarch linux32 linux64 systemd-run screen tmux script',
    'expect unbuffer strace ltrace gdb lldb valgrind perf rr fakeroot proot bwrap firejail xvfb-run dbus-run-session',
    'ssh scp sftp rsh mosh docker podman nerdctl kubectl oc lxc machinectl vagrant at batch crontab start-stop-daemon',
    'npx pnpx bunx uvx pipx cross-env dotenv dotenvx concurrently nodemon hyperfine direnv nix-shell nix mise asdf rtx',
    'ld.so ld-linux.so.2 ld-linux-x86-64.so.2 socat ncat nc netcat tar gtar bsdtar',
    // Languages whose program is in the arguments, and editors and pagers that start shells.
    'awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs less more man dc m4 tclsh wish',
  ]
    .join(' ')
    .split(' '),
)

/** Interpreters that run a program file named in the arguments: a prefix must include it. */
const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby[\d.]*|perl[\d.]*|php[\d.]*|lua[\d.]*|luajit|julia|Rscript|java|osascript|guile|racket|scala|groovy|elixir|erl|escript)$/

/** Programs whose first argument selects the action: a prefix must include it, and for some of these one word more. */
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['stash', 'worktree', 'remote', 'submodule', 'notes', 'bundle'],
  npm: ['run', 'run-script'],
  pnpm: ['run'],
  yarn: ['run', 'workspace', 'workspaces'],
  bun: ['run'],
  deno: ['run', 'task'],
  cargo: [],
  go: ['mod', 'tool', 'work'],
  pip: [],
  pip3: [],
  uv: ['pip'],
  poetry: [],
  bundle: [],
  gem: [],
  composer: [],
  gh: ['pr', 'issue', 'repo', 'run', 'release', 'api'],
  dotnet: [],
  terraform: [],
  helm: [],
}

interface Condition {
  /** First arguments with which the program starts others. */
  readonly subcommands?: readonly string[]
  /** Options, whole or before `=`, with which the program starts others. */
  readonly options?: readonly string[]
  /** Any option before the first other argument changes the meaning of that argument. */
  readonly plainStart?: true
  /** An argument of the form `NAME=value` sets a variable. */
  readonly variables?: true
  /** Options of a subcommand that mean something else there. */
  readonly otherMeaning?: Readonly<Record<string, readonly string[]>>
}

const PACKAGE_OPTIONS = ['--script-shell', '--node-options', '--prefix', '-C', '--dir', '--cwd']

/** Programs that start others only with some arguments. */
const CONDITIONAL: Readonly<Record<string, Condition>> = {
  find: {
    options: '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls'.split(' '),
  },
  fd: { options: ['-x', '--exec', '-X', '--exec-batch'] },
  rg: { options: ['--pre', '--hostname-bin'] },
  git: {
    plainStart: true,
    subcommands: ['bisect', 'filter-branch', 'difftool', 'mergetool', 'config', 'daemon', 'shell'],
    options: (
      '-c --config --config-env -x --exec --exec-path --upload-pack --receive-pack ' +
      '--extcmd --ext-diff --textconv --open-files-in-pager -O foreach --template --separate-git-dir --output'
    ).split(' '),
    otherMeaning: { clean: ['-x'] },
  },
  npm: {
    plainStart: true,
    subcommands: ['exec', 'x', 'explore', 'edit', 'config', 'c', 'set', 'init', 'create', 'innit'],
    options: PACKAGE_OPTIONS,
  },
  pnpm: {
    plainStart: true,
    subcommands: ['exec', 'dlx', 'create', 'config', 'env'],
    options: PACKAGE_OPTIONS,
  },
  yarn: {
    plainStart: true,
    subcommands: ['exec', 'dlx', 'create', 'config', 'node', 'set', 'plugin'],
    options: PACKAGE_OPTIONS,
  },
  bun: { plainStart: true, subcommands: ['x', 'create', 'exec', 'repl'] },
  deno: { plainStart: true, subcommands: ['eval', 'repl', 'install'] },
  make: {
    options: ['--eval', '-f', '--file', '--makefile', '-C', '--directory', '-I'],
    variables: true,
  },
  gmake: {
    options: ['--eval', '-f', '--file', '--makefile', '-C', '--directory', '-I'],
    variables: true,
  },
  cargo: { plainStart: true, options: ['--config', '--manifest-path', '-Z'] },
  go: {
    plainStart: true,
    subcommands: ['run', 'generate'],
    options: ['-exec', '-toolexec', '-overlay'],
  },
  rsync: { options: ['-e', '--rsh', '--rsync-path'] },
  zip: { options: ['-T', '-TT', '--unzip-command'] },
  sort: { options: ['--compress-program', '-o', '--output'] },
  uv: { plainStart: true, subcommands: ['run', 'tool', 'x'] },
  poetry: { plainStart: true, subcommands: ['run', 'shell'] },
  pipenv: { plainStart: true, subcommands: ['run', 'shell'] },
  bundle: { plainStart: true, subcommands: ['exec'] },
  printf: { options: ['-v'] },
  pytest: { options: ['-p', '-c', '--rootdir', '--confcutdir', '-o', '--override-ini'] },
}

/** Programs that delete or overwrite what their arguments name: a prefix of the bare name is not offered. */
const DESTRUCTIVE = new Set(
  'rm rmdir unlink mv cp dd shred truncate chmod chown chgrp ln install tee kill pkill killall mkfs mount umount'.split(
    ' ',
  ),
)

/** Programs that write nothing and start nothing, whatever their arguments are. */
const FILTERS = new Set(
  'cat head tail wc grep cut tr nl echo true false pwd basename dirname seq'.split(' '),
)

/** The last path segment of the program name. */
export function programOf(words: readonly Word[]): string | undefined {
  const [first] = words
  return first?.isFixed === true ? first.text.slice(first.text.lastIndexOf('/') + 1) : undefined
}

/** Only the plain name: a path may lead to another program with that name. */
export function isFilter([first]: readonly Word[]): boolean {
  return first?.isFixed === true && FILTERS.has(first.text)
}

/** Whether the command may start a program other than the one named first. */
export function startsOthers(words: readonly Word[]): boolean {
  const program = programOf(words)
  if (program === undefined || program === '' || LAUNCHERS.has(program)) return true
  const condition = Object.hasOwn(CONDITIONAL, program) ? CONDITIONAL[program] : undefined
  if (condition === undefined) return false
  const rest = words.slice(1)
  if (rest.some((word, at) => !word.isFixed && (at === 0 || mayBecomeOption(word)))) return true
  const args = ownArguments(
    program,
    rest.map(({ text }) => text),
  )
  const { subcommands = [], plainStart = false, variables = false, otherMeaning = {} } = condition
  const [first = ''] = args
  const harmless = Object.hasOwn(otherMeaning, first) ? otherMeaning[first] : undefined
  const options = condition.options?.filter((option) => harmless?.includes(option) !== true) ?? []
  return (
    subcommands.includes(first) ||
    (plainStart && first.startsWith('-') && !HARMLESS_STARTS.has(first)) ||
    args.some((arg) => options.some((option) => isOption(arg, option))) ||
    (variables && args.some((arg) => /^\w+[:+?]*=/.test(arg)))
  )
}

/** Why no rule may allow every command that starts with these words; `undefined` if one may. */
export function tooWide(words: readonly string[]): string | undefined {
  const fixed = words.map((text) => ({ text, isFixed: true }))
  const program = programOf(fixed)
  if (program === undefined || program === '') return 'it names no program'
  if (startsOthers(fixed)) return `\`${program}\` can start any program with these arguments`
  const [, first, second] = words
  if (INTERPRETERS.test(program) && !namesProgramFile(program, words)) {
    return `\`${program}\` runs any code; name the file it runs`
  }
  const deeper = Object.hasOwn(SUBCOMMANDS, program) ? SUBCOMMANDS[program] : undefined
  if (deeper === undefined) return undefined
  if (first === undefined) return `\`${program}\` does many things; name the subcommand`
  if (deeper.includes(first) && second === undefined) {
    return `\`${program} ${first}\` does many things; name what it ${first === 'run' ? 'runs' : 'does'}`
  }
  return undefined
}

/** The words that name this kind of command; `undefined` if no prefix is allowed. */
export function usualPrefix(words: readonly Word[]): readonly string[] | undefined {
  const program = programOf(words)
  if (program === undefined || startsOthers(words) || DESTRUCTIVE.has(program)) return undefined
  const firstDynamic = words.findIndex(({ isFixed }) => !isFixed)
  const known = words
    .slice(0, firstDynamic === -1 ? undefined : firstDynamic)
    .map(({ text }) => text)
  for (const length of [1, 2, 3]) {
    const prefix = known.slice(0, length)
    const wantsMore = length === 1 && isName(known[1])
    if (prefix.length === length && !wantsMore && tooWide(prefix) === undefined) return prefix
  }
  return undefined
}

function isName(word: string | undefined): boolean {
  return word !== undefined && /^[\w@][\w@:./-]*$/.test(word)
}

/** Options that only print information about the program. */
const HARMLESS_STARTS = new Set(['--version', '--help', '-h', '-v', '-V'])

/** The shell may expand it to something that starts with a dash. */
export function mayBecomeOption({ text }: Word): boolean {
  return /^[-*?[{]/.test(text)
}

/** For these programs, what follows `--` is passed to a script or names files; others keep parsing it. */
const ENDS_AT_DASHES = new Set('git npm pnpm yarn bun deno cargo'.split(' '))

function ownArguments(program: string, args: readonly string[]): readonly string[] {
  const end = ENDS_AT_DASHES.has(program) ? args.indexOf('--') : -1
  return end === -1 ? args : args.slice(0, end)
}

/** Also matches abbreviations, attached values and grouped short options. */
export function isOption(arg: string, option: string): boolean {
  const [name = ''] = arg.split('=')
  if (name === option) return true
  if (option.startsWith('--')) return name.length > 2 && option.startsWith(name)
  return /^-[A-Za-z]$/.test(option) && /^-[^-]/.test(arg) && arg.includes(option.charAt(1))
}

function namesProgramFile(program: string, [, first, second]: readonly string[]): boolean {
  if (first === undefined) return false
  if (/^(?:python|pypy)/.test(program) && first === '-m') return second !== undefined
  return !first.startsWith('-')
}
