import { globOfKind } from './words/kinds-of-file.ts'
import { asMeant, literalsIn } from './words/literals.ts'
import { looksLikePath } from './words/file-names.ts'
import { phrase, phrases } from './words/phrase.ts'
import { folderPath, itemsOf, takePlace, WITHIN_OR_OF } from './place.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'

/** "… the files in src", "… files ending in .md": calls of glob. `deep` looks below folders even without being told to. */
export function list(said: string, context: Context, deep: boolean): Reading {
  const everyDepth = deep || DEEP.test(said)
  const filtered = takeFilters(said.replace(DEEP, ' '), context)
  const { rest, place } = takePlace(filtered.rest, context, WITHIN_OR_OF)
  const named =
    filtered.patterns.length === 0 ? takeObject(rest, context) : { patterns: [], paths: [] }
  const patterns = [...filtered.patterns, ...named.patterns]
  const paths = [...named.paths, ...place.paths]
  if (patterns.length === 0 && paths.length === 0 && !IN_GENERAL.test(said)) return NOTHING
  if (patterns.length === 0) patterns.push(everyDepth ? '**/*' : '*')
  return { calls: callsFor(patterns, paths), about: paths }
}

/** The text names a folder or files in general, and no file in particular. */
export function asksForFiles(text: string): boolean {
  return FILES.test(text)
}

/** Files are told apart by what they are called, and not by what stands in them. */
export const NAMES_FILES = phrase`
  \b(?:in|by|whose|with|where) (?:(?:the|their|its|a) )?(?:file ?)?names?\b|\b(?:files?|folders?
  |documents?|scripts?|anything|something|everything|ones?) (?:named|called|titled|starting
  |beginning|ending|(?:that|which) (?:start|begin|end)s?)\b`

const DEEP = phrase`
  ,?\s*(?:and |with )?\b(?:recursive(?:ly)?|includ(?:e|ing) (?:all |its |the |any )*
  (?:sub ?{FOLDER}|nested|everything below)|(?:all|sub)-?folders included
  |with (?:all |its )?sub ?{FOLDER}|(?:and )?(?:all|its) sub ?{FOLDER}|at (?:any|every) (?:depth
  |level)|in depth|(?:all the way|the whole way) down|nested ones too)(?!\w)`
const IN_GENERAL = phrase`
  ^(?:(?:{POINTER}|me|us|for|to|here|there|it|out|again|please)(?:\s+|$))*$|(?:^|\s)(?:{FILE}
  |{FOLDER}|everything|all|contents?|here|stuff|entries|things|workspace|project|repo(?:sitory)?
  |tree)(?!\w)`
const FILES = phrase`
  (?:^|\s)(?:files|documents|scripts|modules|sources|file ?names|{FOLDER}|file list|listing
  |directory tree|everything (?:in|inside|under|below)|all (?:in|inside|under|below))(?!\w)
  |{GLOB}`

interface Filtered {
  readonly rest: string
  readonly patterns: readonly string[]
}

const THINGS = '({THING}(?:{AND}{DET}{THING})*)'

/** Words that say how files are called, each with the glob it makes of a name. */
const FILTERS: readonly (readonly [RegExp, (name: string) => string])[] = [
  [
    phrase`
      (?:that |which |whose (?:file ?)?names? )?end(?:s|ing)? (?:in|with|on|by) {DET}
      (?:extension |suffix |letters )?${THINGS}(?: extension)?`,
    ending,
  ],
  [
    phrase`
      (?:with|having|of|that have) {DET}(?:file ?)?(?:extension|suffix|ending
      |type)s? (?:of )?${THINGS}`,
    extension,
  ],
  [phrase`(?:with|having) {DET}${THINGS} (?:extension|suffix|ending)s?`, extension],
  [
    phrase`
      (?:that |which |whose (?:file ?)?names? )?(?:start|begin)(?:s|ning|ing)? with {DET}
      (?:prefix |letters? |word )?${THINGS}`,
    (name) => `**/${name}*`,
  ],
  [
    phrase`
      (?:with|having|containing|that (?:have|contain)|which (?:have|contain)) {DET}
      (?:word |text |string |term )?${THINGS} in (?:the|their|its) (?:file ?)?names?`,
    within,
  ],
  [
    phrase`
      (?:whose|where the|with a|with) (?:file ?)?names? (?:that )?(?:contain|include|mention|match
      |have|has)(?:s|es|ing)? {DET}(?:word |text |string )?${THINGS}`,
    within,
  ],
  [
    phrase`
      (?:that (?:is|are) |which (?:is|are) |whose names? (?:is|are) )?(?:named|called|titled
      |by the name(?: of)?|with the names?(?: of)?|whose names? (?:is|are)|match(?:es|ing)?
      (?: the)?(?: glob| pattern)?) {DET}${THINGS}`,
    exactly,
  ],
]

const KIND_OF_FILES = phrase`
  ${THINGS} (?:files?|documents?|sources?|source files?|scripts?|modules?)(?!\w)`
const ANY_FILES = phrase`
  ^(?:me|the|all|any|every|each|some|these|those|my|our|your|and|or|of|source|other|many|more
  |which|what|hidden|new|big|large|small|files?|available|existing|different|following|two|three
  |list|listing|names?|file|are|is|first|last|project|local|current|show|that|this|there|have
  |folder|directory|whole|single|there's|we|you|a|an)$`

function takeFilters(text: string, context: Context): Filtered {
  const patterns: string[] = []
  let rest = text
  for (const literal of literalsIn(text, context.literals))
    if (literal.kind === 'glob') patterns.push(literal.text)
  rest = rest.replaceAll(
    phrases`
      (?:that |which )?(?:match(?:es|ing)?|named|called|like)?\s*(?:the )?
      (?:pattern |glob )?{GLOB}`,
    ' ',
  )
  for (const [form, pattern] of FILTERS) {
    const found = form.exec(rest)
    if (found === null) continue
    patterns.push(...itemsOf(found[1] ?? '').map((item) => pattern(nameOf(item, context))))
    rest = `${rest.slice(0, found.index)} ${rest.slice(found.index + found[0].length)}`.trim()
    break
  }
  if (patterns.length > 0) return { rest, patterns }
  return takeKind(rest, context)
}

/** ".ts and .tsx files", "markdown documents", "config files". */
function takeKind(text: string, context: Context): Filtered {
  const found = KIND_OF_FILES.exec(text)
  const items = itemsOf(found?.[1] ?? '')
    .map((item) => nameOf(item, context))
    .filter(
      (name) => !ANY_FILES.test(name) && (globOfKind(name) !== undefined || !looksLikePath(name)),
    )
  if (found === null || items.length === 0) return { rest: text, patterns: [] }
  const patterns = items.map((name) => globOfKind(name) ?? within(name))
  return {
    rest: `${text.slice(0, found.index)} files ${text.slice(found.index + found[0].length)}`,
    patterns,
  }
}

const BEFORE_OBJECT = phrase`
  ^(?:(?:me|us|out|up|in|inside|for|{FILE}|{FOLDER}|contents?|listing|list|names|called
  |named) |{DET})`

/** Folders to list, or the name of a file to find, where the text has nothing else to go by. */
function takeObject(text: string, context: Context): { patterns: string[]; paths: string[] } {
  let rest = text.trim()
  for (let shorter = rest; ; rest = shorter) {
    shorter = rest.replace(BEFORE_OBJECT, '').trim()
    if (shorter === rest) break
  }
  const names = literalsIn(rest, context.literals)
    .filter(({ kind }) => kind !== 'fence' && kind !== 'link')
    .map((literal) => literal.text)
  const bare = rest === text.trim() || phrase`\b{FOLDER}(?!\w)`.test(text)
  const folder = bare ? phrase`^([\w.@-]+)(?: {FOLDER})?$`.exec(rest)?.[1] : undefined
  if (names.length === 0)
    return {
      patterns: [],
      paths: folder === undefined || ANY_FILES.test(folder) || COMMON.test(folder) ? [] : [folder],
    }
  const isFile = (name: string) =>
    phrase`\b{FILE}\b`.test(text) || (looksLikePath(name) && /\.\w+$/.test(name))
  return {
    patterns: names.filter(isFile).map(exactly),
    paths: names.filter((name) => !isFile(name)).map(folderPath),
  }
}

const COMMON = phrase`
  ^(?:everything|all|stuff|things?|contents?|it|them|here|there|options|ideas|steps|dependencies
  |functions|classes|methods|names|structure|layout|tree)$`

function nameOf(item: string, context: Context): string {
  return asMeant(item.replace(phrase`^{DET}`, ''), context.literals)
}

function ending(name: string): string {
  return /^[a-z0-9]{1,4}$/.test(name) ? extension(name) : `**/*${name}`
}

function extension(name: string): string {
  return globOfKind(name) ?? `**/*.${name.replace(/^\./, '')}`
}

function within(name: string): string {
  return `**/*${name}*`
}

function exactly(name: string): string {
  return name.includes('/') || name.includes('*') ? name : `**/${name}`
}

function callsFor(patterns: readonly string[], paths: readonly string[]) {
  const places = paths.length === 0 ? [{}] : paths.map((path) => ({ path }))
  return patterns.flatMap((pattern) =>
    places.map((place) => ({ name: 'glob', arguments: { pattern, ...place } })),
  )
}
