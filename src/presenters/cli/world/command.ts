import type * as z from 'zod'
import type { Result } from '../../../model/errors.ts'
import type { CliWorld } from './world.ts'

/** What a command is. Its help, completion, manual and the types of its input follow from it, without loading it. */
export interface CommandDefinition {
  /** Its words, as in `log show`. */
  readonly name: string
  /** One line, as in a list of commands. */
  readonly summary: string
  /** What its help and the manual say below the summary: one or more paragraphs. */
  readonly details?: string | undefined
  readonly args?: readonly Argument[]
  readonly options: readonly Option[]
  /** Lines a person can type; at least one. */
  readonly examples: readonly string[]
}

export interface Argument {
  /** `<session>` is required, `[turn]` is optional, `[prompt...]` takes any number of words. */
  readonly name: string
  readonly help: string
  /** What completion offers. The command itself checks the word. */
  readonly words?: readonly string[]
}

export interface Option {
  /** As in `--session <id>` or `--json`. */
  readonly flags: string
  readonly help: string
  readonly choices?: readonly string[]
  /** Its value if it is not given. The help says so in words. */
  readonly default?: string
  /** The option can be repeated; its value is a list. */
  readonly repeatable?: true
}

/** Defines a command. */
export function command<const D extends CommandDefinition>(definition: D): D {
  return definition
}

/** The arguments and options of a command. The parser has checked them against its definition. */
export interface CommandInput<D extends CommandDefinition> {
  readonly args: ArgumentValues<D['args']>
  readonly options: OptionInput<D['options'][number]>
}

type ArgumentValues<A> = A extends readonly Argument[]
  ? { readonly [At in keyof A]: A[At] extends Argument ? ArgumentValue<A[At]['name']> : never }
  : readonly []

type ArgumentValue<Name> = Name extends `[${string}...]`
  ? readonly string[]
  : Name extends `[${string}]`
    ? string | undefined
    : string

export type OptionInput<O extends Option> = {
  readonly [One in O as OptionName<One['flags']>]: OptionValue<One>
}

/** `ignoreCase` of `-i, --ignore-case`, and `stdin` of `--no-stdin`. */
type OptionName<Flags> = Flags extends `${string}--${infer Long} ${string}`
  ? Camel<Long>
  : Flags extends `${string}--no-${infer Long}`
    ? Camel<Long>
    : Flags extends `${string}--${infer Long}`
      ? Camel<Long>
      : never

type Camel<Words> = Words extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Words extends string
    ? Words
    : never

type OptionValue<O extends Option> = O extends { readonly repeatable: true }
  ? readonly string[]
  : O['flags'] extends `${string}<${string}`
    ?
        | (O extends { readonly choices: readonly (infer Choice)[] } ? Choice : string)
        | (O extends { readonly default: string } ? never : undefined)
    : O['flags'] extends `${string}[${string}`
      ? string | true | undefined
      : O['flags'] extends `--no-${string}`
        ? boolean | undefined
        : boolean

/** Runs a command and returns its exit code. Its failure is printed by the program. Throws for defects only. */
export type Run<D extends CommandDefinition> = (
  world: CliWorld,
  input: CommandInput<D>,
  definition: D,
) => Promise<Result<number>>

/** A command with its implementation, which is loaded when it runs. */
export interface Command extends CommandDefinition {
  readonly run: (world: CliWorld, parsed: ParsedInput) => Promise<Result<number>>
  /** The file with `Output`, the shape of its JSON. */
  readonly shape: () => Promise<object>
}

/** What the parser found: every argument, and the options that were given. */
export interface ParsedInput {
  readonly args: readonly unknown[]
  readonly options: Readonly<Record<string, unknown>>
}

interface Implementation<D extends CommandDefinition> {
  readonly run: Run<D>
}

/** What documents need of a command with `--json`. */
type Shape<D extends CommandDefinition> = '--json' extends D['options'][number]['flags']
  ? { readonly Output: z.ZodType }
  : object

/** `shape` loads the shape of the JSON, if that is not in the file of the implementation. */
export function lazy<const D extends CommandDefinition>(
  definition: D,
  load: () => Promise<Implementation<D> & Shape<D>>,
): Command
export function lazy<const D extends CommandDefinition>(
  definition: D,
  load: () => Promise<Implementation<D>>,
  shape: () => Promise<Shape<D>>,
): Command
export function lazy<const D extends CommandDefinition>(
  definition: D,
  load: () => Promise<Implementation<D>>,
  shape: () => Promise<object> = load,
): Command {
  const run: Command['run'] = async (world, parsed) => {
    const implementation = await load()
    return implementation.run(world, inputOf(definition, parsed), definition)
  }
  return { ...definition, run, shape }
}

/** With a value for every option: a flag that was not given is false, and a list empty. */
function inputOf<D extends CommandDefinition>(definition: D, parsed: ParsedInput): CommandInput<D>
function inputOf({ options }: CommandDefinition, parsed: ParsedInput): object {
  const values: Record<string, unknown> = {}
  for (const option of options) values[optionName(option)] = absentValue(option, options)
  return { args: parsed.args, options: { ...values, ...parsed.options } }
}

function absentValue(option: Option, all: readonly Option[]): unknown {
  if (option.repeatable === true) return []
  if (option.default !== undefined) return option.default
  const isFlag = !/[<[]/.test(option.flags)
  const isNegatable = all.some(({ flags }) => flags === `--no-${optionName(option)}`)
  return isFlag && !isNegatable ? false : undefined
}

/** As the parser names it: `ignoreCase` for `-i, --ignore-case`. */
function optionName({ flags }: Option): string {
  const [, long = ''] = /--(?:no-)?([a-z-]+)/.exec(flags) ?? []
  return long.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The spellings of an option, such as `-i` and `--ignore-case`. */
export function spellingsOf({ flags }: Pick<Option, 'flags'>): string[] {
  return flags.split(/[ ,]+/).filter((part) => part.startsWith('-'))
}

export const JSON_OPTION = {
  flags: '--json',
  help: 'print the result as JSON on standard output',
} as const satisfies Option

export const WORKSPACE_OPTION = {
  flags: '--workspace <dir>',
  help: 'workspace folder (default: the nearest one, from the current folder upwards)',
} as const satisfies Option

export const INSTANCE_OPTION = {
  flags: '--instance <name>',
  help: 'read the Sessions of this Instance, in the workspace that it works in, instead of your own',
} as const satisfies Option

export const YES_OPTION = {
  flags: '--yes',
  help: 'do not ask for confirmation',
} as const satisfies Option

export const OPTIONAL_SESSION = {
  name: '[session]',
  help: 'id of a Session, or the end of it (default: latest)',
} as const satisfies Argument

export const PROVIDER_OPTION = {
  flags: '--provider <name>',
  help: 'model provider, as listed by `hawser models`',
} as const satisfies Option

export const MODEL_OPTION = {
  flags: '--model <name>',
  help: 'model, as listed by `hawser models`',
} as const satisfies Option
