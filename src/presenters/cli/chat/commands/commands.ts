import { failed, ok, type Result } from '../../../../model/errors.ts'
import type { Session } from '../../../../session/session.ts'
import type { ModeChange } from '../../../../session/admission/settings-change.ts'
import type { ChatActions, CommandResult, CommandContext } from './command-context.ts'
import { compact } from './compaction-command.ts'
import { contextCommand } from './context-command.ts'
import { modelCommand } from './model-command.ts'
import { KEYS } from './key-list.ts'
import { pin, unpin } from './pin-commands.ts'
import { attach, detach, resources } from './resource-commands.ts'
import { permissions } from './rule-commands.ts'
import { effortCommand, titleCommand } from './setting-commands.ts'
import { cacheCommand } from './cache-command.ts'
import { copyCommand } from './copy-command.ts'
import { costCommand } from './cost-command.ts'
import { diffCommand } from './diff-command.ts'
import { exportCommand } from './export-command.ts'
import { initCommand } from './init-command.ts'
import { verifyCommand } from './verify-command.ts'
import { queueCommand } from './queue-command.ts'
import { begin, fork, sessions, stillRunning } from './session-commands.ts'
import { reload, skills } from './skill-commands.ts'
import { themeCommand } from './theme-command.ts'
import { redo, undo } from './undo-command.ts'
import { sentences } from '../../screen/rows.ts'

/** Parses a command; `undefined` for other text, such as a path. */
export function readCommand(text: string): { name: string; argument: string } | undefined {
  const found = /^\/([a-z][a-z0-9-]*)(?:\s+(.*?))?\s*$/s.exec(text)
  if (found?.[1] === undefined) return undefined
  return { name: found[1], argument: found[2] ?? '' }
}

export async function runChatCommand(
  name: string,
  argument: string,
  context: CommandContext,
): Promise<Result<CommandResult>> {
  const command = COMMANDS.find((one) => one.name === name)
  if (command === undefined) {
    return failed('invalid_args', `Unknown command /${name}. /help lists the commands.`)
  }
  if (!exists(command, context.actions)) {
    return failed('invalid_args', `/${name} is not supported in this version.`)
  }
  return command.run(context, argument)
}

/** The commands with their summaries, for completion. */
export function commandSummaries(
  actions: ChatActions,
): readonly { readonly name: string; readonly about: string }[] {
  return COMMANDS.filter((command) => exists(command, actions)).map(({ name, summary }) => {
    return { name, about: summary }
  })
}

export function commandNames(actions: ChatActions): string[] {
  return COMMANDS.filter((command) => exists(command, actions)).map(({ name }) => name)
}

interface Command {
  readonly name: string
  readonly usage: string
  readonly summary: string
  /** The action that the command requires. */
  readonly needs?: keyof ChatActions
  readonly run: (context: CommandContext, argument: string) => Promise<Result<CommandResult>>
}

const COMMANDS: readonly Command[] = [
  { name: 'help', usage: '', summary: 'list commands and keys', run: help },
  {
    name: 'attach',
    usage: '[file, URL or clipboard]',
    summary: 'attach to your next message, or list what is attached',
    needs: 'attach',
    run: attach,
  },
  {
    name: 'detach',
    usage: '[number]',
    summary: 'remove an attachment from your next message',
    needs: 'attach',
    run: detach,
  },
  {
    name: 'resources',
    usage: '[drop handle]',
    summary: 'list the Resources; @HANDLE in a message sends one again, drop stops that',
    run: resources,
  },
  {
    name: 'new',
    usage: '[message]',
    summary: 'start a new Session with the same settings; this one is kept',
    needs: 'begin',
    run: (context, argument) => begin(context, argument, false),
  },
  {
    name: 'clear',
    usage: '[message]',
    summary: 'the same as /new, and clear the screen',
    needs: 'begin',
    run: (context, argument) => begin(context, argument, true),
  },
  {
    name: 'sessions',
    usage: '[number or id]',
    summary: 'choose another Session of this folder, or switch to one',
    run: sessions,
  },
  {
    name: 'resume',
    usage: '[number or id]',
    summary: 'the same as /sessions',
    run: sessions,
  },
  {
    name: 'fork',
    usage: '[new]',
    summary: 'continue in a new Session that shares the History so far, or in a related one',
    needs: 'fork',
    run: fork,
  },
  {
    name: 'rewind',
    usage: '',
    summary: 'go back before one of your messages, like Esc Esc',
    needs: 'read',
    run: async ({ busy }) => (busy ? stillRunning() : ok({ rows: [], goesBack: true })),
  },
  {
    name: 'model',
    usage: '[[provider] name]',
    summary: 'choose the model of this Session',
    run: modelCommand,
  },
  {
    name: 'effort',
    usage: '[level]',
    summary: 'choose the reasoning effort of the model',
    run: effortCommand,
  },
  {
    name: 'theme',
    usage: '[name]',
    summary: 'choose the colours of the display',
    run: themeCommand,
  },
  {
    name: 'title',
    usage: '[text]',
    summary: 'show or change the title of this Session',
    run: titleCommand,
  },
  {
    name: 'permission',
    usage: '[read-only | ask | auto]',
    summary: 'show or change the permission mode',
    run: permission,
  },
  {
    name: 'permissions',
    usage: '[remove number]',
    summary: 'list the permission rules, or remove one',
    run: permissions,
  },
  {
    name: 'plan',
    usage: '',
    summary: 'switch to plan mode (read-only)',
    run: async (context) => posture(context, 'plan'),
  },
  {
    name: 'build',
    usage: '',
    summary: 'leave plan mode',
    run: async (context) => posture(context, 'build'),
  },
  {
    name: 'queue',
    usage: '[edit N | move N M | remove N | clear]',
    summary: 'list or change the messages that wait for the end of the Turn',
    run: queueCommand,
  },
  {
    name: 'context',
    usage: '',
    summary: "show how full the model's context window is, and with what",
    run: contextCommand,
  },
  {
    name: 'compact',
    usage: '[dry-run | undo]',
    summary: 'shorten what the model sees, preview that, or undo it',
    run: async (context, argument) => (context.busy ? stillRunning() : compact(context, argument)),
  },
  {
    name: 'cost',
    usage: '',
    summary: 'show what each Turn and the Session cost, and how much was cached',
    needs: 'read',
    run: costCommand,
  },
  {
    name: 'cache',
    usage: '[all]',
    summary: 'explain where and why the prompt cache was missed, or list all requests',
    needs: 'read',
    run: cacheCommand,
  },
  {
    name: 'verify',
    usage: '',
    summary: 'check every byte of the Log, and that each request is as recorded',
    run: verifyCommand,
  },
  {
    name: 'diff',
    usage: '[turn | now]',
    summary: 'show the file changes of this Session, of one Turn, or up to now',
    run: diffCommand,
  },
  {
    name: 'copy',
    usage: '[number | code [number]]',
    summary: 'copy the last answer, an earlier one, or a code block of the last',
    needs: 'copy',
    run: copyCommand,
  },
  {
    name: 'export',
    usage: '[md | html | json] [path]',
    summary: 'write this Session to a file',
    needs: 'export',
    run: exportCommand,
  },
  {
    name: 'init',
    usage: '[what to mention]',
    summary: 'have the model draft AGENTS.md, or propose improvements to it',
    run: initCommand,
  },
  {
    name: 'pin',
    usage: '[text]',
    summary: 'pin text that the model always sees word for word, or list pins',
    run: pin,
  },
  {
    name: 'unpin',
    usage: '[number]',
    summary: 'remove a pin',
    run: unpin,
  },
  {
    name: 'skills',
    usage: '[trust name]',
    summary: 'list the Skills, or trust one of this repository',
    needs: 'skills',
    run: skills,
  },
  {
    name: 'reload',
    usage: '',
    summary: 'take over Skills and tools that changed on disk',
    run: async (context) => (context.busy ? stillRunning() : reload(context)),
  },
  {
    name: 'undo',
    usage: '[turn | to turn]',
    summary: 'restore the files that the last Turn changed, or another one, or all since a Turn',
    run: undo,
  },
  {
    name: 'redo',
    usage: '',
    summary: 'reverse the last undo',
    run: redo,
  },
  {
    name: 'exit',
    usage: '',
    summary: 'the same as /quit',
    run: async () => ok({ rows: [], leave: true }),
  },
  {
    name: 'quit',
    usage: '',
    summary: 'exit; the Session is kept',
    run: async () => ok({ rows: [], leave: true }),
  },
]

function exists({ needs }: Command, actions: ChatActions): boolean {
  return needs === undefined || actions[needs] !== undefined
}

async function help({ actions, columns }: CommandContext): Promise<Result<CommandResult>> {
  const commands = COMMANDS.filter((command) => exists(command, actions)).map(
    ({ name, usage, summary }) => [`/${name} ${usage}`.trimEnd(), summary] as const,
  )
  const rows = [...commands, ...KEYS].flatMap(([left, right]) =>
    columns < WIDE
      ? [
          ...sentences(left, { columns, first: '  ' }),
          ...sentences(right, { columns, first: NARROW }),
        ]
      : sentences(right, { columns, first: `  ${left.padEnd(HELP_WIDTH)}` }),
  )
  return ok({ rows: [[], ...rows] })
}

const HELP_WIDTH = 38
/** In a narrower terminal, what a command does is below its name. */
const WIDE = 80
const NARROW = '      '

async function permission(
  { session, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { mode, permission_mode } = session.state
  if (argument === '') {
    const later = mode === 'plan' ? ` Plan mode is on; /build changes to ${permission_mode}.` : ''
    const text = `${session.permissionMode}: ${MODES[session.permissionMode]}.${later}`
    return ok({ rows: sentences(text, { columns }) })
  }
  if (!isMode(argument)) {
    return failed('invalid_args', 'Unknown permission mode. Expected read-only, ask or auto.')
  }
  const set = await session.change({ permission_mode: argument })
  if (!set.ok || mode !== 'plan' || argument === 'read-only') return quiet(set)
  const limited = `Plan mode limits this Session to read-only; ${argument} takes effect after /build.`
  return ok({ rows: sentences(limited, { columns }) })
}

async function posture(
  { session, columns }: CommandContext,
  mode: NonNullable<ModeChange['mode']>,
): Promise<Result<CommandResult>> {
  if (session.state.mode !== mode) return quiet(await session.change({ mode }))
  return ok({ rows: sentences(`This Session is in ${mode} mode.`, { columns }) })
}

type Mode = Session['permissionMode']

const MODES: Readonly<Record<Mode, string>> = {
  'read-only': 'nothing may be changed',
  ask: 'Hawser asks before anything is changed or run',
  auto: 'everything inside the sandbox runs without asking, except protected paths and the network',
}

function isMode(word: string): word is Mode {
  return Object.hasOwn(MODES, word)
}

/** The Events that the action records show its result. */
function quiet(result: Result<unknown> | undefined): Result<CommandResult> {
  return result === undefined || result.ok ? ok({ rows: [] }) : result
}
