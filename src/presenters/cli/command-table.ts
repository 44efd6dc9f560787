import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import {
  INSTANCE_OPTION,
  JSON_OPTION,
  OPTIONAL_SESSION,
  SESSION_ARGUMENT,
  WORKSPACE_OPTION,
  type Command,
  type Option,
} from './world/command.ts'
import { CHANGE_COMMANDS } from './change-table.ts'
import { INSTANCE_COMMANDS } from './instance-table.ts'
import { LOG_COMMANDS } from './log-table.ts'
import { PERMISSION_COMMANDS } from './permission-table.ts'
import { SERVER_COMMANDS } from './server-table.ts'
import { SKILL_COMMANDS } from './skill-table.ts'

// The schemas of these modes would load the validator for every command, before it is known which one runs.
const SESSION_MODES: Readonly<Record<SessionMode, true>> = { build: true, plan: true }
const PERMISSION_MODES: Readonly<Record<PermissionMode, true>> = {
  'read-only': true,
  ask: true,
  auto: true,
}

/** How a new Session starts, or which Session to continue. */
const SESSION_OPTIONS: readonly Option[] = [
  {
    flags: '--session <id>',
    help: 'continue this Session: its id, the end of its id, or `latest`',
  },
  { flags: '-c, --continue', help: 'continue the most recent Session of this folder' },
  {
    flags: '-r, --resume [id]',
    help: 'continue this Session; without an id, choose one from a list (chat only)',
  },
  { flags: '--provider <name>', help: 'model provider, as listed by `hawser models`' },
  { flags: '--model <name>', help: 'model, as listed by `hawser models`' },
  {
    flags: '--mode <mode>',
    help: 'build, or plan (read-only); also applies to a continued Session',
    choices: Object.keys(SESSION_MODES),
  },
  {
    flags: '--permission <mode>',
    help: 'what runs without asking; also applies to a continued Session',
    choices: Object.keys(PERMISSION_MODES),
  },
  WORKSPACE_OPTION,
]

const ATTACH_OPTION: Option = {
  flags: '--attach <what>',
  help: 'a file, a URL, `-` for standard input, or `clipboard`; repeatable',
  repeatable: true,
}

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'run',
    summary: 'run one Turn: send a prompt, show the work, print the answer',
    args: [
      {
        name: '[prompt...]',
        help: 'the prompt; @PATH in it includes a file or folder. Read from standard input if omitted; otherwise piped text is sent with it',
      },
    ],
    options: [
      ATTACH_OPTION,
      ...SESSION_OPTIONS,
      { flags: '--timeout <seconds>', help: 'interrupt the Turn after this time' },
      {
        flags: '--stdin',
        help: 'wait for the end of standard input, also if it sends nothing at first',
      },
      { flags: '--no-stdin', help: 'do not read standard input' },
      { flags: '--quiet', help: 'print only errors on standard error' },
      {
        flags: '--output <format>',
        help: 'text: the answer (default); json: one object, the turn_result; stream-json: Events as JSON Lines as they happen, then the turn_result',
        choices: ['text', 'json', 'stream-json'],
      },
      { flags: '--json', help: 'same as --output stream-json' },
    ],
    examples: [
      'hawser run "What is in this folder?"',
      'git diff | hawser run "Review this"',
      'hawser run --attach harbour.png "What is in this picture?"',
      'hawser run "Explain @src/index.ts"',
      'hawser run --continue "And now the tests" --json',
      'hawser run "List the berths" --output json | jq -r .text',
    ],
    load: () => import('./commands/run.ts'),
    // Large, and only documents need it.
    shape: () => import('./render/turn-lines.ts'),
  },
  {
    name: 'chat',
    summary: 'start a conversation in this terminal (default command)',
    args: [{ name: '[prompt...]', help: 'the first message' }],
    options: [ATTACH_OPTION, ...SESSION_OPTIONS],
    examples: ['hawser chat --continue', 'hawser chat --resume', 'hawser chat "Fix the tests"'],
    load: () => import('./commands/chat.ts'),
  },
  {
    name: 'sessions',
    summary: 'list the Sessions of this folder',
    options: [INSTANCE_OPTION, WORKSPACE_OPTION, JSON_OPTION],
    examples: [
      'hawser sessions',
      'hawser sessions --instance painter',
      'hawser sessions delete ses_01kg8m2q3r4s5t6v7w8x9y0z12',
    ],
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'sessions delete',
    summary: 'delete a Session permanently',
    args: [SESSION_ARGUMENT],
    options: [
      { flags: '--yes', help: 'do not ask for confirmation' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser sessions delete latest --yes'],
    load: () => import('./commands/sessions-delete.ts'),
  },
  {
    name: 'grep',
    summary:
      'search the messages, tool calls, outputs and text attachments of all Sessions in this folder; each line names Session, Turn, Event and type',
    args: [{ name: '<pattern>', help: 'a regular expression' }],
    options: [
      { flags: '-i, --ignore-case', help: 'case-insensitive search' },
      { flags: '-F, --fixed', help: 'treat the pattern as literal text' },
      { flags: '--session <id>', help: 'search only this Session' },
      { flags: '--limit <n>', help: 'stop after this many matches (default: 1000)' },
      INSTANCE_OPTION,
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser grep "TODO|FIXME"', 'hawser grep -F "a.b(c)" --session latest --json'],
    load: () => import('./commands/grep.ts'),
  },
  ...LOG_COMMANDS,
  ...CHANGE_COMMANDS,
  {
    name: 'compact',
    summary: 'shorten what the model sees; the Log keeps everything',
    details: `Pointers replace long tool outputs. If that is not enough, a summary replaces old Turns; pinned texts, your decisions and open tasks stay verbatim.

If there is little to gain, nothing is written and the exit code is 0, so that a script can run this at any time. If the result would exceed the target (half of the conversation, or 40 % of the context window if that is less), nothing is written either, but the exit code is 1: what follows may not fit.`,
    args: [OPTIONAL_SESSION],
    options: [
      { flags: '--dry-run', help: 'print what would change, without writing anything' },
      { flags: '--undo', help: 'undo the last compaction that is in force' },
      {
        flags: '--summary <kind>',
        help: 'who writes a summary, if one is needed (default: the setting compaction.summary)',
        choices: ['excerpts', 'model'],
      },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser compact --dry-run', 'hawser compact latest', 'hawser compact latest --undo'],
    load: () => import('./commands/compact.ts'),
  },
  {
    name: 'pin',
    summary: 'pin text that the model always sees word for word; list pins, or remove one',
    details: `The model sees pinned text word for word in every request from then on, also after any compaction. All pinned texts of a Session together have at most 8 KiB.

A single argument that names no Session is the text, and the Session is the latest. Without a text, the pinned texts are listed with their numbers. Text whose pin is removed stays where the model has already seen it, with a note, until the next summary omits it.`,
    args: [
      OPTIONAL_SESSION,
      { name: '[text...]', help: 'the text to pin; if omitted, the pinned texts are listed' },
    ],
    options: [
      { flags: '--remove <number>', help: 'remove the pin with this number' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: [
      'hawser pin "The release is on Friday."',
      'hawser pin',
      'hawser pin latest --remove 1',
    ],
    load: () => import('./commands/pin.ts'),
  },
  {
    name: 'request',
    summary: 'print the exact next request to the model without sending it',
    args: [OPTIONAL_SESSION],
    options: [
      {
        flags: '--prompt <text>',
        help: 'the prompt; read from standard input if omitted',
      },
      {
        flags: '--dialect <name>',
        help: "messages, responses, chat or rehearsal (default: that of the Session's provider)",
      },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser request --prompt "And now?"'],
    load: () => import('./commands/request.ts'),
  },
  {
    name: 'cache explain',
    summary: 'show how much of each request was cached, and where and why the prefix broke',
    args: [OPTIONAL_SESSION],
    options: [
      WORKSPACE_OPTION,
      { flags: '--json', help: 'print the requests as JSON Lines, then a summary' },
    ],
    examples: ['hawser cache explain', 'hawser cache explain latest --json'],
    load: () => import('./commands/cache-explain.ts'),
  },
  {
    name: 'cache probe',
    summary: 'run the same prompts with one factor changed and compare what was cached',
    options: [
      {
        flags: '--vary <factor>',
        help: 'the factor to change (default: transport)',
        choices: ['transport', 'contract'],
      },
      { flags: '--dry-run', help: 'print the plan without sending anything' },
      {
        flags: '--live',
        help: 'use your provider, which costs money, instead of the offline demo model',
      },
      JSON_OPTION,
    ],
    examples: [
      'hawser cache probe --dry-run',
      'hawser cache probe --vary contract',
      'hawser cache probe --vary transport --live --json',
    ],
    load: () => import('./commands/cache-probe.ts'),
  },
  {
    name: 'resources',
    summary: 'list the Resources of a Session, or stop sending one to the model',
    args: [
      OPTIONAL_SESSION,
      { name: '[action]', help: '`drop`: never send the bytes of this Resource again' },
      { name: '[handle]', help: 'handle of the Resource, for example @img1' },
    ],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser resources', 'hawser resources drop @img1'],
    load: () => import('./commands/resources.ts'),
  },
  {
    name: 'gc',
    summary: 'delete stored blobs that no Session refers to',
    options: [
      { flags: '--dry-run', help: 'print what would be deleted, without deleting it' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser gc --dry-run'],
    load: () => import('./commands/gc.ts'),
  },
  {
    name: 'models',
    summary: 'list the known models with their limits and prices',
    options: [
      { flags: '--provider <name>', help: 'list only the models of this provider' },
      JSON_OPTION,
    ],
    examples: ['hawser models', 'hawser models --provider anthropic --json'],
    load: () => import('./commands/settings/models.ts'),
  },
  ...SERVER_COMMANDS,
  ...INSTANCE_COMMANDS,
  {
    name: 'rehearse',
    summary: 'serve the offline demo model locally over the Anthropic and OpenAI APIs',
    options: [
      { flags: '--port <n>', help: 'port to listen on (default: any free port)' },
      {
        flags: '--cache-rate <n>',
        help: 'cache hits per minute for one cache key (default: no limit)',
      },
      {
        flags: '--strict',
        help: "refuse every field that the types of the vendors' SDKs lack (default: accept what the vendors accept); a single client can use /~strict in its base URL",
      },
      { flags: '--json', help: 'print the address as JSON on standard output' },
    ],
    examples: [
      'hawser rehearse',
      'hawser rehearse --port 4141 --cache-rate 15',
      'hawser rehearse --strict',
    ],
    load: () => import('./commands/rehearse.ts'),
  },
  {
    name: 'usage',
    summary: 'show the tokens and cost of the Sessions in this folder, by day and model',
    options: [
      { flags: '--since <date>', help: 'count from this day, for example 2026-01-31' },
      { flags: '--session <id>', help: 'count only this Session' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser usage --since 2026-01-01'],
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'doctor',
    summary: 'check this machine and this folder, and suggest fixes',
    options: [
      { flags: '--bundle', help: 'print a report without secrets or paths, safe to paste' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser doctor', 'hawser doctor --bundle > report.txt'],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'config get',
    summary: 'show settings and where each comes from',
    args: [{ name: '[key]', help: 'name of a setting, for example limits.provider_calls' }],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser config get', 'hawser config get permission'],
    load: () => import('./commands/settings/config-get.ts'),
  },
  {
    name: 'config set',
    summary: 'change a setting, or reset it if no value is given',
    args: [
      { name: '<key>', help: 'name of the setting, for example limits.provider_calls' },
      { name: '[value]', help: 'the new value; `-` reads it from standard input' },
    ],
    options: [
      { flags: '--here', help: 'set it for this workspace instead of for your user' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: [
      'hawser config set permission auto',
      'hawser config set providers.anthropic.key - < key.txt',
      'hawser config set display.colour never --here',
    ],
    load: () => import('./commands/settings/config-set.ts'),
  },
  ...PERMISSION_COMMANDS,
  ...SKILL_COMMANDS,
  {
    name: 'trust',
    summary: 'trust the settings or instructions of this workspace, or a foreign Session',
    args: [{ name: '[session]', help: 'the Session to trust (default: trust the settings)' }],
    options: [
      {
        flags: '--instructions',
        help: 'trust the project instructions that apply in this folder, as they are now',
      },
      { flags: '--yes', help: 'do not ask for confirmation' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: [
      'hawser trust',
      'hawser trust --instructions',
      'hawser trust ses_01kg8m2q3r4s5t6v7w8x9y0z12 --yes',
    ],
    load: () => import('./commands/settings/trust.ts'),
  },
  {
    name: 'completions',
    summary: 'print a shell completion script',
    args: [{ name: '<shell>', help: 'bash, zsh or fish' }],
    options: [JSON_OPTION],
    examples: ['source <(hawser completions bash)', 'hawser completions fish | source'],
    // Passed in, because this file imports that one and an import back would be a cycle.
    load: async () => {
      const { runWith, ...rest } = await import('./commands/completions.ts')
      return { ...rest, run: runWith(COMMANDS) }
    },
  },
]
