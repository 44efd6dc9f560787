import {
  command,
  MODEL_OPTION,
  PROVIDER_OPTION,
  WORKSPACE_OPTION,
  type Option,
} from '../world/command.ts'

export const RESUME_OPTION = {
  flags: '-r, --resume [id]',
  help: 'continue this Session; without an id, choose one from a list (chat only)',
} as const satisfies Option

/** How a new Session starts, or which Session to continue. */
export const SESSION_OPTIONS = [
  {
    flags: '--session <id>',
    help: 'continue this Session: its id, the end of its id, or `latest`',
  },
  { flags: '-c, --continue', help: 'continue the most recent Session of this folder' },
  RESUME_OPTION,
  PROVIDER_OPTION,
  MODEL_OPTION,
  {
    flags: '--mode <mode>',
    help: 'build, or plan (read-only); also applies to a continued Session',
    choices: ['build', 'plan'],
  },
  {
    flags: '--permission <mode>',
    help: 'what runs without asking; also applies to a continued Session',
    choices: ['read-only', 'ask', 'auto'],
  },
  {
    flags: '--effort <level>',
    help: 'reasoning effort of the model; also applies to a continued Session',
    choices: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
  {
    flags: '--append-instructions <text>',
    help: 'instructions that the model follows for the whole Session, also a continued one: the text itself, or a file if one has that name; `@FILE` is always a file. At most 32 KiB; repeatable',
    repeatable: true,
  },
  WORKSPACE_OPTION,
] as const satisfies readonly Option[]

const ATTACH_OPTION = {
  flags: '--attach <what>',
  help: 'a file, a URL, `-` for standard input, or `clipboard`; repeatable',
  repeatable: true,
} as const satisfies Option

export const RUN = command({
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
      flags: '--plain',
      help: 'print the answer as the model writes it, also on a terminal, where it is formatted otherwise',
    },
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
})

export const CHAT = command({
  name: 'chat',
  summary: 'start a conversation in this terminal (default command)',
  args: [{ name: '[prompt...]', help: 'the first message' }],
  options: [
    ATTACH_OPTION,
    ...SESSION_OPTIONS,
    {
      flags: '--plain',
      help: 'for a screen reader: only lines that stay, without colours, lists and a status line',
    },
  ],
  examples: ['hawser chat --continue', 'hawser chat --resume', 'hawser chat "Fix the tests"'],
})
