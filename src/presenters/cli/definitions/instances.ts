import type { InstanceAct } from '../../../tether/tether.ts'
import {
  command,
  type Argument,
  JSON_OPTION,
  MODEL_OPTION,
  PROVIDER_OPTION,
  YES_OPTION,
} from '../world/command.ts'

const NAME = {
  name: '<name>',
  help: 'handle or id of the Instance',
} as const satisfies Argument

export const INSTANCE_CREATE = command({
  name: 'instance create',
  summary: 'create an Instance: an agent in a separate sandbox that waits for messages',
  details:
    'It is started by its first message, paused when it has nothing to do, and stopped later. It has no network: its calls to a model go through the local server, which adds the key. With --workspace, its agent writes and runs commands in that folder without asking; without it, it works in a private folder and exchanges no images.',
  args: [{ name: '<name>', help: 'its handle: lower-case letters, digits, - and _, at most 64' }],
  options: [
    {
      flags: '--workspace <dir>',
      help: 'the folder that it works in, or `own` for a private folder that can have images',
    },
    PROVIDER_OPTION,
    MODEL_OPTION,
    {
      flags: '--isolation <how>',
      help: 'sandbox (default); process: without a sandbox, for machines that have none',
      choices: ['sandbox', 'process'],
    },
    {
      flags: '--pause-after <seconds>',
      help: 'time without work until it is paused (default: 60)',
    },
    {
      flags: '--stop-after <seconds>',
      help: 'time after that until it is stopped (default: 300)',
    },
    { flags: '--message-timeout <seconds>', help: 'time for one message (default: 3600)' },
    { flags: '--ceiling <usd>', help: 'the most that it may spend, in US dollars' },
    JSON_OPTION,
  ],
  examples: [
    'hawser instance create reviewer --workspace .',
    'hawser instance create painter --workspace own --ceiling 5',
  ],
})

export const INSTANCE_LIST = command({
  name: 'instance list',
  summary: 'list the Instances with their states',
  options: [JSON_OPTION],
  examples: ['hawser instance list', 'hawser instance list --json'],
})

export const INSTANCE_INFO = command({
  name: 'instance info',
  summary: 'show everything about an Instance',
  args: [NAME],
  options: [JSON_OPTION],
  examples: ['hawser instance info reviewer'],
})

export const INSTANCE_MAP = command({
  name: 'instance map',
  summary: 'give an Instance another workspace',
  details:
    'Its process is stopped; the next message starts it in the new folder, with the Sessions and images of that folder; its agent writes and runs commands there without asking. The old folder keeps its own: map the Instance back to use them again. Refused while messages have not ended.',
  args: [
    NAME,
    { name: '[dir]', help: 'the folder, or `own` for a private folder that can have images' },
  ],
  options: [
    { flags: '--none', help: 'no workspace: a private folder, and no images' },
    JSON_OPTION,
  ],
  examples: ['hawser instance map reviewer ../other', 'hawser instance map reviewer --none'],
})

/** Commands that do one thing to an Instance. */
export const INSTANCE_ACT_COMMANDS = [
  acting('start', 'start an Instance without a message, and wait until it is ready'),
  acting('pause', 'suspend an Instance; the next message continues it'),
  acting('resume', 'continue a paused Instance'),
  acting(
    'stop',
    'end the process of an Instance; the next message starts another one',
    'The message that it works on is interrupted. Messages that wait stay in its queue.',
  ),
  acting('enable', 'let an Instance be started and get messages again'),
  acting('disable', 'stop an Instance, end all of its messages, and refuse new ones'),
]

function acting(act: InstanceAct, summary: string, details?: string) {
  const examples = [`hawser instance ${act} reviewer`]
  const shared = { args: [NAME], options: [JSON_OPTION], examples } as const
  return command({ act, name: `instance ${act}`, summary, details, ...shared })
}

export const INSTANCE_DELETE = command({
  name: 'instance delete',
  summary: 'delete an Instance permanently, with its frames and its own folder',
  details: 'A workspace that was given by its path stays as it is.',
  args: [NAME],
  options: [YES_OPTION, JSON_OPTION],
  examples: ['hawser instance delete reviewer --yes'],
})

export const INSTANCE_SEND = command({
  name: 'instance send',
  summary: 'send a message to an Instance, and start it if it is not running',
  details:
    'The message is stored before the command returns, and is answered also if this machine or the server is restarted by force. If a tool had run by then, or a part of the answer was shown, the message is not run again: its answer says what is unknown. With --wait, the answer is printed. Without, the command prints the number after which the answer can be read.',
  args: [NAME, { name: '[text...]', help: 'the message; read from standard input if omitted' }],
  options: [
    {
      flags: '--attach <what>',
      help: 'an image: a file, `-` for standard input, or `clipboard`; up to four',
      repeatable: true,
    },
    {
      flags: '--session <conversation>',
      help: 'the conversation with the Instance (default: default)',
      default: 'default',
    },
    { flags: '--replace', help: 'cancel the messages of this conversation that have not ended' },
    { flags: '--wait', help: 'wait for the answer and print it' },
    { flags: '--save <dir>', help: 'with --wait: save the images of the answer in this folder' },
    JSON_OPTION,
  ],
  examples: [
    'hawser instance send reviewer "Review the last commit" --wait',
    'hawser instance send painter --attach sketch.png "Draw this properly"',
  ],
})

export const INSTANCE_READ = command({
  name: 'instance read',
  summary: 'show the messages and answers of an Instance',
  details:
    'Without --after, the latest ones. With --follow, new ones as they arrive, until Ctrl-C. Reading starts no Instance.',
  args: [NAME],
  options: [
    { flags: '--follow', help: 'keep printing what arrives, until Ctrl-C' },
    { flags: '--after <seq>', help: 'begin after the frame with this number' },
    {
      flags: '--session <conversation>',
      help: 'show only this conversation (default: all)',
    },
    { flags: '--limit <n>', help: 'at most this many frames, up to 200 (default: 50)' },
    { flags: '--save <dir>', help: 'save images in this folder' },
    { flags: '--json', help: 'print the frames as JSON Lines' },
  ],
  examples: [
    'hawser instance read reviewer',
    'hawser instance read painter --follow --after 120 --save pictures',
  ],
})
