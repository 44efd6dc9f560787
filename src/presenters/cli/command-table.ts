import { PermissionMode, SessionMode } from '../../model/modes.ts'
import {
  JSON_OPTION,
  OPTIONAL_SESSION,
  SESSION_ARGUMENT,
  WORKSPACE_OPTION,
  type Command,
  type Option,
} from './world/command.ts'
import { PERMISSION_COMMANDS } from './permission-table.ts'

/** How a new Session begins, or which one goes on. */
const SESSION_OPTIONS: readonly Option[] = [
  { flags: '--session <id>', help: 'go on with this Session' },
  { flags: '--continue', help: 'go on with the Session of this folder that was written last' },
  { flags: '--provider <name>', help: 'model backend of a new Session' },
  { flags: '--model <name>', help: 'model of a new Session' },
  {
    flags: '--mode <mode>',
    help: 'build, or plan: read-only until you choose build; also changes an old Session',
    choices: SessionMode.options,
  },
  {
    flags: '--permission <mode>',
    help: 'what may happen without asking; on an old Session this also widens it',
    choices: PermissionMode.options,
  },
  WORKSPACE_OPTION,
]

const ATTACH_OPTION: Option = {
  flags: '--attach <what>',
  help: 'a file, a URL, `-` for standard input, or `clipboard`; may be said again',
  repeatable: true,
}

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'run',
    summary: 'one Turn: ask, watch it work, get the answer',
    args: [
      {
        name: '[prompt...]',
        help: 'what to do; without it, standard input. With it, text from a pipe or a file is sent along',
      },
    ],
    options: [
      ATTACH_OPTION,
      ...SESSION_OPTIONS,
      { flags: '--timeout <seconds>', help: 'interrupt the Turn after so long' },
      { flags: '--quiet', help: 'nothing on standard error but errors' },
      {
        flags: '--json',
        help: 'Events as they happen, one JSON object a line, then a turn_result',
      },
    ],
    examples: [
      'hawser run "What is in this folder?"',
      'git diff | hawser run "Review this"',
      'hawser run --attach harbour.png "What is in this picture?"',
      'hawser run --continue "And now the tests" --json',
    ],
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'chat',
    summary: 'a conversation in this terminal; what `hawser` alone does too',
    options: [ATTACH_OPTION, ...SESSION_OPTIONS],
    examples: ['hawser chat --continue'],
    load: () => import('./commands/chat.ts'),
  },
  {
    name: 'sessions',
    summary: 'list the Sessions of this folder, forks below their parents',
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser sessions', 'hawser sessions delete ses_01kg8m2q3r4s5t6v7w8x9y0z12'],
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'sessions delete',
    summary: 'delete a Session for ever',
    args: [SESSION_ARGUMENT],
    options: [{ flags: '--yes', help: 'do not ask' }, WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser sessions delete latest --yes'],
    load: () => import('./commands/sessions-delete.ts'),
  },
  {
    name: 'grep',
    summary: 'search what was said and done in all Sessions of this folder',
    args: [{ name: '<pattern>', help: 'a regular expression' }],
    options: [
      { flags: '-i, --ignore-case', help: 'capitals do not matter' },
      { flags: '-F, --fixed', help: 'the pattern is plain text' },
      { flags: '--session <id>', help: 'search this Session only' },
      { flags: '--limit <n>', help: 'stop after so many matches; 1000 by default' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser grep "TODO|FIXME"', 'hawser grep -F "a.b(c)" --session latest --json'],
    load: () => import('./commands/grep.ts'),
  },
  {
    name: 'log show',
    summary: 'show the Events of a Session',
    args: [OPTIONAL_SESSION],
    options: [
      { flags: '--turn <turn>', help: 'only this Turn: its id, or its number from 1' },
      { flags: '--follow', help: 'go on with what is written from now on, until Ctrl-C' },
      WORKSPACE_OPTION,
      { flags: '--json', help: 'the Events, one JSON object a line' },
    ],
    examples: ['hawser log show', 'hawser log show latest --follow --json'],
    load: () => import('./commands/log/show.ts'),
  },
  {
    name: 'log verify',
    summary: 'prove a Log, byte for byte',
    args: [OPTIONAL_SESSION],
    options: [
      { flags: '--requests', help: 'also compose every request anew and compare its hash' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser log verify --requests'],
    load: () => import('./commands/log/verify.ts'),
  },
  {
    name: 'log salvage',
    summary: 'write what is whole of a damaged Log into a new Session',
    args: [OPTIONAL_SESSION],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser log salvage ses_01kg8m2q3r4s5t6v7w8x9y0z12'],
    load: () => import('./commands/log/salvage.ts'),
  },
  {
    name: 'log export',
    summary: 'write a Session as Markdown, JSON or one self-contained HTML page',
    args: [OPTIONAL_SESSION],
    options: [
      {
        flags: '--format <format>',
        help: 'markdown by default',
        choices: ['markdown', 'json', 'html'],
      },
      { flags: '--output <file>', help: 'write here instead of standard output; must not exist' },
      WORKSPACE_OPTION,
      { flags: '--json', help: 'answer as JSON; without --output the same as --format json' },
    ],
    examples: [
      'hawser log export --format html --output session.html',
      'hawser log export latest > session.md',
    ],
    load: () => import('./commands/log/export.ts'),
  },
  {
    name: 'undo',
    summary: 'put files back as they were before a Turn wrote or edited them',
    args: [
      OPTIONAL_SESSION,
      { name: '[turn]', help: 'id or number of a Turn; the last that changed files by default' },
    ],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser undo', 'hawser undo 3', 'hawser undo latest 3'],
    load: () => import('./commands/undo.ts'),
  },
  {
    name: 'diff',
    summary: 'show what a Session, or one Turn of it, wrote and edited',
    args: [OPTIONAL_SESSION, { name: '[turn]', help: 'id or number of a Turn; all by default' }],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser diff', 'hawser diff 3'],
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'pin',
    summary: 'text that every checkpoint of a Session keeps as it is',
    args: [SESSION_ARGUMENT, { name: '<text...>', help: 'what must not be forgotten' }],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser pin latest "The release is on Friday."'],
    load: () => import('./commands/pin.ts'),
  },
  {
    name: 'request',
    summary: 'print the exact next request to the model, sending nothing',
    args: [OPTIONAL_SESSION],
    options: [
      {
        flags: '--prompt <text>',
        help: 'what would be asked; read from standard input when absent',
      },
      {
        flags: '--dialect <name>',
        help: "messages, responses, chat or rehearsal; by default that of the Session's provider",
      },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser request --prompt "And now?"'],
    load: () => import('./commands/request.ts'),
  },
  {
    name: 'cache explain',
    summary: 'tell of each request how much of it was cached, and where and why it broke',
    args: [OPTIONAL_SESSION],
    options: [
      WORKSPACE_OPTION,
      { flags: '--json', help: 'the requests, one JSON object a line, then a summary' },
    ],
    examples: ['hawser cache explain', 'hawser cache explain latest --json'],
    load: () => import('./commands/cache-explain.ts'),
  },
  {
    name: 'cache probe',
    summary: 'ask the same in two ways that differ in one thing, and compare what was cached',
    options: [
      {
        flags: '--vary <factor>',
        help: 'what differs; transport by default',
        choices: ['transport', 'contract'],
      },
      { flags: '--dry-run', help: 'only say what would be asked, of whom and how often' },
      { flags: '--live', help: 'ask your provider, which costs; without it the rehearsal model' },
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
    summary: 'list what was attached in a Session, or stop showing one of it to the model',
    args: [
      OPTIONAL_SESSION,
      { name: '[action]', help: '`drop`: the bytes of a Resource are never sent again' },
      { name: '[handle]', help: 'which one, as in @img1' },
    ],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser resources', 'hawser resources drop @img1'],
    load: () => import('./commands/resources.ts'),
  },
  {
    name: 'gc',
    summary: 'delete stored bytes that nothing mentions any more',
    options: [
      { flags: '--dry-run', help: 'only say what would be deleted' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser gc --dry-run'],
    load: () => import('./commands/gc.ts'),
  },
  {
    name: 'models',
    summary: 'list the models that are known, and what is known of each',
    options: [{ flags: '--provider <name>', help: 'only those of this provider' }, JSON_OPTION],
    examples: ['hawser models', 'hawser models --provider anthropic --json'],
    load: () => import('./commands/settings/models.ts'),
  },
  {
    name: 'rehearse',
    summary: 'serve the rehearsal model on this machine as Anthropic and OpenAI serve theirs',
    options: [
      { flags: '--port <n>', help: 'port to listen on; one that is free by default' },
      {
        flags: '--cache-rate <n>',
        help: 'requests a minute of one cache key that find its cache; no limit by default',
      },
      { flags: '--json', help: 'where it listens, as JSON on standard output' },
    ],
    examples: ['hawser rehearse', 'hawser rehearse --port 4141 --cache-rate 15'],
    load: () => import('./commands/rehearse.ts'),
  },
  {
    name: 'usage',
    summary: 'tokens and cost of the Sessions of this folder, by day and model',
    options: [
      { flags: '--since <date>', help: 'from this day on, as in 2026-01-31' },
      { flags: '--session <id>', help: 'of this Session only' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser usage --since 2026-01-01'],
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'doctor',
    summary: 'check this machine and this folder, and say what to do',
    options: [
      { flags: '--bundle', help: 'a report without secrets, safe to paste' },
      WORKSPACE_OPTION,
      JSON_OPTION,
    ],
    examples: ['hawser doctor', 'hawser doctor --bundle > report.txt'],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'config get',
    summary: 'show settings and where each comes from',
    args: [{ name: '[key]', help: 'one setting, as in limits.provider_calls' }],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser config get', 'hawser config get permission'],
    load: () => import('./commands/settings/config-get.ts'),
  },
  {
    name: 'config set',
    summary: 'change a setting; without a value, forget it',
    args: [
      { name: '<key>', help: 'as in limits.provider_calls' },
      { name: '[value]', help: 'its new value; `-` takes it from standard input' },
    ],
    options: [
      { flags: '--here', help: 'for this workspace instead of for you everywhere' },
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
  {
    name: 'trust',
    summary: 'vouch for the settings of this workspace, or for a Session that came from elsewhere',
    args: [{ name: '[session]', help: 'the Session; without one, the settings' }],
    options: [{ flags: '--yes', help: 'do not ask' }, WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser trust', 'hawser trust ses_01kg8m2q3r4s5t6v7w8x9y0z12 --yes'],
    load: () => import('./commands/settings/trust.ts'),
  },
  {
    name: 'completions',
    summary: 'print a script that completes commands in your shell',
    args: [{ name: '<shell>', help: 'bash, zsh or fish' }],
    options: [JSON_OPTION],
    examples: ['source <(hawser completions bash)', 'hawser completions fish | source'],
    // It needs this table, and gets it here: a file that this one loads cannot import it.
    load: async () => {
      const { runWith, ...rest } = await import('./commands/completions.ts')
      return { ...rest, run: runWith(COMMANDS) }
    },
  },
]
