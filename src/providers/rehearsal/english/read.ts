import { find } from './find.ts'
import { rangesIn, splitRange, type Range } from './words/lines.ts'
import { asksForFiles, list } from './list.ts'
import { literalPlaces, literalsIn } from './words/literals.ts'
import { looksLikePath } from './words/file-names.ts'
import { phrase } from './words/phrase.ts'
import { folderPath, inFolder } from './place.ts'
import { NOTHING, type Call, type Context, type Reading } from './reading.ts'
import { asksForText, search } from './search.ts'

/** "… notes.txt", "… lines 10 to 20 of src/a.ts", "… the docs folder": calls of read, or of glob for folders. */
export function see(said: string, context: Context, verb: string): Reading {
  if (ANY_FILES.test(`${verb} ${said}`)) return NOTHING
  const sought = /^(?:look|check|go|peek|browse|have a|take a|skim|glance)/.test(verb)
    ? LOOK_FOR.exec(said)
    : null
  if (sought !== null) return find(`${sought[2] ?? ''} in ${sought[1] ?? ''}`, context, 'look for')
  if (asksForText(said)) return search(said, context)
  if (LIST_OF.test(said)) return list(said.replace(LIST_OF, ''), context, false)
  const inside = filesInFolder(said, context, verb)
  if (inside.length > 0)
    return { calls: inside.map(callFor), about: inside.map(({ name }) => name) }
  if (asksForFolder(said, context)) return list(said, context, false)
  const named = filesNamed(said, context, verb)
  if (named.length > 0) return { calls: named.map(callFor), about: named.map(({ name }) => name) }
  if (asksForFiles(said)) return list(said, context, false)
  if (!PRONOUN.test(said)) return { calls: [], missing: WHICH_FILE }
  const range = rangesIn(said)[0]?.range ?? {}
  const calls = context.it.map((path) => ({ name: 'read', arguments: { path, ...range } }))
  return calls.length === 0 ? { calls, missing: WHICH_FILE } : { calls, about: context.it }
}

const WHICH_FILE = 'I do not know which file you mean.'

interface Named {
  readonly name: string
  readonly range: Range
}

const LOOK_FOR = phrase`^(.+?) for (?!me(?!\w)|us(?!\w))(.+)$`
const LIST_OF = phrase`^(?:me |us )?(?:(?:an?|the) )?(?:complete |full )?list(?:ing)? of `
const PRONOUN = phrase`
  ^(?:(?:me|us|back|to|the|again|what|all|over|contents?|of|text|result|lines?|from|and|in
  |[\d-]+) )*(?:it|its|them|that|this|those|these|both|file|result|contents?)(?!\w)`
const IN_GENERAL = phrase`
  (?:^|\s)(?:files|documents|scripts|modules|sources|everything|all)(?! {NAME})(?!\w)`
/** "Can you read files?" asks what the model can do. */
const ANY_FILES = phrase`
  ^(?:read|open|view|inspect|examine) (?:any )?(?:text )?(?:files|documents|scripts)$`
const FOLDER_WORD = phrase`\b{FOLDER}(?!\w)`

/** "a.txt in the docs folder" is docs/a.txt. */
function filesInFolder(said: string, context: Context, verb: string): Named[] {
  const files = filesNamed(said, context, verb).filter(({ name }) => /[^./]\.\w+$/.test(name))
  const paths = inFolder(
    files.map(({ name }) => name),
    said,
    context,
  )
  const placed = files.map((file, index) => ({ ...file, name: paths[index] ?? file.name }))
  return placed.some(({ name }, index) => name !== files[index]?.name) ? placed : []
}

/** Files in general, or nothing but folders. */
function asksForFolder(said: string, context: Context): boolean {
  const literals = literalsIn(said, context.literals)
  if (literals.some(({ kind }) => kind === 'glob')) return true
  const files = literals.filter(
    ({ text, kind }) => kind !== 'fence' && !isFolder(text) && !isKind(text, said),
  )
  if (FOLDER_WORD.test(said)) return true
  return (
    asksForFiles(said) && IN_GENERAL.test(said) && files.every(({ text }) => !/\.\w+$/.test(text))
  )
}

function isFolder(name: string): boolean {
  return name.endsWith('/') || /^\.{1,2}$/.test(name)
}

function isKind(name: string, said: string): boolean {
  return /^\.\w+$/.test(name) && phrase`{PATH} (?:files|documents|scripts|modules)`.test(said)
}

const SAYS = /^(?:print|output|display|quote|present|share|return|recite|give|get)\b/
const FILE_BEFORE = phrase`{FILE} (?:called |named |at )?$`

/** The files a text names, each with the lines it asks for. */
function filesNamed(said: string, context: Context, verb: string): Named[] {
  const ranges = rangesIn(said).map((found) => ({ ...found, used: false }))
  const places = literalPlaces(said, context.literals).flatMap(({ literal, at }) => {
    if (literal.kind === 'fence' || literal.kind === 'link' || literal.text.includes('\n'))
      return []
    const isName =
      looksLikePath(literal.text) || FILE_BEFORE.test(said.slice(0, at)) || !SAYS.test(verb)
    return isName ? [{ at, ...splitRange(literal.text) }] : []
  })
  const named = places.map(({ at, path, range }, index) => {
    const from = places[index - 1]?.at ?? -1
    const to = places[index + 1]?.at ?? said.length
    const before = ranges.find(
      ({ start, end }) => start > from && end <= at && bindsForward(said.slice(end, at)),
    )
    const after = ranges.find(
      ({ start, end }) => start > at && start < to && !bindsForward(said.slice(end, to)),
    )
    const own = before ?? after
    if (own !== undefined) own.used = true
    return { name: path, range: { ...range, ...own?.range } }
  })
  const shared = ranges.find(({ used }) => !used)?.range
  const all = named.length > 0 ? named : bareNames(said).map((name) => ({ name, range: {} }))
  return all.map(({ name, range }) => ({
    name,
    range: Object.keys(range).length > 0 ? range : { ...shared },
  }))
}

/** "lines 1 to 5 of …" belong to the name that follows. */
function bindsForward(between: string): boolean {
  return (
    phrase`^(?:, )?\s*(?:of|from|in|inside|within)(?!\w)[^,]*$`.test(between) ||
    /^\s*$/.test(between)
  )
}

const FILE_CALLED = phrase`{FILE} (?:called |named )?([\w-]+)|([\w-]+) file$`

/** Names without a dot, known by their capitals or by the word "file" beside them. */
function bareNames(said: string): string[] {
  const capitals = said.match(/\b[A-Z][A-Z_-]{2,}\b/g)
  if (capitals !== null) return [...capitals]
  const called = FILE_CALLED.exec(said)
  const name = called?.[1] ?? called?.[2]
  return name === undefined ||
    phrase`
      ^(?:the|a|an|this|that|it|in|of|and|for|to|again|please|me|my|your|which|is|with|from|at|one
      |i|you|we|entire|whole|same|other)$`.test(name)
    ? []
    : [name]
}

function callFor({ name, range }: Named): Call {
  if (isFolder(name)) return { name: 'glob', arguments: { pattern: '*', path: folderPath(name) } }
  return { name: 'read', arguments: { path: name, ...range } }
}
