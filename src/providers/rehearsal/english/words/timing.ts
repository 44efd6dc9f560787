import { pastMarks, phrase, startingWith } from './phrase.ts'
import { verbAt, type VerbFound, type VerbForm } from './verbs.ts'

/** `then` is after what was said before, `first` before it; `after` and `before` make the clause a time for the next one. */
export type When = 'now' | 'then' | 'first' | 'after' | 'before'

/** A word of order at the start of a text, and what follows it. */
export function order(text: string): { readonly rest: string; readonly when: When } | undefined {
  const first = startingWith(FIRST, text) ?? startingWith(BEFORE_THAT, text)
  if (first !== undefined) return { rest: pastMarks(first.rest), when: 'first' }
  const then = startingWith(ONCE, text) ?? startingWith(THEN, text)
  return then === undefined ? undefined : { rest: pastMarks(then.rest), when: 'then' }
}

const THEN = phrase`
  (?:and |but |only )*(?:then|afterwards?|after (?:that|this|which|it)(?: is done|'s done)?|next
  (?: up)?|subsequently|finally|lastly|last(?: of all| but not least)?|later(?: on)?|in the end
  |at the end|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|step [2-9]|[2-9][.)]|(?:once|when|after
  |as soon as) (?:that|this|it|they|everything|all|you)(?:'s| is| are| has| have|'re|'ve| had)?
  (?: been| all)? (?:done|finished|completed?|ready|through|over|there|it|that|them|those|these
  |the results?|succeeded|worked|passed|back)(?: with (?:it|that|this))?|once done|when (?:done
  |finished|ready)|followed by)(?!\w)`
const ONCE = phrase`
  (?:and |but )*(?:only )?(?:once|when|after|as soon as) (?:you|that|this|it|they|these|those|all
  |everything|everyone|both|done|finished|ready|the)(?!\w)(?:(?!{ANY})[^,]){0,48},\s*`
const FIRST = phrase`
  (?:and |but )+(?:first(?:ly| of all)?|before that|before you do(?: that| so)?|beforehand)
  (?!\w)`
const BEFORE_THAT = phrase`(?:before that|before you do(?: that| so| it)?|beforehand)(?!\w)`

/** A clause that is the time of another. */
export interface TimeClause extends VerbFound {
  readonly when: 'after' | 'before'
}

/** "After reading …", "once you have read …", "before you run …". "When you run …" tells and does not ask. */
export function timeClause(text: string): TimeClause | undefined {
  const start = startingWith(TIME, text)
  if (start === undefined) return undefined
  const word = (start.found[1] ?? '').toLowerCase()
  const isPerfect = PERFECT.test(start.found[0])
  const forms: VerbForm[] = word === 'when' ? [] : ['ing', 'base']
  for (const form of isPerfect ? (['done', ...forms] as const) : forms) {
    const verb = verbAt(start.rest, form)
    if (verb !== undefined && phrase`{ANY}`.test(verb.rest)) {
      return { ...verb, when: word === 'before' ? 'before' : 'after' }
    }
  }
  return undefined
}

const TIME = phrase`
  (?:and |but |only |right |immediately |directly )*(after|once|when|as soon as|before)(?: (?:you
  (?:'ve| have| had)?(?: (?:finished|done|already))?|having|(?:you are|you're) done))? `
const PERFECT = phrase`\bha(?:ve|d|ving)\b|'ve\b|\bfinished\b`
