import { ERROR_KINDS } from '../../src/model/errors.ts'
import { COMMANDS } from '../../src/presenters/cli/command-table.ts'
import type { Argument, Command, Option } from '../../src/presenters/cli/world/command.ts'
import { EXIT, exitCodeOf } from '../../src/presenters/cli/world/exit-code.ts'
import { answersAsJson, schemaName } from './schemas.ts'
import { table } from './table.ts'

/** Every command, as `--help` describes it. */
export function commandPage(): string {
  return COMMANDS.map(section).join('\n\n')
}

/** Every exit code, and the kinds of error that lead to it. Code 1 is for all other kinds. */
export function exitCodeTable(): string {
  return table(['code', 'meaning', 'kinds of error'], exitCodeRows())
}

/** Each exit code, its meaning, and the kinds of error. */
export function exitCodeRows(): readonly string[][] {
  const codes = new Set<number>([...Object.values(EXIT), ...ERROR_KINDS.map(exitCodeOf)])
  return [...codes]
    .toSorted((a, b) => a - b)
    .map((code) => {
      const words = MEANINGS.get(code)
      if (words === undefined) throw new Error(`exit code ${code} has no description`)
      return [String(code), words, code === EXIT.failed ? 'all others' : kindsOf(code)]
    })
}

const MEANINGS: ReadonlyMap<number, string> = new Map([
  [0, 'done'],
  [1, 'failed; or the result is negative: nothing found, not intact, not valid'],
  [2, 'invalid arguments, or input over a size limit'],
  [
    3,
    'a call was denied because no user could be asked, or a hydration by a rule or for that reason',
  ],
  [4, 'every attachment was rejected and there was no prompt'],
  [5, 'the Session is busy'],
  [6, 'the provider is not configured, or it rejected the key'],
  [124, 'the time limit was reached'],
  [129, 'the terminal was closed (SIGHUP)'],
  [130, 'interrupted (Ctrl-C, SIGINT)'],
  [143, 'terminated (SIGTERM)'],
])

function kindsOf(code: number): string {
  const kinds = ERROR_KINDS.filter((kind) => exitCodeOf(kind) === code)
  return kinds.map((kind) => `\`${kind}\``).join(', ')
}

function section(command: Command): string {
  const { name, summary, details, args = [], options, examples } = command
  const schema = `\`--json\`: [${schemaName(command)}.json](schemas/${schemaName(command)}.json)`
  return [
    `## hawser ${name}`,
    sentence(summary),
    ...(details === undefined ? [] : [details]),
    fenced([usage(command)]),
    ...(args.length === 0 ? [] : [table(['argument', 'meaning'], args.map(argumentRow))]),
    ...(options.length === 0 ? [] : [table(['option', 'meaning'], options.map(optionRow))]),
    fenced(examples),
    ...(answersAsJson(command) ? [schema] : []),
  ].join('\n\n')
}

export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
}

export function usage({ name, args = [], options }: Command): string {
  return [
    'hawser',
    name,
    ...args.map((arg) => arg.name),
    ...(options.length > 0 ? ['[options]'] : []),
  ].join(' ')
}

function argumentRow({ name, help }: Argument): string[] {
  return [`\`${name}\``, help]
}

function optionRow({ flags, help, choices }: Option): string[] {
  const words = choices === undefined ? '' : ` (${choices.map((one) => `\`${one}\``).join(', ')})`
  return [`\`${flags}\``, `${help}${words}`]
}

function fenced(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n')
}
