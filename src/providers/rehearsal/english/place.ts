import { globOfKind } from './words/kinds-of-file.ts'
import { literalsIn } from './words/literals.ts'
import { phrase, phrases } from './words/phrase.ts'
import type { Context } from './reading.ts'

/** Where something is to be looked for. Nothing named means everywhere. */
export interface SearchPlace {
  readonly paths: readonly string[]
  readonly globs: readonly string[]
}

/** Takes "in src", "under the docs folder", "across all .ts files" off the end of a text, as often as one stands there. */
export function takePlace(
  text: string,
  context: Context,
  prepositions: string = WITHIN,
): { readonly rest: string; readonly place: SearchPlace } {
  const paths: string[] = []
  const globs: string[] = []
  let rest = text.trim()
  for (;;) {
    const taken = lastPlace(rest, context, prepositions)
    if (taken === undefined) return { rest, place: { paths, globs } }
    rest = taken.rest.replace(phrase`(?:,|,? (?:and|or))$`, '')
    paths.unshift(...taken.place.paths)
    globs.unshift(...taken.place.globs)
  }
}

export const WITHIN =
  'in|inside(?: of)?|within|under(?:neath)?|below|beneath|across|throughout|through|among|from|over'
export const WITHIN_OR_OF = `${WITHIN}|of|at|on`

function lastPlace(text: string, context: Context, prepositions: string) {
  const marks = [...text.matchAll(phrases`(?:^|(?<=\s))(?:${prepositions})(?= )`)].toReversed()
  for (const mark of marks) {
    const place = placeNamed(text.slice(mark.index + mark[0].length), context)
    if (place !== undefined)
      return { rest: text.slice(0, mark.index).trim().replace(/,$/, ''), place }
  }
  const adverb = ANYWHERE.exec(text)
  return adverb === null
    ? undefined
    : { rest: text.slice(0, adverb.index).trim(), place: NOWHERE_SPECIAL }
}

export const NOWHERE_SPECIAL: SearchPlace = { paths: [], globs: [] }
const ANYWHERE = phrase`
  (?:^|\s)(?:anywhere|everywhere|somewhere|here|there|at all|recursively)\s*$`
const EVERYWHERE = phrase`
  ^(?:current |working |present |root |source |local )*(?:files?|project|code ?base|code|repo
  (?:sitory)?|workspace|{FOLDER}|tree|sources?|source code|here|everything|place|places|app
  |application|root|system|disk|computer|machine|it all)(?: (?:here|tree|folder|files|root
  |directory))*$`
const PRONOUN = phrase`
  ^(?:it|them|there|both|(?:that|this|the|the same|these|those|both)(?: same| two)? (?:files?
  |ones?|documents?|scripts?|folders?))$`
const NAMED = phrase`
  ^(?:(?:{FILE}|{FOLDER}|paths?|package) (?:called |named )?)?({ANY}(?:{AND}{DET}
  (?:{FILE} |{FOLDER} )?{ANY})*)(?: ({FILE}|{FOLDER}|package))?$`
const KIND = phrase`
  ^([\w+#.]+(?:{AND}[\w+#.]+)*) (?:files?|sources?|documents?|code|scripts?|modules?)$`
const FOLDER_NAMED = phrase`
  ^{FOLDER} (?:called |named )?([\w.@-]+(?:{AND}[\w.@-]+)*)$|^([\w.@-]+
  (?:{AND}[\w.@-]+)*) (?:{FOLDER}|package|tree)$`
const WORDS = phrase`^[\w.@-]+(?:{AND}[\w.@-]+)*$`

/** What the words after a preposition name, or `undefined` if they name no place. */
export function placeNamed(said: string, context: Context): SearchPlace | undefined {
  const whole = said.trim()
  if (PRONOUN.test(whole)) return { paths: context.it, globs: [] }
  const text = whole.replace(phrase`^{DET}`, '')
  if (EVERYWHERE.test(text)) return NOWHERE_SPECIAL
  const named = NAMED.exec(text)
  if (named !== null) return literalPlace(named[1] ?? '', named[2], context)
  const kind = KIND.exec(text)
  if (kind !== null)
    return {
      paths: [],
      globs: itemsOf(kind[1] ?? '').map((item) => globOfKind(item) ?? `**/*${item}*`),
    }
  const folder = FOLDER_NAMED.exec(text)
  if (folder !== null) return { paths: itemsOf(folder[1] ?? folder[2] ?? ''), globs: [] }
  return WORDS.test(text) && !COMMON_WORD.test(text)
    ? { paths: itemsOf(text), globs: [] }
    : undefined
}

const COMMON_WORD = phrase`
  ^(?:mind|particular|general|total|order|detail|full|short|english|french|german|it|that|this
  |them|me|us|you|case|fact|time|turn|line|lines|name|names|and|or|which|what|where|\d+)$`

function literalPlace(list: string, noun: string | undefined, context: Context): SearchPlace {
  const paths: string[] = []
  const globs: string[] = []
  for (const literal of literalsIn(list, context.literals)) {
    const isKind =
      /^\.\w+$/.test(literal.text) && /^(?:files?|documents?|scripts?|modules?)$/i.test(noun ?? '')
    if (isKind) globs.push(`**/*${literal.text}`)
    else if (literal.kind === 'glob' || literal.text.includes('*')) globs.push(literal.text)
    else paths.push(folderPath(literal.text))
  }
  return { paths, globs }
}

/** A folder without the slash that marks it as one. */
export function folderPath(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') : path
}

/** "a.txt in the docs folder", "a.txt in docs/". */
export function inFolder(names: readonly string[], said: string, context: Context): string[] {
  const place = IN_FOLDER.exec(said)?.[1] ?? ''
  const slashed = literalsIn(IN_PATH.exec(said)?.[1] ?? '', context.literals)[0]?.text ?? ''
  const [folder = slashed.endsWith('/') ? folderPath(slashed) : undefined] =
    placeNamed(place, context)?.paths ?? []
  if (folder === undefined) return [...names]
  return names.map((name) => (name.includes('/') ? name : `${folder}/${name}`))
}

const IN_PATH = phrase`\s(?:in|inside|under|within|from) {DET}({PATH})(?!\w)`
const IN_FOLDER = phrase`
  \s(?:in|inside|under|within|from) ({DET}(?:{FOLDER} (?:called |named )?(?:{NAME}|[\w.-]+)
  |(?:{NAME}|[\w.-]+) {FOLDER}))(?!\w)`

/** "a, b and c" as its items. */
export function itemsOf(list: string): string[] {
  return list
    .split(phrase`{AND}`)
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
