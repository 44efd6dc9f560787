import { COMMANDS } from '../../src/presenters/cli/command-table.ts'
import { ABOUT, WITHOUT_COMMAND } from '../../src/presenters/cli/definitions/program.ts'
import type { Command, Option } from '../../src/presenters/cli/world/command.ts'
import { exitCodeRows, sentence, usage } from './command-page.ts'

/** The manual page, `man hawser`, in the macros of man(7). */
export function manual(): string {
  const sections = [
    section('NAME', ['hawser \\- a local\\-first agent harness']),
    section('SYNOPSIS', ['.B hawser', '.RI [ command ]', '.RI [ arguments ]', '.RI [ options ]']),
    section('DESCRIPTION', paragraphs(ABOUT)),
    section(
      'WITHOUT A COMMAND',
      WITHOUT_COMMAND.flatMap(({ line, help }) => item(line, help)),
    ),
    section('COMMANDS', COMMANDS.flatMap(entry)),
    section(
      'EXIT STATUS',
      exitCodeRows().flatMap(([code = '', meaning = '']) => item(code, meaning)),
    ),
  ]
  return ['.TH HAWSER 1 "" "" "Hawser Manual"', ...sections.flat(), ''].join('\n')
}

function section(title: string, lines: readonly string[]): string[] {
  return [`.SH "${title}"`, ...lines]
}

function entry(command: Command): string[] {
  const { summary, details = '', args = [], options, examples } = command
  return [
    `.SS "${text(usage(command)).replaceAll('"', String.raw`\(dq`)}"`,
    ...paragraphs([sentence(summary), ...details.split('\n\n')].filter((one) => one !== '')),
    ...args.flatMap(({ name, help }) => item(name, help)),
    ...options.flatMap((option) => item(option.flags, optionHelp(option))),
    '.PP',
    `${examples.length > 1 ? 'Examples' : 'Example'}:`,
    '.PP',
    '.EX',
    ...examples.map((line) => textLine(`    ${line}`)),
    '.EE',
  ]
}

function optionHelp({ help, choices }: Option): string {
  return choices === undefined ? help : `${help} (choices: ${choices.join(', ')})`
}

function paragraphs(all: readonly string[]): string[] {
  return all.flatMap((one) => ['.PP', textLine(one)])
}

function item(term: string, help: string): string[] {
  return ['.TP', `.B ${text(term).replaceAll('"', String.raw`\(dq`)}`, textLine(help)]
}

/** A line of text that is not mistaken for a macro. */
function textLine(line: string): string {
  return text(line).replace(/^[.']/, String.raw`\&$&`)
}

/** Plain text: no character has a special meaning. */
export function text(plain: string): string {
  return plain
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll('^', String.raw`\(ha`)
}
