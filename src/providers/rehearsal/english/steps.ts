import { phrase } from './phrase.ts'
import { VERBS } from './verbs.ts'

/** One command of a text. */
export interface Step {
  readonly text: string
  /** It starts after everything before it is done. */
  readonly waits: boolean
}

const MOST_STEPS = 50

/** The steps of a masked text in order: sentences, lines, list items, and parts joined by "then", "and" or a comma. */
export function stepsOf(masked: string): Step[] {
  const text = masked.replaceAll(BEFORE_FENCE, ': ').replaceAll(FILE_FIRST, '$1').trim()
  const steps: Step[] = []
  let waits = false
  // Every second piece is a separator.
  for (const [index, piece] of text
    .split(JOINTS)
    .slice(0, 2 * MOST_STEPS)
    .entries()) {
    if (index % 2 === 1) {
      waits = waits || WAITS.test(piece)
      continue
    }
    const [mark = ''] = LIST_MARK.exec(piece.trim()) ?? []
    const words = piece.trim().slice(mark.length)
    const bare = words.replace(LEAD_IN, '').replace(ENDING, '').trim()
    if (bare === '') continue
    const isLater = waits || /\d/.test(mark) || LATER.test(words)
    steps.push({ text: bare, waits: steps.length > 0 && isLater })
    waits = false
  }
  return steps
}

/** A block of code belongs to the words before it. */
const BEFORE_FENCE = new RegExp(phrase`:? ?\n ?(?={FENCE})`.source, 'gi')
/** "In a.ts, replace …" is one command. */
const FILE_FIRST = new RegExp(phrase`(?<!\w)((?:in|edit) {THE}(?:{FILE} )?{NAME})[,:]`.source, 'gi')
const THEN = String.raw`(?:(?:, ?|\s+)(?:and )?(?:then|after that|afterwards)(?!\w),?\s+)`
/** A dot after the number of a list item does not end a sentence. */
const SENTENCE = String.raw`(?:(?<!(?:^|\n)\s*\(?\d{1,2})[.!?;…]+(?:\s+|$))`
const AND = String.raw`(?:(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:also |please |finally )?(?:${VERBS})(?!\w)))`
const JOINTS = new RegExp(`(${phrase`${THEN}|${SENTENCE}|\s*\n\s*|${AND}`.source})`, 'i')
const WAITS = /then|after/i

const LIST_MARK = /^(?:[-*•]|\(?\d{1,2}[.)])\s+/
const LATER = /^(?:finally|next|then|after that|afterwards)(?!\w)/i
/** Greetings, polite phrases, and words such as "first". */
const LEAD_IN = phrase`
  ^(?:(?:hi|hello|hey|please|now|first|next|then|finally|also|and|ok|okay|just|after that|afterwards
  |(?:can|could|would|will) you(?: please)?|i(?:'d| would) like you to|i want you to
  |let's)(?:[,:!]* |[,:!]+ ?|$))*`
const ENDING = phrase`
  (?:,? (?:please|thanks|thank you|for me|now|too|as well|once more|instead|afterwards))+[\s,]*$`
