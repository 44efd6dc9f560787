import { Command as Parser, CommanderError, Option as ParserOption } from 'commander'
import { failed, type Failed } from '../../model/errors.ts'
import { refuse } from './world/answer.ts'
import { COMMANDS } from './command-table.ts'
import { ABOUT, GROUPS, HELP_FLAGS, VERSION_FLAGS, WITHOUT_COMMAND } from './definitions/program.ts'
import { commandElsewhere, isPrompt, withCommand } from './spellings.ts'
import { JSON_OPTION, type Command, type ParsedInput } from './world/command.ts'
import { EXIT } from './world/exit-code.ts'
import { showHelp, unknownCommand } from './world/failure.ts'
import { exitAfterOutput } from './world/output-failure.ts'
import { systemWorld, type WorldParts } from './world/system-world.ts'
import { visibleLine } from './text/visible-text.ts'
import type { CliWorld } from './world/world.ts'

/** Parses the arguments, runs the command, and returns its exit code once all output is written. */
export async function runProgram(parts: WorldParts, argv: readonly string[]): Promise<number> {
  const world = systemWorld(parts)
  const code = await execute(world, argv)
  return exitAfterOutput(world.streams, code)
}

async function execute(world: CliWorld, argv: readonly string[]): Promise<number> {
  if (argv.length === 0) return bare(world)
  return runNamed(world, withCommand(argv))
}

async function runNamed(world: CliWorld, argv: readonly string[]): Promise<number> {
  const chosen: ChosenCommand = {}
  const parser = programOf(world, chosen, argv[0])
  try {
    await parser.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return EXIT.done
    if (error.code === 'commander.help') {
      groupIn(parser, argv).outputHelp()
      return EXIT.done
    }
    if (namesNoCommand(parser, argv, error) && isPrompt(argv, nearest(error))) {
      return runNamed(world, ['chat', ...argv])
    }
    return refuse({ ...world, json: wantsJson(argv) }, usageError(parser, argv, error).error)
  }
  if (chosen.command === undefined) {
    return refuse({ ...world, json: wantsJson(argv) }, unknownCommand(argv).error)
  }
  const { command, input = { args: [], options: {} } } = chosen
  const own = { ...world, command: command.name, json: isJson(command, input) }
  const code = await command.run(own, input)
  return code.ok ? code.value : refuse(own, code.error)
}

/** The command to run and its arguments. */
interface ChosenCommand {
  command?: Command
  input?: ParsedInput
}

/** Without arguments: a conversation in a terminal, the help elsewhere. */
async function bare(world: CliWorld): Promise<number> {
  const { stdin, stdout } = world.streams
  if (!stdin.isTTY || !stdout.isTTY) {
    programOf(world, {}).outputHelp()
    return EXIT.done
  }
  return runNamed(world, ['chat'])
}

/** The parser of all commands, or only of those whose name starts with `word`, which is faster to build. */
function programOf(
  world: Pick<CliWorld, 'streams' | 'version'>,
  chosen: ChosenCommand,
  word?: string,
): Parser {
  const parser = withoutSideEffects(new Parser('hawser'), world)
    .description(ABOUT.join('\n\n'))
    .version(`hawser ${world.version}`, VERSION_FLAGS, 'print the version')
    .helpOption(HELP_FLAGS, 'print help; for a command: hawser COMMAND --help')
    // Arguments and options are listed in the help of each command.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .helpCommand(false)
    .addHelpText('after', `\nWithout a command:\n${WITHOUT_COMMAND.map(shortLine).join('\n')}`)
    .addHelpText('after', AFTER)
  const groups = new Map<string, Parser>([['', parser]])
  const matching = COMMANDS.filter(({ name }) => name.split(' ')[0] === word)
  for (const command of matching.length > 0 ? matching : COMMANDS) {
    const words = command.name.split(' ')
    const last = words.pop() ?? ''
    const group = words.join(' ')
    const parent = groups.get(group) ?? addGroup(parser, group, groups, world)
    const own = withoutSideEffects(parent.command(last), world)
    groups.set(command.name, own)
    describe(own, command, (parsed) => Object.assign(chosen, { command, input: parsed }))
  }
  return parser
}

/** As short as the options of the commands that they stand for. */
function shortLine({ line, help }: (typeof WITHOUT_COMMAND)[number]): string {
  return `  ${line.padEnd(24)}${help}`
}

// The parser wraps the description to the width of the terminal, but not the text after the commands.
const AFTER = `
Exit codes: 0 success, 1 failure, 2 invalid usage, 3 a tool call was denied
because there was no terminal to ask, 4 every attachment failed and there was no
prompt, 5 the Session is busy, 6 no provider or API key, 124 timeout,
130 interrupted.

Example: hawser run "What is in this folder?"`

function addGroup(
  parser: Parser,
  name: string,
  groups: Map<string, Parser>,
  world: Pick<CliWorld, 'streams'>,
): Parser {
  const summary = GROUPS[name] ?? ''
  const group = withoutSideEffects(parser.command(name), world)
  group.summary(summary).description(sentence(summary))
  groups.set(name, group)
  return group
}

/** Keeps the parser from exiting or printing errors; both happen here. */
function withoutSideEffects(parser: Parser, { streams }: Pick<CliWorld, 'streams'>): Parser {
  return (
    parser
      .exitOverride()
      // After `sessions delete`, an option belongs to `delete`, even if `sessions` has one of the same name.
      .enablePositionalOptions()
      .helpOption(HELP_FLAGS, 'print help')
      .helpCommand(false)
      .showSuggestionAfterError(true)
      .configureOutput({
        writeOut: (text) => streams.stdout.write(text),
        writeErr: () => {},
        getOutHelpWidth: () => Math.min(streams.stdout.columns, 100),
      })
  )
}

function describe(parser: Parser, command: Command, choose: (parsed: ParsedInput) => void): void {
  const { summary, details = '' } = command
  parser.summary(summary).description([sentence(summary), details].join('\n\n').trimEnd())
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

/** The parser reports similar names only in its message. */
function nearest({ message }: CommanderError): string | undefined {
  return /\(Did you mean (?:one of )?(.+)\?\)/.exec(message)?.[1]
}

function namesNoCommand(parser: Parser, argv: readonly string[], error: CommanderError): boolean {
  const [first = ''] = argv
  const known = parser.commands.some((command) => command.name() === first)
  return !known && !first.startsWith('-') && error.code === 'commander.unknownCommand'
}

/** A command answers in JSON with `--json`, or with `--output` where that is a format and not a file. */
function isJson({ options: known }: Command, { options: { json, output } }: ParsedInput): boolean {
  const formats = known.find(({ flags }) => flags.startsWith('--output '))?.choices
  return json === true || (formats !== undefined && (output ?? 'text') !== 'text')
}

/** Errors are printed in the format that was requested, even if the arguments cannot be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  return argv.some(
    (argument, at) =>
      argument === JSON_OPTION.flags ||
      /^--output=(json|stream-json)$/.test(argument) ||
      (argument === '--output' && /^(json|stream-json)$/.test(argv[at + 1] ?? '')),
  )
}

/** Converts a parser error. */
function usageError(parser: Parser, argv: readonly string[], error: CommanderError): Failed {
  const [first = ''] = argv
  if (namesNoCommand(parser, argv, error)) {
    return commandElsewhere(first) ?? unknownCommand(argv, nearest(error))
  }
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll('\n', ' ')
  return failed('invalid_args', sentence(visibleLine(message)), repeatable(argv), [
    showHelp(commandIn(parser, argv)),
  ])
}

/** The innermost group that the arguments name. */
function groupIn(parser: Parser, [word, ...rest]: readonly string[]): Parser {
  const found = parser.commands.find((command) => command.name() === word)
  return found === undefined ? parser : groupIn(found, rest)
}

/** The words of the innermost command that the arguments name, for example `log export`. */
function commandIn(parser: Parser, argv: readonly string[]): string {
  const [word = ''] = argv
  const found = parser.commands.find((command) => command.name() === word)
  return found === undefined ? '' : `${word} ${commandIn(found, argv.slice(1))}`.trim()
}

/** The arguments, unless they may contain an API key. */
function repeatable(argv: readonly string[]): Readonly<Record<string, unknown>> {
  return argv.includes('config') ? {} : { arguments: argv }
}
