import type { Word } from './command-line.ts'
import { parseOptions, type GivenOption, type OptionForms } from './option-forms.ts'

/** What a wrapper does with its arguments. */
export interface WrappedCommand {
  /** The command that it starts; empty if it only prints something. */
  readonly words: readonly Word[]
  /** Names of variables that it sets for the command. */
  readonly sets: readonly string[]
}

/** Whether the program starts the command that follows its options. */
export function isWrapper(program: string): boolean {
  return Object.hasOwn(WRAPPERS, program)
}

/**
 * The command that a wrapper starts. `undefined` if the words are not those of a wrapper, or if an option has an unknown
 * form: then nothing is known about what it starts. Pure.
 */
export function startedBy(words: readonly Word[]): WrappedCommand | undefined {
  return startedIn(WRAPPERS, words)
}

/** The words that a wrapper starts, also as another user; `undefined` as for `startedBy`, or if it starts nothing. */
export function commandStartedBy([program = '', ...args]: readonly string[]):
  | readonly string[]
  | undefined {
  const name = program.slice(program.lastIndexOf('/') + 1)
  const words = [name, ...args].map((text) => ({ text, isFixed: true }))
  const started = startedIn({ ...WRAPPERS, ...ELEVATING }, words)
  const shown = started?.words.flatMap((word) => (word === ADDED ? [] : [word.text])) ?? []
  return shown.length === 0 ? undefined : shown
}

function startedIn(
  table: Readonly<Record<string, Wrapper>>,
  [first, ...args]: readonly Word[],
): WrappedCommand | undefined {
  const form =
    first?.isFixed === true && Object.hasOwn(table, first.text) ? table[first.text] : undefined
  if (form === undefined) return undefined
  const parsed = parseOptions(form.numbers === true ? withoutNumber(args) : args, form)
  if (parsed === undefined) return undefined
  const split = parsed.options.findIndex(({ name }) => SPLITS.has(name))
  if (split !== -1 && form.splits === true) {
    // Options after the text are arguments of what the text starts, or a second text.
    if (split !== parsed.options.length - 1) return undefined
    return startedByText(parsed.options[split]?.value, parsed.rest)
  }
  if (parsed.options.some(({ name }) => form.prints?.split(' ').includes(name)))
    return { words: [], sets: [] }
  const { operands = 0 } = form
  const own = parsed.rest.slice(0, operands)
  if (own.length < operands || own.some(({ isFixed }) => !isFixed)) return undefined
  return inner(form, withReplaced(form, parsed.options, parsed.rest.slice(operands)))
}

/** The words, of which those that the wrapper fills in are not fixed: `xargs -I cat env cat` starts what it reads. */
function withReplaced(
  { replaces = '' }: Wrapper,
  given: readonly GivenOption[],
  words: readonly Word[],
): readonly Word[] {
  const names = new Set(replaces.split(' '))
  const texts = given.flatMap(({ name, value = '{}' }) => (names.has(name) ? [value] : []))
  return words.map(({ text, isFixed }) => ({
    text,
    isFixed: isFixed && !texts.some((replaced) => text.includes(replaced)),
  }))
}

interface Wrapper extends OptionForms {
  /** Words between the options and the command, such as a duration. */
  readonly operands?: number
  /** `NAME=value` before the command sets a variable. */
  readonly assigns?: true
  /** `-S` splits a text into words. */
  readonly splits?: true
  /** `-5` is a value. */
  readonly numbers?: true
  /** Without a command it prints something. */
  readonly alone?: 'prints'
  /** Options with which it describes the command instead of starting it. */
  readonly prints?: string
  /** It adds arguments that the text does not show. */
  readonly adds?: true
  /** Options whose value, or `{}`, it replaces in the command by what it reads. */
  readonly replaces?: string
}

/**
 * Only programs that run the command as it is, for the same user and with the same files. Others, such as `sudo`, `chroot`
 * and shells, are not listed.
 */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    flags: '-i --ignore-environment -0 --null -v --debug --list-signal-handling',
    withValue: '-u --unset -C --chdir -S --split-string',
    withOptionalValue: '--block-signal --default-signal --ignore-signal',
    assigns: true,
    splits: true,
    alone: 'prints',
  },
  nice: { withValue: '-n --adjustment', numbers: true, alone: 'prints' },
  ionice: { flags: '-t --ignore', withValue: '-c --class -n --classdata', alone: 'prints' },
  timeout: {
    flags: '--preserve-status --foreground -v --verbose -f -p',
    withValue: '-k --kill-after -s --signal',
    operands: 1,
  },
  xargs: {
    flags: '-0 --null -r --no-run-if-empty -t --verbose -x --exit -o --open-tty -p --interactive',
    // Not `--process-slot-var`, which can set the variable that finds the program.
    withValue: '-a --arg-file -d --delimiter -E -I -L -n --max-args -P --max-procs -s --max-chars',
    withOptionalValue: '-e --eof -i --replace -l --max-lines',
    alone: 'prints',
    adds: true,
    replaces: '-I -i --replace',
  },
  nohup: {},
  stdbuf: { withValue: '-i --input -o --output -e --error' },
  setsid: { flags: '-c --ctty -f --fork -w --wait' },
  // With `-o` it writes a file.
  time: { flags: '-p --portability -v --verbose -q --quiet', withValue: '-f --format' },
  // With `-p` it changes another process, and with `-m` it prints.
  chrt: {
    flags:
      '-a --all-tasks -b --batch -d --deadline -f --fifo -i --idle -o --other -r --rr -R --reset-on-fork -v --verbose',
    withValue: '-T --sched-runtime -P --sched-period -D --sched-deadline',
    operands: 1,
  },
  taskset: { flags: '-c --cpu-list -a --all-tasks', operands: 1 },
  command: { flags: '-p -v -V', prints: '-v -V' },
  builtin: {},
  exec: { flags: '-c -l' },
}

/** They run the command as another user, so nothing that they start counts as reading. */
const ELEVATING: Readonly<Record<string, Wrapper>> = {
  sudo: {
    flags: '-A -b -B -E -H -i -k -K -n -N -P -s -S',
    withValue: '-C -D -g -h -p -R -r -t -T -U -u --chdir --group --user',
    assigns: true,
  },
  doas: { flags: '-L -n -s', withValue: '-C -u' },
}

const SPLITS = new Set(['-S', '--split-string'])

/** Texts of `env -S` that are the same in its own syntax and in that of a shell. */
const PLAIN_TEXT = /^[\w@%+=:,./ -]*$/

function startedByText(text = '', rest: readonly Word[]): WrappedCommand | undefined {
  if (!PLAIN_TEXT.test(text)) return undefined
  const words = text.split(' ').filter(Boolean)
  const env: Word = { text: 'env', isFixed: true }
  return startedBy([env, ...words.map((word) => ({ text: word, isFixed: true })), ...rest])
}

function withoutNumber(args: readonly Word[]): readonly Word[] {
  const [first, ...rest] = args
  return first?.isFixed === true && /^-[-+]?\d+$/.test(first.text) ? rest : args
}

function inner(
  { assigns, alone, adds }: Wrapper,
  rest: readonly Word[],
): WrappedCommand | undefined {
  const at = assigns === true ? rest.findIndex((word) => !isAssignment(word)) : 0
  const set = rest.slice(0, at === -1 ? undefined : at)
  const words = rest.slice(set.length)
  const sets = set.map(({ text }) => text.slice(0, text.indexOf('=')))
  if (words.length === 0) return alone === 'prints' ? { words, sets } : undefined
  return { words: adds === true ? [...words, ADDED] : words, sets }
}

/** `-` is an old form of `env -i`. */
function isAssignment({ text, isFixed }: Word): boolean {
  return isFixed && (text === '-' || text.includes('='))
}

/** Represents any number of words that the text does not show. */
const ADDED: Word = { text: '*', isFixed: false }
