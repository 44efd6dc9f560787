import { contentOf } from './content.ts'
import { looksLikePath } from './words/file-names.ts'
import { list } from './list.ts'
import { literalPlaces, type Literal, type LiteralPlace } from './words/literals.ts'
import { phrase } from './words/phrase.ts'
import { inFolder } from './place.ts'
import { NOTHING, type Call, type Context, type Reading } from './reading.ts'

/** "… "hello" to a.txt", "… a file a.txt with the text hello": calls of write. */
export function write(said: string, context: Context, verb: string): Reading {
  if (LIST_OF.test(said)) return list(said.replace(LIST_OF, ''), context, false)
  if (NOT_A_FILE.test(said)) return NOTHING
  if (/^(?:add|append|insert|prepend)/.test(verb) && !NEW_FILE.test(said))
    return ADDING.test(said) ? { calls: [], missing: NO_ADDING } : NOTHING
  const several = severalWrites(said, context, verb)
  if (several !== undefined) return several
  const paths = pathsOf(said, context)
  const content = contentOf(said, paths, context, verb)
  const about = inFolder(
    paths.map(({ literal }) => literal.text),
    said,
    context,
  )
  if (paths.length === 0)
    return OF_FILES.test(`${verb} ${said}`)
      ? { calls: [], missing: 'I do not know which file to write.' }
      : NOTHING
  if (content === undefined)
    return {
      calls: [],
      missing: `I do not know what to write into ${about.join(' and ')}; quotes would tell me.`,
      about,
    }
  return { calls: about.map((path) => callFor(path, content)), about }
}

const LIST_OF = phrase`^(?:me )?(?:an?|the) (?:complete |full )?list(?:ing)? of `
const NOT_A_FILE = phrase`
  ^(?:me )?{DET}(?:new |empty )*(?:{FOLDER}|branch|commit|sure|sense|it so|table)(?!\w)`
const NEW_FILE = phrase`
  ^(?:me )?(?:an?|the|two|three|some|new|empty)* ?(?:new |empty |blank |text )*files?(?!\w)`
const ADDING = phrase`(?:^|\s)(?:to|into|in|at) .*{NAME}`
const NO_ADDING =
  'I have rules for writing a file and for replacing text in it, but none for adding to it.'
const OF_FILES = phrase`^(?:write|save|create|jot)|(?:^|\s){FILE}(?!\w)`

/** "A into x and B into y". */
function severalWrites(said: string, context: Context, verb: string): Reading | undefined {
  const parts = said.split(SEVERAL)
  if (parts.length < 2) return undefined
  const readings = parts.map((part) => write(part, context, verb))
  if (!readings.every(({ calls }) => calls.length === 1)) return undefined
  return {
    calls: readings.flatMap(({ calls }) => calls),
    about: readings.flatMap(({ about }) => about ?? []),
  }
}

const SEVERAL = phrase`
  (?<={NAME})(?:, and |, | and )(?=(?:{DET}(?:text |words? )?)?{TEXT}\s|{DET}(?:{FILE} )?
  (?:called |named )?{NAME} (?:with|containing|saying|that says|reading) )`

const PATH_CUE = phrase`
  (?:^|\s)(?:to|into|in|inside|as|at|called|named|under|onto|{FILE}|file ?name|path|name)
  (?: (?:the|an?|called|named|new|empty|text|{NOUN}|of|name))*(?:\s+|:\s*)$`
const CONTENT_CUE = phrase`
  (?:with|containing|contains?|saying|says?|reading|reads|holding|text|contents?|words?|line|lines
  |string|phrase|sentence|message|body|of|just|only|:)(?: (?:the|of|is|as|exactly|just|only|text
  |contents?|word|words|line|following|this))*:?\s*$`

/** Which of the literals are the files. A bare path is one; a quotation is one where a preposition or "file" says so. */
function pathsOf(said: string, context: Context): LiteralPlace[] {
  const placed = literalPlaces(said, context.literals).filter(
    ({ literal }) => literal.kind !== 'path' || !literal.text.endsWith('/'),
  )
  const cued = placed.filter(({ literal, at }) => isPathThere(literal, said.slice(0, at)))
  if (cued.length > 0) return cued
  const bare = placed.filter(({ literal }) => literal.kind === 'path')
  const listed = bare.filter(
    ({ at }, index) =>
      index === 0 ||
      phrase`^(?:{AND}{DET}{PATH})*{AND}{DET}$`.test(said.slice((bare[0]?.at ?? 0) + 1, at)),
  )
  if (bare.length > 0) return listed
  const pathLike = placed.filter(
    ({ literal }) => literal.kind !== 'fence' && looksLikePath(literal.text),
  )
  return pathLike.length > 0 ? pathLike.slice(0, 1) : namedInWords(said, context)
}

function isPathThere(literal: Literal, before: string): boolean {
  if (literal.kind === 'fence' || literal.kind === 'link' || literal.text.includes('\n'))
    return false
  if (literal.kind === 'path' && /^(?:\s|[\uE000-\uF7FF]|and|,|the)*$/.test(before)) return true
  if (literal.kind === 'path' && phrase`{NAME}(?:, and |, | and )$`.test(before))
    return isPathThere(literal, before.replace(phrase`{NAME}(?:, and |, | and )$`, ''))
  return PATH_CUE.test(before) && !CONTENT_CUE.test(before)
}

const CALLED = phrase`
  (?:{FILE} (?:called |named )?|(?:to|into|as) {DET}(?:{FILE} )?(?:called |named )?)([\w-]+)
  (?= |$)`

/** "a file called notes": a name without a dot. */
function namedInWords(said: string, context: Context): LiteralPlace[] {
  const pronoun =
    phrase`(?:^|\s)(?:to|into|in) (?:it|that file|the (?:same )?file|there)(?!\w)`.test(said)
  const [it] = context.it
  if (pronoun && it !== undefined)
    return [{ literal: { kind: 'path', text: it, source: it }, at: said.length }]
  const found = CALLED.exec(said)
  const name = found?.[1]
  if (
    found === null ||
    name === undefined ||
    phrase`
      ^(?:the|an?|me|it|this|that|with|you|disk|file|containing|which|for|in|to|from|and|saying|at
      |as|of|on|is|here|there|called|named|please)$`.test(name)
  )
    return []
  return [{ literal: { kind: 'path', text: name, source: name }, at: found.index }]
}

function callFor(path: string, content: string): Call {
  return { name: 'write', arguments: { path, content } }
}
