import type { Context, Reading } from './call.ts'
import { asMeant, literalsIn } from './literals.ts'
import { phrase } from './phrase.ts'

/** "", "the files in src", "src", "*.md in docs", "all .ts files": a call of glob. */
export function list(words: string, context: Context): Reading | undefined {
  const { text, place } = takePlace(words, context)
  const pattern = patternIn(text, context)
  if (pattern !== undefined) return globs(pattern, place)
  if (FILES.test(text)) return globs('*', place)
  const [, folder] = phrase`^{THE}({PATH}|[\w.-]+)(?: {FOLDER})?$`.exec(text) ?? []
  if (folder === undefined || place !== undefined || VAGUE.test(folder)) return undefined
  const name = asMeant(folder, context.literals)
  return /\.\w+$/.test(name) ? globs(`**/${name}`, place) : globs('*', name)
}

const FILES = phrase`^(?:{THE}(?:files?|everything|contents?|{FOLDER}|here|)|all)$`

/** "*.md", ".ts files": a pattern for file names. */
function patternIn(text: string, { literals }: Context): string | undefined {
  const [, glob, kind] = phrase`^{THE}(?:({GLOB})(?: files?)?|({PATH}) files)$`.exec(text) ?? []
  if (glob !== undefined) return asMeant(glob, literals)
  const suffix = asMeant(kind ?? '', literals)
  return /^\.\w+$/.test(suffix) ? `**/*${suffix}` : undefined
}

function globs(pattern: string, path: string | undefined): Reading {
  const place = path === undefined || path === '' ? {} : { path: path.replace(/(?<=.)\/$/, '') }
  return { calls: [{ name: 'glob', arguments: { pattern, ...place } }] }
}

interface SearchPlace {
  readonly text: string
  /** Empty for the workspace itself, `undefined` if no place is named. */
  readonly place?: string
  /** A pattern for the files in it. */
  readonly glob?: string
}

/** Takes "in src", "under docs/", "in *.ts" or "in this folder" off the end. */
function takePlace(words: string, context: Context): SearchPlace {
  const [, before = '', place = ''] = PLACE.exec(words.trim()) ?? []
  if (place === '') return { text: words.trim() }
  const text = before.trim()
  if (phrase`^{IT}$`.test(place)) return { text, place: context.it[0] ?? '' }
  if (HERE.test(place)) return { text, place: '' }
  const glob = patternIn(place, context)
  if (glob !== undefined) return { text, place: '', glob }
  const [literal] = literalsIn(place, context.literals)
  return { text, place: literal?.text ?? phrase`^{THE}([\w.-]+)`.exec(place)?.[1] ?? '' }
}

const PLACE = phrase`
  ^(.*?)(?:^|\s)(?:in|inside|under|of|from) ({THE}(?:{FILE} |{FOLDER} )?(?:{NAME}|{GLOB}|[\w.-]+)
  (?: files| {FOLDER})?|{IT})$`
const HERE = phrase`
  ^(?:here|(?:this|the|the current|my|our) (?:{FOLDER}|workspace|project|repo|repository|codebase)
  |{THE}files)$`

/** "TODO in src", "“some words”", "files named a.txt": a call of grep, or of glob for file names. */
export function search(words: string, context: Context): Reading | undefined {
  const { text, place, glob } = takePlace(words, context)
  const [, named] = phrase`^{THE}(?:{FILE} )?(?:(?:named|called) )?({PATH})$`.exec(text) ?? []
  const name = named === undefined ? undefined : asMeant(named, context.literals)
  const names = name === undefined ? patternIn(text, context) : `**/${name.replace(/^\.?\//, '')}`
  if (names !== undefined) return globs(names, place)
  const [, wanted, behind] = SEARCHED.exec(text) ?? []
  if (wanted === undefined || VAGUE.test(wanted)) return undefined
  const path = behind === undefined ? (place ?? '') : asMeant(behind, context.literals)
  const where = path === '' ? {} : { path: path.replace(/(?<=.)\/$/, '') }
  const only = glob === undefined ? {} : { glob }
  const pattern = asPattern(asMeant(wanted, context.literals))
  return { calls: [{ name: 'grep', arguments: { pattern, ...where, ...only } }] }
}

/** A quotation, or one word; `grep word path` needs no "in". */
const SEARCHED = phrase`
  ^(?:for )?{THE}(?:(?:words?|texts?|strings?|phrase|occurrences? of) )?
  ({TEXT}|[^\s\uE000-\uF3FF]+)(?: ({PATH}))?$`
const VAGUE = phrase`
  ^(?:it|them|that|this|these|those|something|anything|nothing|everything|files?|bugs?|out|me|how
  |why|what|more)$`

/** An invalid regular expression is treated as plain text. */
function asPattern(text: string): string {
  try {
    void new RegExp(text, 'u')
    return text
  } catch {
    return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  }
}
