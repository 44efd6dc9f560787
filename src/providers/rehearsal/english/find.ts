import { list, NAMES_FILES } from './list.ts'
import { literalsIn } from './words/literals.ts'
import { looksLikePath } from './words/file-names.ts'
import { phrase } from './words/phrase.ts'
import { takePlace } from './place.ts'
import type { Context, Reading } from './reading.ts'
import { asksForText, search } from './search.ts'

/** "… TODO in src" is about text, "… files named x" about files; "… main.ts" depends on the verb. */
export function find(said: string, context: Context, verb: string): Reading {
  return isAboutFiles(said, context, verb) ? list(said, context, true) : search(said, context)
}

const FILE_NOUN = phrase`(?:^|\s)(?:{FILE}|{FOLDER})(?!\w)`
const TEXT_NOUN = phrase`
  (?:^|\s)(?:words?|texts?|strings?|phrases?|terms?|patterns?|regexp?|expressions?|symbols?
  |functions?|methods?|class(?:es)?|variables?|identifiers?|constants?|comments?|lines?|keywords?)
  (?!\w)`

function isAboutFiles(said: string, context: Context, verb: string): boolean {
  if (NAMES_FILES.test(said)) return true
  if (asksForText(said)) return false
  const { rest, place } = takePlace(said, context)
  if (TEXT_NOUN.test(rest) && !phrase`(?:text|pattern)s? ?files?`.test(rest)) return false
  const before = rest.split(phrase`(?:^|\s)for `)
  const object = before.length > 1 ? (before.at(-1) ?? rest) : rest
  if (FILE_NOUN.test(object)) return true
  const literals = literalsIn(object, context.literals)
  if (literals.some(({ kind }) => kind === 'glob')) return true
  const wantsText = /^(?:grep|rg|search|scan|count|check)/.test(verb)
  const inFile = place.paths.some((path) => /\.\w+$/.test(path))
  return (
    !wantsText &&
    !inFile &&
    literals.length > 0 &&
    literals.every(({ text }) => looksLikePath(text))
  )
}
