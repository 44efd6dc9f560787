import { failed, type Failed } from '../../model/errors.ts'
import { COMMANDS } from './command-table.ts'
import { HELP_FLAGS, VERSION_FLAGS } from './definitions/program.ts'
import { RESUME_OPTION } from './definitions/turns.ts'
import { visibleLine } from './text/visible-text.ts'
import { JSON_OPTION, spellingsOf } from './world/command.ts'
import { showHelp } from './world/failure.ts'

/**
 * The arguments with the command that they mean: `help CMD`, `-p PROMPT` and options without a command. Everything else is
 * returned as it is. Pure.
 */
export function withCommand(argv: readonly string[]): readonly string[] {
  const [first = ''] = argv
  if (first === 'help') {
    const [, word] = argv
    const isKnown = word === undefined || COMMANDS.some(({ name }) => name.split(' ')[0] === word)
    // One that is unknown is reported as such.
    return isKnown ? [...argv.slice(1), '--help'] : [word]
  }
  if (!first.startsWith('-') || PROGRAM_OPTIONS.has(first)) return argv
  const end = argv.indexOf('--')
  const options = end < 0 ? argv : argv.slice(0, end)
  const rest = argv.slice(options.length)
  const others = resumeLast(options).filter((argument) => !PRINT.has(argument))
  const command = others.length < options.length ? 'run' : 'chat'
  return [command, ...others, ...rest]
}

/** Options of the program itself. */
const PROGRAM_OPTIONS = new Set(
  [HELP_FLAGS, VERSION_FLAGS, JSON_OPTION.flags].flatMap((flags) => spellingsOf({ flags })),
)
const PRINT = new Set(['-p', '--print'])
const RESUME = new Set(spellingsOf(RESUME_OPTION))

/** The id after `--resume` is optional. A prompt would be mistaken for one, so the option is moved behind it. */
function resumeLast(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((argument) => RESUME.has(argument))
  const next = argv[at + 1]
  if (at < 0 || next === undefined || !(PRINT.has(next) || /\s/.test(next))) return argv
  return [...argv.toSpliced(at, 1), '--resume']
}

/**
 * Whether arguments that name no command are a prompt: several words, in one argument or in several. A single word, or one
 * that looks like a misspelled command, is more likely a mistake. Pure.
 */
export function isPrompt(argv: readonly string[], nearest: string | undefined): boolean {
  const [first = '', second = '-'] = argv
  if (/\S\s+\S/.test(first)) return true
  // The parser also finds "What" close to "chat".
  const isMisspelled = nearest?.[0] === first[0]?.toLowerCase()
  return !isMisspelled && !second.startsWith('-') && !Object.hasOwn(ELSEWHERE, first)
}

/** The error for a command that other programs have; `undefined` for any other word. */
export function commandElsewhere(word: string): Failed | undefined {
  const known = Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined
  if (known === undefined) return undefined
  const [why, ...commands] = known
  const next = commands.map((command) => ({ action: 'use_command', command }))
  const message = `There is no command ${visibleLine(JSON.stringify(word))}. ${why}`
  return failed('invalid_args', message, { arguments: [word] }, [...next, showHelp('')])
}

const KEYS = [
  'Hawser has no accounts. It uses an API key from the environment or the settings.',
  'hawser config set providers.anthropic.key -',
  'hawser models',
] as const
const UPDATE = [
  'Update it with the package manager that installed it.',
  'npm install --global hawser@latest',
] as const
const SERVE = ['To start the local server, use up.', 'hawser up'] as const
const LIST = ['To list the Sessions of this folder, use sessions.', 'hawser sessions'] as const
const ONCE = ['To run a single Turn, use run.', 'hawser run "What is in this folder?"'] as const
const SETTINGS = ['To read and change settings, use config.', 'hawser config get'] as const
const TALK = ['Without a command, Hawser starts a new Session.', 'hawser'] as const
const SHOW = ['To show the Log of a Session, use log show.', 'hawser log show'] as const
const SEARCH = ['To search all Sessions of this folder, use grep.', 'hawser grep "TODO"'] as const

/** Commands of other programs, what to know about them here, and what to type instead. */
const ELSEWHERE: Readonly<Record<string, readonly [string, ...string[]]>> = {
  login: KEYS,
  logout: [
    'Hawser has no accounts. To remove a stored API key, reset its setting.',
    'hawser config set providers.anthropic.key',
  ],
  auth: KEYS,
  key: KEYS,
  keys: KEYS,
  setup: KEYS,
  update: UPDATE,
  upgrade: UPDATE,
  uninstall: [
    'Remove it with the package manager that installed it.',
    'npm uninstall --global hawser',
  ],
  serve: SERVE,
  server: SERVE,
  start: SERVE,
  web: SERVE,
  stop: ['To stop the local server, use down.', 'hawser down'],
  list: LIST,
  ls: LIST,
  history: LIST,
  session: LIST,
  resume: ['To continue a Session, use -r.', 'hawser -r'],
  continue: ['To continue the most recent Session, use -c.', 'hawser -c'],
  delete: ['To delete a Session, use sessions delete.', 'hawser sessions delete latest'],
  new: TALK,
  tui: TALK,
  exec: ONCE,
  ask: ONCE,
  prompt: ONCE,
  plan: ['To plan without changing anything, use plan mode.', 'hawser --mode plan'],
  init: ['A folder needs no setup.', 'hawser'],
  settings: SETTINGS,
  configure: SETTINGS,
  show: SHOW,
  logs: SHOW,
  search: SEARCH,
  find: SEARCH,
  export: ['To export a Session, use log export.', 'hawser log export'],
  cost: ['To show tokens and cost, use usage.', 'hawser usage'],
  stats: ['To show tokens and cost, use usage.', 'hawser usage'],
  version: ['To print the version, use --version.', 'hawser --version'],
}
