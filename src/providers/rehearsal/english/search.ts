import { asMeant, literalsIn } from './words/literals.ts'
import { phrase } from './words/phrase.ts'
import { NAMES_FILES } from './list.ts'
import { itemsOf, NOWHERE_SPECIAL, placeNamed, takePlace, type SearchPlace } from './place.ts'
import type { Call, Context, Reading } from './reading.ts'

/** "… for TODO in src": calls of grep. */
export function search(said: string, context: Context): Reading {
  const several = severalSearches(said, context)
  if (several !== undefined) return several
  const { text, manner } = takeManner(said)
  const { object, place } = objectAndPlace(text, context)
  const patterns = patternsOf(object, context).map((pattern) => expression(pattern, manner))
  if (patterns.length === 0)
    return { calls: [], missing: 'I do not know what to search for.', about: place.paths }
  return {
    calls: patterns.flatMap((pattern) => callsFor(pattern, place, manner)),
    about: place.paths,
  }
}

/** "X in src and Y in test". */
function severalSearches(said: string, context: Context): Reading | undefined {
  const parts = said.split(
    phrase`
      (?:, and |, | and )(?=(?:for )?(?:{DET}|words? |text )?(?:{TEXT}|\w+) (?:in|under|inside
      |within) )`,
  )
  if (parts.length < 2 || !parts.every((part) => takePlace(part, context).place.paths.length > 0))
    return undefined
  const readings = parts.map((part) => search(part, context))
  return {
    calls: readings.flatMap(({ calls }) => calls),
    about: readings.flatMap(({ about }) => about ?? []),
  }
}

/** The text names files or lines by what stands in them: "files that mention X", "every use of X". */
export function asksForText(text: string): boolean {
  return !NAMES_FILES.test(text) && (MENTION.test(text) || HOLDS.test(text))
}

interface Manner {
  readonly ignoreCase: boolean
  readonly meant: 'text' | 'expression' | 'either'
}

const IGNORING_CASE = phrase`
  ,?\s*(?:and )?\(?(?:(?:by |while )?ignor(?:e|ing)(?: the| upper and lower| letter)? cas(?:e|ing)
  |case[ -]?insensitive(?:ly)?|(?:regardless|irrespective) of(?: the)? cas(?:e|ing)|(?:no matter
  |whatever|never mind)(?: the)? cas(?:e|ing)|in (?:any|either) case|(?:in )?(?:upper|lower)[ -]?
  (?:case)? or (?:upper|lower)[ -]?case|without regard (?:to|for) case)\)?`

function takeManner(said: string): { readonly text: string; readonly manner: Manner } {
  const ignoreCase = IGNORING_CASE.test(said)
  const text = said.replace(IGNORING_CASE, '')
  const isExpression = phrase`(?:\bregexp?|regular expression|\bpattern)\b`.test(text)
  const isText = phrase`\b(?:exact(?:ly)?|literal(?:ly)?|verbatim)\b`.test(text)
  return {
    text,
    manner: { ignoreCase, meant: isExpression ? 'expression' : isText ? 'text' : 'either' },
  }
}

const LINES = String.raw`(?:lines?|places?|spots?|files?|documents?|modules?|scripts?|pages?|ones?
  |anything|anywhere|everything)`

const MENTION = phrase`
  \b{MENTIONS} (?:of|to|for)\b|\bwhere(?:ver)? .+ (?:is|are|gets?|appears?|occurs?)\b`
const HOLDS = phrase`\b${LINES}\b.*?\b(?:(?:that|which) )?(?:{HOLDS}|{HOLDING})(?: |$)`

/** "files in src that mention X": the place may stand between the noun and the verb, or after the object. */
const NOUN_PLACE_VERB = phrase`
  ^(.*?\b${LINES})(\b.*?)\b(?:that |which )?(?:{HOLDS}|{HOLDING}) (.+)$`

function objectAndPlace(text: string, context: Context): { object: string; place: SearchPlace } {
  const [, noun = '', between = '', held] = NOUN_PLACE_VERB.exec(text) ?? []
  const { rest, place } = takePlace(held ?? text, context)
  const of = held === undefined ? NOWHERE_SPECIAL : placeOfNoun(noun, between, context)
  const [, where = '', object] = PLACE_FOR_OBJECT.exec(rest) ?? []
  const first = object === undefined ? undefined : takePlace(`x in ${where}`, context)
  if (object !== undefined && first?.rest === 'x')
    return { object, place: joined(first.place, place) }
  const [, pattern, path = ''] = OBJECT_PATH.exec(rest) ?? QUOTE_FOLDER.exec(rest) ?? []
  if (pattern === undefined) return { object: rest, place: joined(of, place) }
  return { object: pattern, place: joined(takePlace(`x in ${path}`, context).place, place) }
}

/** "all ts files in src" that mention something. */
function placeOfNoun(noun: string, between: string, context: Context): SearchPlace {
  const kind = placeNamed(noun.replace(phrase`^(?:for |me |out )*`, ''), context)
  const { place } = takePlace(`x ${between.trim()}`, context)
  return { paths: place.paths, globs: [...(kind?.globs ?? []), ...place.globs] }
}

/** "src for X", as in "search src for X". */
const PLACE_FOR_OBJECT = phrase`^(?:(?:in|through|inside|across|within|all) )*(.+?) for (.+)$`
/** "X a.txt", as in "grep X a.txt". */
const OBJECT_PATH = phrase`^((?:{TEXT}|[\w.]+)) ({PATH})$`
const QUOTE_FOLDER = phrase`
  ^({TEXT}) (?!(?:now|too|again|today|exactly|literally|verbatim|only|first|once)$)([\w-]+)$`

function joined(a: SearchPlace, b: SearchPlace): SearchPlace {
  return { paths: [...a.paths, ...b.paths], globs: [...a.globs, ...b.globs] }
}

const LEADING = phrase`
  ^(?:for |me |up |out |down |through |(?:-\w+ )+|(?:exact|literal|literally|exactly|verbatim
  |following|same|different) |${LINES} (?:where|of) |{MENTIONS} (?:of|to|for|in) |(?:text|words?
  |strings?|phrases?|terms?|patterns?|regexp?|regular expressions?|expressions?|symbols?
  |functions?|methods?|class(?:es)?|variables?|identifiers?|constants?|names?|keywords?|comments?
  |literal|types?|interfaces?|tokens?)(?: (?:called|named|of))? (?=.)|{DET})`
const TRAILING = phrase`
  (?:^|\s+)(?:(?:is|are|was|were|gets?|being|has been) )?(?:used|mentioned|defined|declared|called
  |referenced|imported|set|handled|implemented|found|located|appears?|occurs?|comes? up|shows? up
  |exists?|is|are|live[sd]?|(?:in|on) (?:it|them))$`

function patternsOf(object: string, context: Context): string[] {
  let rest = object.trim()
  for (let shorter = rest; ; rest = shorter) {
    shorter = rest.replace(LEADING, '').trim()
    if (shorter === rest) break
  }
  rest = rest.replace(TRAILING, '').trim()
  const literals = literalsIn(rest, context.literals)
  if (literals.length > 0 && rest.replaceAll(/[\uE000-\uF7FF]/g, '').length <= 24) {
    return literals.map((literal) => literal.text.replace(/\n$/, ''))
  }
  return itemsOf(rest)
    .map((item) => singular(asMeant(item.replace(phrase`^(?:for |{DET})`, ''), context.literals)))
    .filter((item) => /\w/.test(item) && !VAGUE.test(item))
}

const VAGUE = phrase`
  ^(?:it|them|that|this|something|anything|everything|stuff|things?|more|me|one|some|text|words?
  |files?|for|in|of|out|answers?|help|you|information|info)$`

/** "TODOs" are found by looking for TODO. */
function singular(word: string): string {
  return /^[A-Z]{3,}s$/.test(word) ? word.slice(0, -1) : word
}

/** What cannot be a regular expression is meant as text. */
function expression(pattern: string, { meant }: Manner): string {
  const slashed = /^\/(.+)\/$/.exec(pattern)
  if (meant === 'expression') return slashed?.[1] ?? pattern
  return meant === 'either' && compiles(pattern)
    ? pattern
    : pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function callsFor(pattern: string, place: SearchPlace, manner: Manner): Call[] {
  const paths = place.paths.length === 0 ? [{}] : place.paths.map((path) => ({ path }))
  const globs = place.globs.length === 0 ? [{}] : place.globs.map((glob) => ({ glob }))
  const ignoring = manner.ignoreCase ? { ignore_case: true } : {}
  return paths.flatMap((path) =>
    globs.map((glob) => ({ name: 'grep', arguments: { pattern, ...path, ...glob, ...ignoring } })),
  )
}
