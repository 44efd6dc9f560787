import { placeholders } from './literals.ts'

/**
 * A regular expression over masked text. A space matches any run of white space (` ?` also none), {NAME} and the like are the
 * classes below, and line breaks in the source are ignored. Case-insensitive.
 */
export function phrase(source: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  const raw = String.raw(source, ...parts)
  const form = COMPILED.get(raw) ?? new RegExp(spelledOut(raw), 'is')
  COMPILED.set(raw, form)
  return form
}

/** Rules are written where they are used; each is compiled once. */
const COMPILED = new Map<string, RegExp>()

function spelledOut(source: string): string {
  return withClasses(source)
    .replaceAll(/\n\s*/g, '')
    .replaceAll("'", "['’]")
    .replaceAll(' ?', '\\s*')
    .replaceAll(' ', '\\s+')
}

function withClasses(source: string): string {
  return source.replaceAll(/\{([A-Z]+)\}/g, (_, name: string) => withClasses(CLASSES[name] ?? ''))
}

const CLASSES: Readonly<Record<string, string>> = {
  /** What can name a file. */
  NAME: placeholders('code', 'quote', 'path'),
  PATH: placeholders('path'),
  GLOB: placeholders('glob'),
  CODE: placeholders('code'),
  FENCE: placeholders('fence'),
  /** What can be a text or a command. */
  TEXT: placeholders('fence', 'code', 'quote'),
  ANY: placeholders('fence', 'code', 'quote', 'path', 'glob'),
  THE: '(?:(?:the|an?|my|our|your|its|this|that|these|those|all|every|each|any|both|whole) )*',
  FILE: '(?:(?:new|empty|text|source) )*files?',
  FOLDER: '(?:folder|directory|dir)',
  NAMES: '(?:{THE}(?:{FILE} (?:at )?)?{NAME}(?:(?:,? and |, ?){THE}(?:{FILE} )?{NAME})*)',
  IT: '(?:it|that file|this file|the (?:same )?file|them)',
}
