import { Command as Parser, CommanderError, Option as ParserOption } from 'commander'
import { failed, type Failed } from '../../model/errors.ts'
import { refuse } from './world/answer.ts'
import { COMMANDS } from './command-table.ts'
import type { Command, Given } from './world/command.ts'
import { EXIT } from './world/exit-code.ts'
import { unknownCommand } from './world/failure.ts'
import { exitAfterOutput } from './world/output-failure.ts'
import { systemWorld, type WorldParts } from './world/system-world.ts'
import { visibleLine } from './text/visible-text.ts'
import type { CliWorld } from './world/world.ts'

/** Parses what a person typed, runs the command, and answers with its exit code when all it wrote is out. */
export async function runProgram(parts: WorldParts, argv: readonly string[]): Promise<number> {
  const world = systemWorld(parts)
  const code = await runCommand(world, argv)
  return exitAfterOutput(world.streams, code)
}

async function runCommand(world: CliWorld, argv: readonly string[]): Promise<number> {
  if (argv.length === 0) return bare(world)
  const chosen: Chosen = {}
  const parser = programOf(world, chosen, argv[0])
  try {
    await parser.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0 || error.code === 'commander.help') return EXIT.done
    return refuse(world, argv.includes('--json'), misused(parser, argv, error).error)
  }
  if (chosen.command === undefined) {
    return refuse(world, argv.includes('--json'), unknownCommand(argv).error)
  }
  const { run } = await chosen.command.load()
  return run(world, chosen.given ?? { args: [], options: {} })
}

/** Which command was meant, and with what. */
interface Chosen {
  command?: Command
  given?: Given
}

/** In a terminal a conversation; elsewhere nobody could have one, so how to begin. */
async function bare(world: CliWorld): Promise<number> {
  const { stdin, stdout } = world.streams
  if (!stdin.isTTY || !stdout.isTTY) {
    programOf(world, {}).outputHelp()
    return EXIT.done
  }
  const { run } = await import('./commands/chat.ts')
  return run(world, { args: [], options: {} })
}

/** The parser of all commands, or only of those that begin with `word`, when there are any: most of it is never asked for. */
function programOf(
  world: Pick<CliWorld, 'streams' | 'version'>,
  chosen: Chosen,
  word?: string,
): Parser {
  const parser = withManners(new Parser('hawser'), world)
    .description(ABOUT)
    .version(`hawser ${world.version}`, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this text; `hawser COMMAND --help` shows more')
    .helpCommand(false)
    .addHelpText('after', AFTER)
  const groups = new Map<string, Parser>([['', parser]])
  const meant = COMMANDS.filter(({ name }) => name.split(' ')[0] === word)
  for (const command of meant.length > 0 ? meant : COMMANDS) {
    const words = command.name.split(' ')
    const last = words.pop() ?? ''
    const group = words.join(' ')
    const parent = groups.get(group) ?? addGroup(parser, group, groups, world)
    const own = withManners(parent.command(last), world)
    groups.set(command.name, own)
    describe(own, command, (given) => Object.assign(chosen, { command, given }))
  }
  return parser
}

const ABOUT = `Hawser is a local-first agent harness. One append-only Log per Session is the
truth; what a model, an editor, a browser or a terminal sees is a view of it.

Without a command, in a terminal: a conversation in this folder.`

const AFTER = `
Exit codes: 0 done, 1 failed, 2 usage, 3 a call was denied because nobody could
be asked, 4 every attachment failed and there was no text, 5 the Session is
busy, 6 no provider or key, 124 timed out, 130 interrupted.

Example: hawser run "What is in this folder?"`

function addGroup(
  parser: Parser,
  name: string,
  groups: Map<string, Parser>,
  world: Pick<CliWorld, 'streams'>,
): Parser {
  const summary = GROUPS[name] ?? ''
  const group = withManners(parser.command(name), world).description(summary)
  groups.set(name, group)
  return group
}

const GROUPS: Readonly<Record<string, string>> = {
  log: 'read, prove, repair or export the Log of a Session',
  cache: 'see what was cached of requests, and why not more',
  config: 'read and change settings',
}

/** Nothing is printed and nothing ends but by us. */
function withManners(parser: Parser, { streams }: Pick<CliWorld, 'streams'>): Parser {
  return (
    parser
      .exitOverride()
      // Behind `sessions delete`, an option is of `delete`, also where `sessions` knows one of that name.
      .enablePositionalOptions()
      .helpOption('-h, --help', 'show this text')
      .helpCommand(false)
      .showSuggestionAfterError(true)
      .configureOutput({
        writeOut: (text) => streams.stdout.write(text),
        writeErr: () => {},
        getOutHelpWidth: () => Math.min(streams.stdout.columns, 100),
      })
  )
}

function describe(parser: Parser, command: Command, choose: (given: Given) => void): void {
  parser.summary(command.summary).description(sentence(command.summary))
  for (const { name, help } of command.args ?? []) parser.argument(name, help)
  for (const { flags, help, choices, repeatable: isList } of command.options) {
    const option = new ParserOption(flags, help)
    if (choices !== undefined) option.choices([...choices])
    if (isList === true) option.argParser(oneMore)
    parser.addOption(option)
  }
  const examples = command.examples.map((line) => `  ${line}`).join('\n')
  parser.addHelpText(
    'after',
    `\n${command.examples.length > 1 ? 'Examples' : 'Example'}:\n${examples}`,
  )
  parser.action(() => choose({ args: parser.processedArgs, options: parser.opts() }))
}

function oneMore(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
}

/** The parser knows what is near; it says so in its message only. */
function nearest({ message }: CommanderError): string | undefined {
  return /\(Did you mean (?:one of )?(.+)\?\)/.exec(message)?.[1]
}

/** What the parser complained about, in our shape. */
function misused(parser: Parser, argv: readonly string[], error: CommanderError): Failed {
  const [first = ''] = argv
  const known = parser.commands.some((command) => command.name() === first)
  const word = argv.find((argument) => !argument.startsWith('-'))
  if (!known && word === first && error.code === 'commander.unknownCommand') {
    return unknownCommand(argv, nearest(error))
  }
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  const help = known ? `hawser ${first} --help` : 'hawser --help'
  return failed('invalid_args', `${visibleLine(message)}.`, repeatable(argv), [
    { action: 'show_help', command: help },
  ])
}

/** What was typed, unless it may hold a key. */
function repeatable(argv: readonly string[]): Readonly<Record<string, unknown>> {
  return argv.includes('config') ? {} : { arguments: argv }
}
