import { textOf } from './content.ts'
import { looksLikePath } from './words/file-names.ts'
import { asMeant, literalsIn } from './words/literals.ts'
import { phrase, phrases } from './words/phrase.ts'
import { takePlace, WITHIN } from './place.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'
import { verbAt } from './words/verbs.ts'
import { write } from './write.ts'

/** "… foo with bar in a.ts", "… the word foo from a.ts": calls of edit. */
export function edit(said: string, context: Context, verb: string): Reading {
  const whole = WHOLE.exec(said)
  if (whole !== null) return write(`${whole[2] ?? ''} to ${whole[1] ?? ''}`, context, 'write')
  if (FILE_ITSELF.test(said) && MOVES.test(verb)) return { calls: [], missing: NO_MOVING }
  if (verb === 'set' && !QUOTED.test(said)) return NOTHING
  const everywhere = EVERYWHERE.test(said)
  const { text, paths } = takeFiles(said.replace(SCATTERED, ' ').trim(), context)
  const inner = verbAt(text, 'ing') ?? verbAt(text, 'base')
  // "edit a.txt by replacing …": the files are known, the rest is a change of its own.
  if (paths.length > 0 && inner?.family === 'edit')
    return edit(
      inner.rest + (everywhere ? ' everywhere' : ''),
      { ...context, it: paths },
      inner.verb,
    )
  const changes = changesOf(text, context, verb)
  const files = paths.length > 0 ? paths : context.it
  if (changes.length === 0)
    return {
      calls: [],
      missing: 'I do not know which text to change, and into what.',
      about: files,
    }
  if (files.length === 0) return { calls: [], missing: 'I do not know which file to edit.' }
  const all = everywhere ? { replace_all: true } : {}
  return {
    calls: files.flatMap((path) =>
      changes.map((change) => ({ name: 'edit', arguments: { path, ...change, ...all } })),
    ),
    about: files,
  }
}

/** "Set debug to true" does not say which text stands there now. */
const QUOTED = phrase`^{DET}(?:\w+ ){0,2}{TEXT}`
const WHOLE = phrase`
  ^(?:everything|all(?: the text)?|{DET}(?:whole |entire |full )?(?:contents?|text)) (?:in|of|from
  |inside) ((?:{DET}(?:{FILE} )?)?{NAME}) (?:with|by) (.+)$`
const FILE_ITSELF = phrase`
  ^{DET}(?:(?:{FILE}|{FOLDER}) )?(?:called |named )?{PATH}(?:{AND}{DET}{PATH})*(?: (?:to|into
  |as) {DET}{NAME})?$`
const MOVES = /^(?:delet|remov|eras|renam|get|mov|cop)/
const NO_MOVING =
  'I have rules for changing text in a file, but none for deleting, copying or renaming it; ' +
  'a command in backticks would do that.'
const EVERYWHERE = phrase`
  (?:^|\s)(?:all|every|each|everywhere|throughout|globally|wherever|any|whole file|at once)
  (?!\w)`
const SCATTERED = phrases`
  ,?\s*\b(?:everywhere|globally|wherever (?:it|they) (?:occurs?|appears?|is|are)(?: (?:used
  |found))?|in all places|at once|in every place)(?!\w)`

/** The files may stand last ("… in a.ts"), or first ("a.ts: …", "a.ts so that …"). */
function takeFiles(text: string, context: Context): { text: string; paths: readonly string[] } {
  const [, first = '', change] = FIRST.exec(text) ?? []
  const named = literalsIn(first, context.literals).map((literal) => literal.text)
  if (change !== undefined && named.every(looksLikePath)) return { text: change, paths: named }
  const middle = MIDDLE.exec(text)
  if (middle !== null) {
    const { place } = takePlace(`x in ${middle[2] ?? ''}`, context)
    return { text: `${middle[1] ?? ''} ${middle[3] ?? ''}`, paths: place.paths }
  }
  const { rest, place } = takePlace(text, context, `${WITHIN}|of|inside`)
  return { text: rest, paths: place.paths }
}

const FIRST = phrase`
  ^(?:{DET}(?:{FILE} )?)?({NAME})(?:,|:| so that| such that| by(?= \w+ing)| to(?= (?:replace
  |change|say|use|read))| and)\s*(.*)$`
/** "foo in a.ts with bar". */
const MIDDLE = phrase`
  ^(.+?) (?:(?:in|inside|within|throughout)(?= )|(?:of|from)(?= {DET}
  (?:{FILE} )?{PATH})) ((?:{DET}(?:{FILE} )?)?{NAME}(?:{AND}{DET}{NAME})*|it|that file
  |the file) ((?:with|by|to|into|for|from|->|→|=>) .+)$`

interface Change {
  readonly old_text: string
  readonly new_text: string
}

const ARROW = '(?:->|→|=>|➜)'
const SHOULD = '(?:should|must)'
/** Words between the old text and the new one, by the start of the verb. */
const INTO: readonly (readonly [verb: RegExp, words: string])[] = [
  [/^replac/, `(?:with|by|for|to|${ARROW})`],
  [/^swap/, `(?:for|with|to|${ARROW})`],
  [/^substitut/, `(?:with|by|${ARROW})`],
  [
    /^/,
    `(?:to(?: be| say| read)?|becomes?|${SHOULD} (?:be|become|read|say)|into|with|by|as|${ARROW})`,
  ],
]
const REMOVES = /^(?:remov|delet|eras|strip|cut|tak(?:e|ing) out|get(?:ting)? rid of)/

function changesOf(text: string, context: Context, verb: string): Change[] {
  const meant = (words: string) => wordsOf(words, context)
  if (REMOVES.test(verb)) {
    const old = meant(text)
    return old === '' ? [] : [{ old_text: old, new_text: '' }]
  }
  const swapped = phrase`^(.+?) instead of (.+)$`.exec(
    text.replace(phrase`^.*?\b(?:say|use|read|have|contain|be)s? `, ''),
  )
  if (swapped !== null) return pair(meant(swapped[2] ?? ''), meant(swapped[1] ?? ''))
  const moved = phrase`(?:^|\s)from (.+?) (?:to|into) (.+)$`.exec(text)
  if (moved !== null) return pair(meant(moved[1] ?? ''), meant(moved[2] ?? ''))
  const reversed = verb.startsWith('substitut') ? phrase`^(.+?) for (.+)$`.exec(text) : null
  if (reversed !== null) return pair(meant(reversed[2] ?? ''), meant(reversed[1] ?? ''))
  const into = INTO.find(([start]) => start.test(verb))?.[1] ?? ARROW
  return partsOf(text, into).flatMap((part) => {
    const found = phrase`^(.+?)\s+${into}\s+(.+)$`.exec(part)
    return found === null ? [] : pair(meant(found[1] ?? ''), meant(found[2] ?? ''))
  })
}

/** "a to b and c to d": the joint stands where each side has a change of its own. */
function partsOf(text: string, into: string): string[] {
  const parts = text.split(phrase`(?:, and |, | and )(?!.*(?:, and |, | and )$)`)
  const complete = phrase`\s${into}\s`
  return parts.length > 1 && parts.every((part) => complete.test(part)) ? parts : [text]
}

/** Words for a text that do not say it. */
const NO_TEXT = phrase`
  ^(?:lines?|words?|texts?|titles?|headings?|values?|it|something|everything|bugs?|typos?|errors?
  |mistakes?)$`

function pair(old_text: string, new_text: string): Change[] {
  return old_text === '' || NO_TEXT.test(old_text) ? [] : [{ old_text, new_text }]
}

const BEFORE_TEXT = phrase`
  ^(?:occurrences? of |mentions? of |instances? of |uses? of |usages? of |(?:words?|texts?
  |strings?|phrases?|terms?|lines?|values?|names?|variables?|functions?|identifiers?|symbols?
  |sentences?|titles?|headings?)(?: (?:called|named|saying|that says|of|is|reading))? (?=.)
  |(?:exact|whole|only|just|first|current|old|new|existing|following) |{DET})`

/** A change is said in quotes, or else in the words that are left when nouns for text are taken off. */
function wordsOf(said: string, context: Context): string {
  let rest = said.trim().replace(/[,:]$/, '')
  for (let shorter = rest; ; rest = shorter) {
    shorter = rest.replace(BEFORE_TEXT, '').trim()
    if (shorter === rest || shorter === '') break
  }
  const literals = literalsIn(rest, context.literals).filter(({ kind }) => kind !== 'path')
  const [only] = literals
  if (only !== undefined && literals.length === 1)
    return textOf(only).replace(only.kind === 'fence' ? /\n$/ : /(?!)/, '')
  return asMeant(rest, context.literals)
}
