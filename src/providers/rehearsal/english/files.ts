import type { Context, Reading } from './call.ts'
import { asMeant, literalsIn } from './literals.ts'
import { looksLikePath } from './names.ts'
import { phrase } from './phrase.ts'

/** "notes.txt", "lines 10 to 20 of src/a.ts", "a.txt and b.txt", "it": calls of read. */
export function read(words: string, context: Context): Reading | undefined {
  const [, before = '', beforeTo = before, object = ''] = LINES_BEFORE.exec(words) ?? []
  const [, named = words, from = before, to = from] = LINES_BEHIND.exec(words) ?? []
  const [, names = '', rest = ''] = READABLE.exec(object === '' ? named : object) ?? []
  const lines = object === '' ? { from, to } : { from: before, to: beforeTo }
  const files = pathsIn(names, context)
  if (files.length === 0 || files.some((path) => path.endsWith('/'))) return undefined
  const calls = files.map((file) => {
    // A name may end with line numbers: `a.ts:10-20`.
    const [, path = file, a = lines.from, b = a] =
      /^(.+\.\w+):(\d+)(?:[-–](\d+))?$/.exec(file) ?? []
    const last = a === lines.from && lines.to !== '' ? lines.to : b
    const range = a === '' ? {} : { from_line: Number(a), to_line: Number(last) }
    return { name: 'read', arguments: { path, ...range } }
  })
  return { calls, files: calls.map((call) => call.arguments.path), rest: rest.replace(ASIDE, '') }
}

const RANGE = String.raw`lines? (\d{1,6})(?: ?(?:to|-|–) ?(\d{1,6}))?`
const LINES_BEFORE = phrase`^{THE}${RANGE} (?:of|in|from) (.+)$`
const LINES_BEHIND = phrase`^(.+?)[,(]? ?${RANGE}\)?$`
const READABLE = phrase`^(?:{THE}(?:contents?|text) of )?({NAMES}|{IT})(?!\w)(.*)$`
const ASIDE = phrase`^[\s,]*(?:back|aloud|again|back to me|to me)?$`

/** A quotation counts as a name if it looks like one, or if the words contain "file". */
function pathsIn(names: string, { literals, it }: Context): readonly string[] {
  if (phrase`^{IT}$`.test(names.trim())) return it
  const called = phrase`(?<!\w)files?(?!\w)`.test(names)
  return literalsIn(names, literals).flatMap(({ kind, text }) =>
    kind === 'path' || called || looksLikePath(text) ? [text] : [],
  )
}

/** "“hello” to a.txt", "a.txt with “hello”", "an empty file a.txt": a call of write. No other words are allowed. */
export function write(words: string, context: Context): Reading | undefined {
  for (const form of WRITES) {
    const { text = '', name } = form.exec(words)?.groups ?? {}
    const path = pathIn(name, context)
    if (path === undefined || path.endsWith('/') || DESCRIBES.test(text)) continue
    const content = asMeant(text, context.literals)
    return { calls: [{ name: 'write', arguments: { path, content } }], files: [path] }
  }
  return undefined
}

const NEW_FILE = '{THE}(?:{FILE} )?(?:(?:called|named) )?'
const SAYING =
  '(?:{THE}(?:following )?(?:text|words?|lines?|contents?)(?: of)?:? |{THE}following:? )?'
const WRITES = [
  phrase`^${SAYING}(?<text>{TEXT}) (?:to|into|in|as) ${NEW_FILE}(?<name>{NAME}|it)$`,
  phrase`^(?:(?:this|it|the following) )?(?:to|into|in|as) ${NEW_FILE}(?<name>{NAME}):? (?<text>{TEXT})$`,
  phrase`^${NEW_FILE}(?<name>{NAME}):? (?:with|containing|that says) ${SAYING}(?<text>{TEXT})$`,
  phrase`^{THE}(?:new )?empty file (?:(?:called|named) )?(?<name>{NAME})$`,
  phrase`^${SAYING}(?<text>[^\uE000-\uF3FF]+) (?:to|into) ${NEW_FILE}(?<name>{PATH})$`,
]
/** "A poem about the sea" describes a text and is not the text. */
const DESCRIBES = phrase`^(?:the|an?|some|my|our|your|its|this|that|it|all|something|nothing|not)(?!\w)`

function pathIn(name: string | undefined, { literals, it }: Context): string | undefined {
  return name?.toLowerCase() === 'it' ? it[0] : literalsIn(name ?? '', literals)[0]?.text
}

/** "Replace “a” with “b” in a.ts", "in a.ts, change “a” to “b”": a call of edit. */
export function edit(step: string, context: Context): Reading | undefined {
  const [, first, inner = step] = FILE_FIRST.exec(step) ?? []
  const [, old, fresh = '', name = first] =
    REPLACE.exec(inner.replace(EVERYWHERE, ' ').trim()) ?? []
  const path = pathIn(name, context)
  if (old === undefined || path === undefined) return undefined
  const old_text = asMeant(old, context.literals).replace(/\n$/, '')
  const new_text = asMeant(fresh, context.literals).replace(/\n$/, '')
  const all = EVERYWHERE.test(inner) ? { replace_all: true } : {}
  const edits = [{ old_text, new_text, ...all }]
  const call = { name: 'edit', arguments: { path, edits } }
  return { calls: [call], files: [path] }
}

const FILE_FIRST = phrase`^(?:in|edit) {THE}(?:{FILE} )?({NAME})(?:,|:| and)? (.+)$`
/** Quoted, or one word. */
const WORDING = String.raw`(?:{THE}(?:word|text|line|string) )?({ANY}|[^\s\uE000-\uF3FF]+)`
const REPLACE = phrase`
  ^(?:replace|change) ${WORDING} (?:with|by|to|into) ${WORDING}
  (?: (?:in|inside) {THE}(?:{FILE} )?({NAME}|it))?$`
const EVERYWHERE = phrase` (?:everywhere|(?:all|every|each)(?: occurrences?(?: of)?)?)(?!\w)`

/** "chart.png", "it as “The chart”": a call of attach for each file. */
export function attach(words: string, context: Context): Reading | undefined {
  const [, names = '', title] = ATTACHMENT.exec(words) ?? []
  const files = pathsIn(names, context)
  if (files.length === 0) return undefined
  const titled = title === undefined ? {} : { title: asMeant(title, context.literals) }
  return { calls: files.map((path) => ({ name: 'attach', arguments: { path, ...titled } })), files }
}

const ATTACHMENT = phrase`
  ^({NAMES}|{IT})(?: to your answer)?(?:,? (?:as|titled|with the title) ({TEXT}))?$`
