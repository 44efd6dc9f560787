import { HELP_FLAGS, VERSION_FLAGS } from '../definitions/program.ts'
import { allSettings } from '../../../model/settings.ts'
import {
  spellingsOf,
  type Argument,
  type CommandDefinition,
  type Option,
} from '../world/command.ts'

/** What can be completed at a position. `text` cannot be predicted. */
export type Completable =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'sessions' | 'skills' | 'folders' | 'files' | 'text' }

/** What a shell needs to know about one command. */
export interface Entry {
  /** Its words, such as `log show`. */
  readonly name: string
  readonly summary: string
  readonly args: readonly Completable[]
  readonly options: readonly EntryOption[]
}

export interface EntryOption {
  /** As typed: `-i`, `--ignore-case`. */
  readonly names: readonly string[]
  readonly help: string
  /** Absent if it takes no value. */
  readonly value?: Completable
}

/** A command prefix and the words that can follow. The program itself is ''. */
export interface Group {
  readonly name: string
  readonly next: readonly { readonly word: string; readonly summary: string }[]
}

export function entries(commands: readonly CommandDefinition[]): Entry[] {
  return commands.map((command) => ({
    name: command.name,
    summary: command.summary,
    args: (command.args ?? []).map(argumentOf),
    options: [...command.options.map(optionOf), HELP],
  }))
}

export function groups(commands: readonly CommandDefinition[]): Group[] {
  const all = commands.flatMap(({ name }) => {
    const words = name.split(' ')
    return words.map((_, at) => words.slice(0, at).join(' '))
  })
  return [...new Set(all)].map((name) => ({ name, next: nextOf(commands, name) }))
}

const HELP: EntryOption = { names: spellingsOf({ flags: HELP_FLAGS }), help: 'show help' }

/** The options of the program itself. */
export const PROGRAM_OPTIONS: readonly EntryOption[] = [
  HELP,
  { names: spellingsOf({ flags: VERSION_FLAGS }), help: 'show the version' },
]

function nextOf(commands: readonly CommandDefinition[], group: string): Group['next'] {
  const before = group === '' ? '' : `${group} `
  const below = commands.filter(({ name }) => name.startsWith(before) && name !== group)
  const words = below.map(({ name }) => name.slice(before.length).split(' ')[0] ?? '')
  return [...new Set(words)].map((word) => {
    const itself = below.find(({ name }) => name === before + word)
    const inside = below.filter(({ name }) => name.startsWith(`${before}${word} `))
    const names = inside.map(({ name }) => name.slice(before.length + word.length + 1))
    return { word, summary: itself?.summary ?? names.join(', ') }
  })
}

function argumentOf({ name, words }: Argument): Completable {
  if (words !== undefined) return { kind: 'words', words }
  return expectedAt(name.replaceAll(/[^a-z]/g, ''))
}

function optionOf(option: Option): EntryOption {
  const { flags, help, choices } = option
  const names = spellingsOf(option)
  const value = /[<[]([a-z]+)/.exec(flags)?.[1]
  if (value === undefined) return { names, help }
  const words = choices === undefined ? undefined : { kind: 'words' as const, words: choices }
  // An `id` in an option is a Session id; Turns are arguments.
  return { names, help, value: words ?? expectedAt(value === 'id' ? 'session' : value) }
}

function expectedAt(placeholder: string): Completable {
  switch (placeholder) {
    case 'session':
      return { kind: 'sessions' }
    case 'skill':
      return { kind: 'skills' }
    case 'key':
      return { kind: 'words', words: allSettings().map(({ key }) => key) }
    case 'dir':
      return { kind: 'folders' }
    case 'file':
    case 'what':
      return { kind: 'files' }
    default:
      return { kind: 'text' }
  }
}

/** As in `--help`. */
export function longName({ names }: EntryOption): string {
  return names.at(-1) ?? ''
}

/** Every option of any command that takes a value, as alternatives of a shell pattern. */
export function valueOptions(all: readonly Entry[]): string {
  const options = all.flatMap(({ options: own }) => own)
  const names = options.flatMap(({ names: own, value }) => (value === undefined ? [] : own))
  return [...new Set(names)].join('|')
}
