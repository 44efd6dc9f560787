import type { HawserError } from '../../../model/errors.ts'

/** How a command of the shell is written in a chat. */
export interface ChatForm {
  /** What follows the name, as a pattern whose groups `form` receives. */
  readonly args: string
  /** `undefined` if the chat has nothing for these arguments. */
  readonly form: (...groups: readonly (string | undefined)[]) => string | undefined
}

const SESSION = String.raw`(?: (?:ses_[0-9a-z]+|latest|SESSION|ID)\b)?`
const TURN = String.raw`(?: (\d+|TURN)\b)?`

function always(form: string, args = SESSION): ChatForm {
  return { args, form: () => form }
}

/**
 * Every command of the shell that has a form in the chat; `undefined` for the others. All are listed, so that a new command
 * requires a decision.
 */
export const CHAT_FORMS: Readonly<Record<string, ChatForm | undefined>> = {
  run: {
    args: String.raw`(?: --provider (rehearsal) "Hello"|(?: --session \S+)? --model (\S+) "Continue\.")?`,
    form: (offline, model) =>
      offline === undefined
        ? model && `/model ${model}, then send: Continue.`
        : `/model ${offline} ${offline}`,
  },
  chat: always('/resume', String.raw`(?: --continue| --session \S+)?`),
  sessions: always('/sessions', ''),
  'sessions delete': undefined,
  grep: {
    args: String.raw` (\S+)(?: --session \S+)?`,
    form: (pattern) => `Ctrl-O, then /${pattern}`,
  },
  'log show': always('Ctrl-O', String.raw`${SESSION}(?: --\S+)*`),
  'log verify': always('/verify', `${SESSION}(?: --requests)?`),
  'log salvage': undefined,
  'log export': always('/export', String.raw`${SESSION}(?: --format (?:markdown|html|json))?`),
  undo: { args: SESSION + TURN, form: withArgument('/undo') },
  redo: always('/redo'),
  diff: { args: SESSION + TURN, form: withArgument('/diff') },
  compact: {
    args: `${SESSION}(?: --(dry-run|undo))?(?: --json)?`,
    form: withArgument('/compact'),
  },
  pin: always('/pin'),
  request: undefined,
  'cache explain': always('/cache'),
  'cache probe': undefined,
  resources: {
    args: String.raw`${SESSION}(?: drop (@\w+))?`,
    form: (handle) => (handle === undefined ? '/resources' : `/resources drop ${handle}`),
  },
  gc: undefined,
  skills: always('/skills', ''),
  'skills trust': { args: String.raw` ([\w-]+)`, form: (name) => `/skills trust ${name}` },
  'skills untrust': undefined,
  'skills check': undefined,
  trust: undefined,
  permissions: always('/permissions', ''),
  'permissions allow': undefined,
  'permissions deny': undefined,
  'permissions remove': {
    args: String.raw` (\d+|NUMBER)`,
    form: (number) => `/permissions remove ${number}`,
  },
  models: always('/model', ''),
  usage: always('/cost', ''),
  doctor: undefined,
  'config get': undefined,
  'config set': undefined,
  completions: undefined,
  up: undefined,
  down: undefined,
  status: undefined,
  acp: undefined,
  mcp: undefined,
  rehearse: undefined,
  'instance create': undefined,
  'instance list': undefined,
  'instance info': undefined,
  'instance map': undefined,
  'instance delete': undefined,
  'instance send': undefined,
  'instance read': undefined,
  'instance start': undefined,
  'instance pause': undefined,
  'instance resume': undefined,
  'instance stop': undefined,
  'instance enable': undefined,
  'instance disable': undefined,
  'telegram connect': undefined,
  'telegram status': undefined,
  'telegram pair': undefined,
  'telegram unpair': undefined,
  'telegram disconnect': undefined,
  fork: always('/fork'),
  rewind: always('/rewind'),
}

function withArgument(command: string): ChatForm['form'] {
  return (argument) => (argument === undefined ? command : `${command} ${argument}`)
}

/** The longest name first, because `skills` is also the beginning of `skills trust`. */
const NAMES = Object.keys(CHAT_FORMS)
  .toSorted((one, other) => other.length - one.length)
  .join('|')
const COMMAND = new RegExp(String.raw`\bhawser (${NAMES})(?![\w-])`, 'g')
const NEW_SESSION = /\(hawser, or hawser run without --continue\)/g
/** A hint of a text that every face shows. */
const HINT = / \(in a chat: [^()]*\)/g

/** The text with chat commands in place of those of the shell that have one. Pure. */
export function inChat(text: string): string {
  const own = text.replaceAll(HINT, '').replaceAll(NEW_SESSION, '(/new)')
  let shown = ''
  let from = 0
  for (const found of own.matchAll(COMMAND)) {
    const known = CHAT_FORMS[found[1] ?? '']
    const behind = found.index + found[0].length
    const args = known && new RegExp(known.args, 'y')
    if (args === undefined || found.index < from) continue
    args.lastIndex = behind
    const groups = args.exec(own)
    const form = groups === null ? undefined : known?.form(...groups.slice(1))
    if (form === undefined || groups === null) continue
    shown += own.slice(from, found.index) + form
    from = behind + groups[0].length
  }
  return shown + own.slice(from)
}

type NextActions = HawserError['next_actions']

/** The next steps of an error in sentences, without those that are options of a shell command. Pure. */
export function nextStepsInChat(actions: NextActions = []): string[] {
  return actions.flatMap(({ action, command }) => {
    if (command?.startsWith('-') === true) return []
    if (action === 'In a chat:') return command === undefined ? [] : [command]
    return [inChat(command === undefined ? action : `${action} ${command}`)]
  })
}
