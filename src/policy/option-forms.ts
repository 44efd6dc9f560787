import type { Word } from './command-line.ts'

/** The options that a program accepts before its operands, as lists of names separated by blanks. */
export interface OptionForms {
  readonly flags?: string
  /** The value is attached (`-k5`, `--kill-after=5`) or the next word. */
  readonly withValue?: string
  /** The value is attached or absent: `-i{}`, `--replace=X`. */
  readonly withOptionalValue?: string
}

export interface GivenOption {
  readonly name: string
  readonly value?: string
}

export interface ParsedOptions {
  readonly options: readonly GivenOption[]
  /** What follows the options, and `--` if it ends them. */
  readonly rest: readonly Word[]
}

/**
 * Parses the options before the first operand. `undefined` if one is not in the forms, also an abbreviated one, or if the
 * shell decides what it is. Pure.
 */
export function parseOptions(
  args: readonly Word[],
  { flags = '', withValue = '', withOptionalValue = '' }: OptionForms,
): ParsedOptions | undefined {
  const names = {
    flags: optionSet(flags),
    withValue: optionSet(withValue),
    withOptionalValue: optionSet(withOptionalValue),
  }
  const given: GivenOption[] = []
  for (let at = 0; at < args.length; at++) {
    const { text, isFixed } = args[at] ?? NOTHING
    if (!isFixed) return undefined
    if (text === '--') return { options: given, rest: args.slice(at + 1) }
    if (!text.startsWith('-') || text === '-') return { options: given, rest: args.slice(at) }
    const options = text.startsWith('--') ? longOption(text, names) : shortOptions(text, names)
    if (options === undefined) return undefined
    const last = options.at(-1)
    if (last !== undefined && last.value === undefined && names.withValue.has(last.name)) {
      const value = args[++at]
      if (value?.isFixed !== true) return undefined
      given.push(...options.slice(0, -1), { name: last.name, value: value.text })
    } else given.push(...options)
  }
  return { options: given, rest: [] }
}

const NOTHING: Word = { text: '', isFixed: false }

type Names = Readonly<Record<keyof OptionForms, ReadonlySet<string>>>

function optionSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter(Boolean))
}

function longOption(text: string, names: Names): readonly GivenOption[] | undefined {
  const at = text.indexOf('=')
  if (at !== -1) {
    const name = text.slice(0, at)
    const takes = names.withValue.has(name) || names.withOptionalValue.has(name)
    return takes ? [{ name, value: text.slice(at + 1) }] : undefined
  }
  const isKnown = [names.flags, names.withValue, names.withOptionalValue].some((set) =>
    set.has(text),
  )
  return isKnown ? [{ name: text }] : undefined
}

/** A group of letters; the value of one that takes a value is the rest of the word. */
function shortOptions(text: string, names: Names): readonly GivenOption[] | undefined {
  const given: GivenOption[] = []
  for (let at = 1; at < text.length; at++) {
    const name = `-${text.charAt(at)}`
    const rest = text.slice(at + 1)
    if (names.withValue.has(name) || names.withOptionalValue.has(name))
      return [...given, rest === '' ? { name } : { name, value: rest }]
    if (!names.flags.has(name)) return undefined
    given.push({ name })
  }
  return given
}
