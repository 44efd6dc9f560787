import { command, JSON_OPTION, YES_OPTION } from '../world/command.ts'

export const TELEGRAM_CONNECT = command({
  name: 'telegram connect',
  summary: 'connect a Telegram bot, whose chats can talk to Instances',
  details:
    'Create the bot with @botfather in Telegram. Its token is read without being shown: from the terminal, from standard input, or from TELEGRAM_BOT_TOKEN. It is proved, stored in the settings of your user, and sent to no other server. The local server receives messages while it runs (hawser up). docs/telegram.md describes every step.',
  options: [JSON_OPTION],
  examples: ['hawser telegram connect', 'hawser telegram connect < token.txt'],
})

export const TELEGRAM_STATUS = command({
  name: 'telegram status',
  summary: 'show the connected bot, whether it receives messages, and its chats',
  options: [JSON_OPTION],
  examples: ['hawser telegram status', 'hawser telegram status --json'],
})

export const TELEGRAM_PAIR = command({
  name: 'telegram pair',
  summary: 'let the chat that shows this code talk to an Instance',
  details:
    'A chat that writes to the bot for the first time is shown a code, and nothing else happens. A group is shown one when someone who is paired mentions the bot in it. A code works once, within an hour, and until the server is stopped. Everyone in a paired chat can have the Instance work.',
  args: [{ name: '<code>', help: 'the code that the chat shows' }],
  options: [
    {
      flags: '--instance <name>',
      help: 'the Instance; created if it does not exist (default: one for this chat)',
    },
    {
      flags: '--workspace <dir>',
      help: 'the folder that a created Instance works in, or `own` (default: own)',
    },
    JSON_OPTION,
  ],
  examples: [
    'hawser telegram pair ABCD-EFGH',
    'hawser telegram pair ABCD-EFGH --instance painter',
    'hawser telegram pair ABCD-EFGH --instance reviewer --workspace .',
  ],
})

export const TELEGRAM_UNPAIR = command({
  name: 'telegram unpair',
  summary: 'end the connection of a chat to its Instance',
  details: 'The Instance and its Sessions stay.',
  args: [{ name: '<chat>', help: 'the number of the chat, as `hawser telegram status` shows it' }],
  options: [JSON_OPTION],
  examples: ['hawser telegram unpair 123456789', 'hawser telegram unpair -1001234567890'],
})

export const TELEGRAM_DISCONNECT = command({
  name: 'telegram disconnect',
  summary: 'disconnect the bot and delete its token here',
  details:
    'The pairings stay for the case that the same bot is connected again. To make the token useless everywhere, revoke it with @botfather.',
  options: [YES_OPTION, JSON_OPTION],
  examples: ['hawser telegram disconnect --yes'],
})
