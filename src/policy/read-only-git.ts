import type { Word } from './command-line.ts'
import { isOption, mayBecomeOption } from './launchers.ts'
import { parseOptions } from './option-forms.ts'

/** A git command that only reads, with everything turned off that makes git start another program. */
interface HardenedGit {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The arguments after `git` in a safe form; `undefined` if the command is not in the table. Pure. */
export function hardenedGit(args: readonly string[]): HardenedGit | undefined {
  const [name = '', ...rest] = args
  const form = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (form === undefined || form.hydrates === false || !fits(form, rest)) return undefined
  const { safe = [] } = form
  return { argv: ['git', ...safeGit(), name, ...safe, ...rest], env: gitEnv() }
}

/**
 * Whether git only reads with these arguments, as far as its command line shows: settings of the repository may still make
 * it start programs. Pure.
 */
export function readsWithGit(args: readonly Word[]): boolean {
  const parsed = parseOptions(args, HARMLESS_BEFORE)
  const [name, ...rest] = parsed?.rest ?? []
  const form =
    name?.isFixed === true && Object.hasOwn(COMMANDS, name.text) ? COMMANDS[name.text] : undefined
  if (form === undefined) return false
  const end = rest.findIndex(({ text }) => text === '--')
  const own = end === -1 ? rest : rest.slice(0, end)
  if (own.some((word) => (word.isFixed ? CHECKS_SIGNATURE.test(word.text) : mayBecomeOption(word))))
    return false
  if (form.lists !== undefined) return onlyLists(form, rest)
  const { except = [] } = form
  return own.every(
    ({ text }) =>
      ![...STARTS_OR_WRITES, ...except].some((option) => isOption(text, option)) ||
      text === '--text',
  )
}

/** Without one of the options that list, an operand names what is created. */
function onlyLists({ options: allowed, lists }: GitForm, args: readonly Word[]): boolean {
  const isList = args.some(({ text }) => lists?.test(text))
  return args.every(({ text, isFixed }) =>
    text.startsWith('-') ? isFixed && (allowed.test(text) || lists?.test(text) === true) : isList,
  )
}

const HARMLESS_BEFORE = {
  flags: '-P --no-pager --no-optional-locks --no-replace-objects --literal-pathspecs',
}

const STARTS_OR_WRITES = [
  '--output',
  '--ext-diff',
  '--textconv',
  '--filters',
  '--open-files-in-pager',
]

/** Lists the names of all settings that apply, one per NUL, for `withoutFilters`. Starts no program. */
export const LIST_SETTINGS: readonly string[] = [
  'git',
  ...safeGit(),
  'config',
  '--list',
  '--name-only',
  '--null',
]

/**
 * Variables that turn off the filters in these settings. `git diff` and `git status` start them for files with certain
 * attributes, no option prevents that, and their names are arbitrary. An empty process takes precedence over the other
 * programs of a filter.
 */
export function withoutFilters(names: string): {
  readonly filters: readonly string[]
  readonly env: Readonly<Record<string, string>>
} {
  const filters = [...new Set(names.split('\0').flatMap((name) => FILTER.exec(name)?.[1] ?? []))]
  const settings = filters.flatMap((filter) => [
    [`filter.${filter}.process`, ''] as const,
    [`filter.${filter}.required`, 'false'] as const,
  ])
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ])
  return {
    filters,
    env: { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) },
  }
}

/** Whether these settings say where the work tree is. */
export function namesWorkTree(names: string): boolean {
  return names.split('\0').includes('core.worktree')
}

const FILTER = /^filter\.([^]*)\.[^.]+$/

/** Overrides the settings of the repository. */
function safeGit(): string[] {
  return [
    ...Object.entries({
      'core.hooksPath': '/dev/null',
      'core.fsmonitor': 'false',
      'core.pager': 'cat',
      'core.sshCommand': 'false',
      'core.askPass': 'false',
      'core.attributesFile': '/dev/null',
      'credential.helper': '',
      'diff.external': '',
      'diff.submodule': 'short',
      'diff.ignoreSubmodules': 'dirty',
      'status.submoduleSummary': 'false',
      'submodule.recurse': 'false',
      'log.showSignature': 'false',
      'log.diffMerges': 'separate',
      'gpg.program': 'false',
      'gpg.openpgp.program': 'false',
      'gpg.x509.program': 'false',
      'gpg.ssh.program': 'false',
      'safe.bareRepository': 'explicit',
      'color.ui': 'false',
    }).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    '--no-pager',
  ]
}

/** No protocol is allowed: a partial clone would fetch missing objects, with any program that its settings name. */
function gitEnv(): Readonly<Record<string, string>> {
  return {
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_ASKPASS: 'false',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
  }
}

interface GitForm {
  /** Every argument before `--` that starts with a dash must match. */
  readonly options: RegExp
  /** Inserted before the arguments. */
  readonly safe?: readonly string[]
  /** The first argument must be one of these, because without it the command writes. */
  readonly first?: readonly string[]
  /** Options that make a command list which otherwise creates what its operands name. */
  readonly lists?: RegExp
  /** Options with which it starts a program, besides those of all commands. */
  readonly except?: readonly string[]
  /** Not known well enough to run without a question for a Skill. */
  readonly hydrates?: false
}

const NO_PROGRAMS = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty']

/** An exact list: git also accepts abbreviations, which are unknown here. A value is attached with `=`. */
function options(flags: string, valued = '', more: readonly string[] = []): RegExp {
  const names = flags.trim().split(/\s+/)
  const withValue = valued.trim() === '' ? [] : valued.trim().split(/\s+/)
  const forms = [...names, ...withValue.map((name) => `${name}=[^\\n]*`), ...more]
  return new RegExp(`^(?:${forms.join('|')})$`)
}

const DIFF_FLAGS = `-p -u --patch --no-patch -s --stat --shortstat --numstat --summary --name-only --name-status --raw --check
  --compact-summary --dirstat --cumulative --minimal --patience --histogram -M -C --find-renames --find-copies --no-renames
  -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --word-diff
  --full-index --binary --text -a -R -W --function-context --no-prefix --no-color`
const DIFF_VALUES =
  '--unified --stat --word-diff --diff-filter --diff-algorithm --abbrev --inter-hunk-context'
const DIFF_FORMS = [
  '-U\\d{1,6}',
  '-[MC]\\d{1,3}%?',
  '-[SG][^\\n]+',
  '--pickaxe-all',
  '--pickaxe-regex',
]

const LOG_FLAGS = `--oneline --graph --reverse --no-merges --merges --first-parent --all --branches --tags --remotes --follow
  --decorate --no-decorate --abbrev-commit --no-abbrev-commit --date-order --topo-order --author-date-order --no-notes
  --left-right --cherry-pick --cherry-mark --cherry --simplify-by-decoration --full-history --ancestry-path --boundary
  --relative-date --parents --children -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings --all-match
  --invert-grep --not`
const LOG_VALUES = `--max-count --skip --since --after --until --before --author --committer --grep --date --decorate --branches
  --tags --remotes --exclude --glob --min-parents --max-parents`
const LOG_FORMS = ['-\\d{1,6}', '-n ?\\d{1,6}', '--(?:format|pretty)=[^\\n]*']

const LOG = options(`${LOG_FLAGS} ${DIFF_FLAGS}`, `${LOG_VALUES} ${DIFF_VALUES}`, [
  ...LOG_FORMS,
  ...DIFF_FORMS,
])

const LISTS =
  /^(?:--list|-l|-n\d*|--(?:no-)?contains(?:=.*)?|--(?:no-)?merged(?:=.*)?|--points-at(?:=.*)?)$/s

const COMMANDS: Readonly<Record<string, GitForm>> = {
  blame: {
    options: options(
      '-w -M -C -s -l -t -f -n -e --porcelain --line-porcelain --date=iso --root',
      '--since --date',
      ['-L\\d{1,7},\\+?\\d{1,7}'],
    ),
    // Git prints the first line of that file if it is not what it expects.
    safe: ['--no-textconv', '--no-ignore-revs-file'],
  },
  branch: {
    options: options(
      '--list -a -r -v -vv --all --remotes --verbose --show-current --no-color',
      '--contains --merged --no-merged --sort --format --points-at',
    ),
    first: ['--list', '--show-current'],
    lists: LISTS,
  },
  'cat-file': { options: options('-t -s -p -e'), first: ['-t', '-s', '-p', '-e'] },
  describe: {
    options: options(
      '--all --tags --contains --long --always --exact-match --first-parent',
      '--abbrev --match --exclude --candidates',
    ),
  },
  diff: {
    options: options(`--cached --staged --merge-base ${DIFF_FLAGS}`, DIFF_VALUES, DIFF_FORMS),
    safe: NO_PROGRAMS,
  },
  'for-each-ref': {
    options: options('--ignore-case', '--count --sort --merged --contains --points-at --format'),
  },
  grep: { options: /^(?!)/, except: ['-O'], hydrates: false },
  log: { options: LOG, safe: NO_PROGRAMS },
  'ls-files': {
    options: options(
      '-c -d -m -o -s -t -u -v --cached --deleted --modified --others --stage --unmerged --exclude-standard --directory --full-name --error-unmatch --eol',
    ),
  },
  'ls-tree': { options: options('-r -t -d -l --name-only --full-tree --full-name --long') },
  'merge-base': { options: options('--all --octopus --is-ancestor --independent --fork-point') },
  'rev-list': { options: options(`--count ${LOG_FLAGS}`, LOG_VALUES, LOG_FORMS) },
  'rev-parse': {
    options: options(
      '--abbrev-ref --short --verify --quiet -q --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-bare-repository --is-shallow-repository --symbolic-full-name --symbolic',
      '--short --abbrev-ref',
    ),
  },
  shortlog: {
    options: options(
      '-s -n -e -c --summary --numbered --email --committer --no-merges --all',
      '--since --until --group',
    ),
  },
  show: { options: LOG, safe: NO_PROGRAMS },
  'show-ref': { options: options('--head --heads --tags --hash -s --abbrev') },
  status: {
    options: options(
      '-s -b --short --branch --porcelain --long --show-stash --ahead-behind --no-ahead-behind --renames --no-renames -u -uno -unormal -uall --no-column',
      '--porcelain --untracked-files --find-renames',
    ),
    safe: ['--ignore-submodules=dirty'],
  },
  tag: {
    options: options(
      '--list -l -n --no-color',
      '--contains --merged --no-merged --points-at --sort',
    ),
    first: ['--list', '-l'],
    lists: LISTS,
  },
}

function fits({ options: allowed, first }: GitForm, args: readonly string[]): boolean {
  if (first !== undefined && !first.includes(args[0] ?? '')) return false
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  const known = own.every((arg, at) => {
    if (!arg.startsWith('-')) return true
    if (CHECKS_SIGNATURE.test(arg)) return false
    // If `-n` takes the next argument, that must not be the `--` which hides an option.
    return allowed.test(arg) || (arg === '-n' && allowed.test(`-n ${own[at + 1]}`))
  })
  return known && args.every(liesInside)
}

/** Git has signatures checked by a program. */
const CHECKS_SIGNATURE = /%G|signature/

/**
 * Whether a word, read as a path, stays in the folder where the command starts. With a path outside, `git diff` compares any two
 * files.
 */
export function liesInside(word: string): boolean {
  return !/^[/~]/.test(word) && !word.split('/').includes('..')
}
