/** What the program is: paragraphs. */
export const ABOUT = [
  'Hawser is a local-first agent harness. Each Session is recorded in one append-only Log; what a model, an editor, a browser or a terminal shows is a view of it.',
  'Without a command, hawser starts a conversation in this folder (same as hawser chat).',
] as const

/** The options of the program itself. */
export const HELP_FLAGS = '-h, --help'
export const VERSION_FLAGS = '-V, --version'

/** What can be typed without a command. */
export const WITHOUT_COMMAND = [
  { line: 'hawser', help: 'start a conversation (hawser chat)' },
  { line: 'hawser "PROMPT"', help: 'start it with a message' },
  { line: 'hawser -p "PROMPT"', help: 'run one Turn and print the answer (hawser run)' },
  { line: 'hawser -c', help: 'continue the most recent Session of this folder' },
  { line: 'hawser -r [ID]', help: 'continue this Session; without an ID, choose one from a list' },
] as const

/** Words that are not commands and begin the names of several. */
export const GROUPS: Readonly<Record<string, string>> = {
  log: 'show, verify, salvage or export the Log of a Session',
  cache: 'show how much of each request was cached, and why not more',
  config: 'read and change settings',
  instance: 'create and control Instances, send them messages and read their answers',
  telegram: 'connect a Telegram bot, and chats with Instances',
}
