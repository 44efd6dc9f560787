import { asTyped, withLiteral, type Masked } from './literals.ts'
import { phrase, phrases } from './phrase.ts'
import { commands, openingOf, type Opening } from './openings.ts'

/** A part of a sentence with a verb or question of its own. */
export interface Clause {
  readonly text: string
  readonly opening: Opening
  /** What joined it to the clause before, as typed: empty at the start of a sentence. */
  readonly joint: string
  /** How its sentence ended, if it is the last one of it. */
  readonly mark: string
}

/** The sentences of a masked text as their clauses. */
export function clausesOf(masked: string): Clause[][] {
  return sentencesOf(masked).slice(0, MOST_SENTENCES).map(clausesOfSentence)
}

/**
 * "Write this to a.txt:" and lines below it. Those are the text, whatever they say; a fence would have said so better,
 * and bullets are tasks.
 */
export function withTextBelow(masked: Masked): Masked {
  const [, head = '', below = ''] =
    /^([^\n]+:)[ \t]*\n+(?![ \t]*(?:[-*•]|\d+[.)])[ \t])([\s\S]+)$/.exec(masked.text) ?? []
  if (below === '' || openingOf(head).family !== 'write' || /^[\uE000-\uE3FF]\s*$/.test(below))
    return masked
  const typed = asTyped(below, masked.literals).trimEnd()
  const { literals, placeholder } = withLiteral(masked.literals, {
    kind: 'fence',
    text: typed,
    source: typed,
  })
  return { text: `${head} ${placeholder}`, literals }
}

/** Nobody asks for so much; beyond it is something pasted. */
const LONGEST_SENTENCE = 2000
const MOST_SENTENCES = 200
const MOST_JOINTS = 40

/** A line break ends a sentence, unless a colon or a fence says that it goes on. The number of a list item is no sentence. */
function sentencesOf(masked: string): Sentence[] {
  const joined = masked
    .replaceAll(/\n\s*(?=[\uE000-\uE3FF])/g, ' ')
    .replaceAll(/(?<=[\uE000-\uE3FF])\s*\n\s*(?=(?:with|by|to|into|in|as|and|then|under)\b)/gi, ' ')
    .replaceAll(/:[ \t]*\n\s*(?![-*•\d\s])/g, ': ')
  return joined
    .split(/(?<=(?<!(?:^|\n)\s*\d{1,2})[.!?…])(?=\s|$)|\n+/)
    .map((sentence) => {
      const text = sentence.trim().replace(/[\s.!?…]+$/, '')
      return { text, mark: sentence.trim().slice(text.length) }
    })
    .filter(({ text }) => text !== '')
}

interface Sentence {
  readonly text: string
  readonly mark: string
}

function clausesOfSentence({ text: sentence, mark }: Sentence): Clause[] {
  if (sentence.length > LONGEST_SENTENCE) return []
  const whole = openingOf(sentence)
  const clauses: Clause[] = [{ text: sentence, opening: whole, joint: '', mark }]
  let start = 0
  let body = bodyStart(sentence, whole)
  for (const { from, to, joint } of jointsOf(sentence).slice(0, MOST_JOINTS)) {
    const before = clauses.at(-1)
    if (before === undefined || from <= start || from < body) continue
    const rest = sentence.slice(to)
    const text = sentence.slice(start, from)
    const opening = continued(openingOf(opens(joint) + rest), joint, { ...before, text }, rest)
    if (opening === undefined) continue
    clauses[clauses.length - 1] = {
      ...before,
      text,
      mark: '',
      opening: shortened(before.opening, sentence.length - from),
    }
    clauses.push({ text: rest, opening, joint, mark })
    start = to
    body = bodyStart(sentence, opening)
  }
  return clauses
}

interface Joint {
  readonly from: number
  readonly to: number
  readonly joint: string
}

const JOINT = phrases`
  \s*[,;:](?: (?:and|but|or|so|plus|yet))?\s*|\s+(?:—|–|-)\s+|\s+(?:and|but|or|nor|plus|so
  |as well as)\s+|\s+(?=(?:then|before|after|once|afterwards|without|instead of|rather than|except
  |apart from|other than|excluding|but not|followed by|not|please)(?!\w))`

function jointsOf(sentence: string): Joint[] {
  return [...sentence.matchAll(JOINT)].map((found) => ({
    from: found.index,
    to: found.index + found[0].length,
    joint: found[0],
  }))
}

/** "but first" is one expression, so the opening must see both words. */
function opens(joint: string): string {
  return /\bbut\s*$/i.test(joint) ? 'but ' : ''
}

/** The opening of what follows a joint if it is a clause of its own, and `undefined` if it still belongs to the one before. */
function continued(
  opening: Opening,
  typed: string,
  before: Clause,
  rest: string,
): Opening | undefined {
  const joint = typed.trim().toLowerCase()
  if (isTold(joint, before) || isForbiddenToo(opening, joint, before, rest)) {
    return { ...opening, mood: 'forbids' }
  }
  const isBare = opening.bare === true && !opening.polite
  // A command by itself asks to be run; behind other words it is one more object of theirs.
  const isObject =
    opening.verb === 'shell' && !(before.opening.family === 'run' && opening.when !== 'now')
  if (opening.mood === 'tells' || isBare || isObject) return inherited(opening, before, rest)
  return isToldOn(opening, joint, before) || isAside(opening, joint, rest) ? undefined : opening
}

const JOINS_ON = /^(?:and|or|nor|, and|, or)?$/

/** "I opened it and read it": a bare verb behind a subject goes on telling. */
function isToldOn(opening: Opening, joint: string, before: Clause): boolean {
  const isBareVerb = opening.mood === 'asks' && !opening.polite && JOINS_ON.test(joint)
  return isBareVerb && before.opening.mood === 'tells' && !commands(before.opening.rest)
}

/** "…, if it is there": questions that are none. */
function isAside(opening: Opening, joint: string, rest: string): boolean {
  const isQuestion = opening.mood !== 'wonders' || opening.polite || opening.rest !== rest
  if (isQuestion || !phrase`^(?:if|whether|anything|any|is|are|do|has|have)\b`.test(rest))
    return false
  return phrase`^(?:if|whether|any)`.test(rest) || !/^(?:;|and|but|, and|, but)$/.test(joint)
}

/** "Don't read a.txt or run …" forbids both; "wait … before you run …" forbids the run. */
function isForbiddenToo(opening: Opening, joint: string, before: Clause, rest: string): boolean {
  if (before.opening.mood !== 'forbids' || opening.mood !== 'asks') return false
  if (opening.when === 'before' || opening.when === 'after') return true
  const goesOn = joint !== '' && JOINS_ON.test(joint) && !opening.polite
  return goesOn && !phrase`^(?:just|only|instead)\b`.test(rest)
}

/** "He said: run …" reports what somebody else asked for. */
function isTold(joint: string, before: Clause): boolean {
  return joint === ':' && before.opening.mood === 'tells' && REPORTS.test(before.text)
}

const REPORTS = phrase`
  (?:said|says|say|told|asked|wrote|writes|reads|read|error|warning|message|hint|states
  |quote)\s*$`

/** "Read a.txt and then b.txt": what follows a word of order has the verb of the clause before. */
const ORDERED_OBJECT = phrase`^(?!(?:i|we|you|he|she|it|they)(?!\w))(?:[\w-]+ ){0,8}?{ANY}`

function inherited(opening: Opening, before: Clause, rest: string): Opening | undefined {
  const { family, verb } = before.opening
  if (opening.when === 'now' || rest === opening.rest || family === undefined || verb === undefined)
    return undefined
  if (!ORDERED_OBJECT.test(opening.rest)) return undefined
  return { ...opening, mood: before.opening.mood, family, verb }
}

/** Joints within the opening words ("once you have it, …") join nothing. */
function bodyStart(sentence: string, opening: Opening): number {
  return opening.mood === 'asks' ? Math.max(0, sentence.length - opening.rest.length) : 0
}

/** The opening was read up to the end of the sentence; the clause ends earlier. */
function shortened(opening: Opening, by: number): Opening {
  return { ...opening, rest: opening.rest.slice(0, Math.max(0, opening.rest.length - by)) }
}
