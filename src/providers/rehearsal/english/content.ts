import { asMeant, literalsIn, type Literal, type LiteralPlace } from './words/literals.ts'
import { phrase } from './words/phrase.ts'
import type { Context } from './reading.ts'

/** What is to stand in a file: a quotation, nothing, or the words that say it. `undefined` when the text does not tell. */
export function contentOf(
  said: string,
  paths: readonly LiteralPlace[],
  context: Context,
  verb: string,
): string | undefined {
  const others = literalsIn(said, context.literals).filter(
    (literal) => !paths.some((path) => path.literal === literal),
  )
  const quoted =
    others.find(({ kind }) => kind === 'fence') ??
    others.find(({ kind }) => kind === 'quote' || kind === 'code')
  if (quoted !== undefined) return textOf(quoted)
  if (verb === 'touch' || EMPTY.test(said)) return ''
  const words = wordsAfter(said, context) ?? wordsBefore(said, verb) ?? ''
  if (!NO_WORDS.test(words)) return asMeant(words, context.literals)
  return MAKES.test(verb) && ONLY_FILES.test(said) ? '' : undefined
}

/** Text between straight double quotes may say \n and \t, as people type them on one line. */
export function textOf(literal: Literal): string {
  if (!literal.source.startsWith('"')) return literal.text
  return literal.text.replaceAll(/\\([nt\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' }

const EMPTY = phrase`\b(?:empty|blank|no (?:content|text)|nothing in it)\b`
const NO_WORDS = phrase`^(?:(?:{POINTER}|following|it|new|text|{NOUN}|called|named)(?:\s+|$))*$`
const MAKES = /^(?:create|make|start|set up|add|generate)/
/** Nothing is said but the names. */
const ONLY_FILES = phrase`
  ^(?:me |us )?(?:(?:{POINTER}|new|empty|blank|text|{NOUN}|called|named|at|in|and|under
  |name)[:,]? )*(?:{NAME}(?:{AND}|\s+)?(?:{DET}{FILE} )?)+(?:for (?:me|us)|here|now)?$`

const WITH = String.raw`(?:with|containing|contains?|(?:that|which) (?:contains?|says?|reads?
  |holds?|has)|saying|reading|holding|having|(?:and )?(?:the |its )?(?:contents?|text)(?! {FILE})
  (?: is| are| should be| being)?|:)`
const AFTER_PATH = phrase`
  {NAME}?.*?(?:^|\s|(?<={NAME}))(${WITH}):?\s*(?:{DET}(?:(?:exactly|just|only|following|simple
  |single|verbatim)(?: |:\s*))*(?:text|contents?|words?|lines?|string|phrase|sentence|message
  |body)?(?: of| being| is| saying| that says)?:?\s+|:\s*)?(.+)$`
const BEFORE_PATH = phrase`
  ^(?:me |down )?(?:({DET}(?:following |exact |simple )*(?:text|words?|lines?|number|string|phrase
  |sentence|message|contents?) ))?(.+?)\s+(?:to|into|in|inside|as|onto|under)(?: .*)?\s*{NAME}`

function wordsAfter(said: string, context: Context): string | undefined {
  const found = AFTER_PATH.exec(said)
  const words = found?.[2]?.trim()
  if (words === undefined || (DESCRIBES.test(words) && HOLDING.test(found?.[1] ?? '')))
    return undefined
  return words + endOf(said, context)
}

function wordsBefore(said: string, verb: string): string | undefined {
  const [, noun, words = ''] = (PUTS.test(verb) ? BEFORE_PATH.exec(said) : undefined) ?? []
  return words === '' || (noun === undefined && DESCRIBES.test(words)) ? undefined : words.trim()
}

/** "a poem about the sea" tells what to write and is not itself the text. */
const DESCRIBES = phrase`
  ^(?:the|an?|some|my|our|your|its|their|all|every|each|this|that|these|those|following|whatever
  |what|something|nothing)(?!\w)`
const HOLDING =
  /^(?:with|contain|that (?:contain|hold|has)|which (?:contain|hold|has)|hold|having)/i
const PUTS = /^(?:write|save|put|store|jot|note|record|stick|place|drop|dump|echo)/

/** A full stop ends the sentence; other marks, or any after "exactly", end the text. */
function endOf(said: string, { mark }: Context): string {
  return /[!?…]/.test(mark) || phrase`\b(?:exactly|verbatim)\b`.test(said) ? mark : ''
}
