import { leadIn } from './lead-in.ts'
import { phrase } from './phrase.ts'
import { timeClause, type When } from './timing.ts'
import { verbAt, type Family, type VerbForm } from './verbs.ts'

/** How a clause opens: what it asks for, if it asks, and when. */
export interface Opening {
  readonly mood: 'asks' | 'wonders' | 'forbids' | 'tells'
  readonly family?: Family
  readonly verb?: string
  /** Said in so many words, like "please" or "could you", and not by a bare verb. */
  readonly polite: boolean
  readonly when: When
  /** A place named before the verb: "in src, look for …". */
  readonly where: string
  readonly rest: string
  /** No verb at all: a name or a noun that stands for the wish to see it. */
  readonly bare?: boolean
}

/** Reads past greetings, requests and words of order to the verb or question word of a clause. */
export function openingOf(clause: string): Opening {
  let rest = clause.trimStart()
  let form: VerbForm = 'base'
  let so: Circumstances = { polite: false, when: 'now', where: '' }
  for (let words = 0; words < MOST_LEAD_INS; words += 1) {
    if (FORBIDS.test(rest) && !FORBIDS_NOTHING.test(rest)) return { ...so, mood: 'forbids', rest }
    const time = timeClause(rest)
    if (time !== undefined) return { ...so, mood: 'asks', ...time }
    const lead = leadIn(rest)
    if (lead === undefined) break
    rest = lead.rest
    form = lead.form ?? form
    so = {
      polite: so.polite || lead.polite === true,
      when: lead.when ?? so.when,
      where: so.where + (lead.where ?? ''),
    }
  }
  return { ...so, ...coreOf(rest, form, rest !== clause.trimStart()) }
}

/** Starts with a verb, be it one that no rule knows, and has no subject. */
export function commands(text: string): boolean {
  return NO_SUBJECT.test(text)
}

type Circumstances = Pick<Opening, 'polite' | 'when' | 'where'>

/** More words than that before the verb are no request. */
const MOST_LEAD_INS = 24

/** `led` says that words before this one were read past: "tell me if …" asks, "if …" alone does not. */
function coreOf(rest: string, form: VerbForm, led: boolean): Omit<Opening, keyof Circumstances> {
  const prompt = PROMPT.exec(rest)?.[0]
  if (prompt !== undefined)
    return { mood: 'asks', family: 'run', verb: 'run', rest: rest.slice(prompt.length) }
  if (isShell(rest)) return { mood: 'asks', family: 'run', verb: 'shell', rest }
  const verb = verbAt(rest, form)
  if (verb !== undefined) return { mood: ON_CONDITION.test(verb.rest) ? 'tells' : 'asks', ...verb }
  if (QUESTION.test(rest) || (led && WHETHER.test(rest))) return { mood: 'wonders', rest }
  if (NEW_FILE.test(rest)) return { mood: 'asks', family: 'write', verb: 'create', rest }
  if (NOUN_ALONE.test(rest)) return { mood: 'asks', family: 'see', verb: 'show', rest, bare: true }
  return { mood: 'tells', rest }
}

const FORBIDS = phrase`
  ^(?:do not|don't|dont|never|no need to|not(?! only)|without|instead of|rather than|except
  |apart from|other than|excluding|avoid|refrain from|wait|hold on|hold off|stop|skip|leave|(?:you
  |we|i) (?:do not|don't|need not|needn't|must not|mustn't|should not|shouldn't|may not|cannot
  |can't|won't|will not)|(?:i|we) (?:do not|don't) want you to)(?!\w)`
const FORBIDS_NOTHING = phrase`
  ^(?:do not|don't|dont|never) (?:forget|hesitate) to(?!\w)|^(?:i|we) (?:do not|don't|can't
  |cannot) (?:know|remember|recall|find|see|tell|understand)(?!\w)`

const NO_SUBJECT = phrase`
  ^(?!(?:i|we|you|he|she|it|they|this|that|these|those|the|an?|my|our|your|his|her|their|there
  |someone|somebody|people|everyone|what|which|who|how|why|when|if|yesterday|today|last|sometimes
  |usually|one)(?!\w))[a-z]+(?:ify)?(?: |$)`

/** "Only run … if I say so": not now, then. */
const ON_CONDITION = phrase`\s(?:if|unless|until|when|once) (?:i|we)(?!\w)`
const QUESTION = phrase`
  ^(?:what|what's|whats|(?:in )?which|in what|where|where's|who|how|does|do|did|is|are|has|have
  |anything|any)(?!\w)`
const WHETHER = phrase`^(?:if|whether)(?!\w)`
/** What a person copied together with the prompt of a shell. */
const PROMPT = /^(?:\$\s+|!\s?)(?=[\w./~])/

/** A clause that is a command and nothing else; with flags or pipes, also one that could be English without them. */
function isShell(text: string): boolean {
  return (
    phrase`^{CODE}\s*$`.test(text) ||
    (/^[a-z]/.test(text) && (PROGRAM.test(text) || PIPED.test(text)))
  )
}

const PIPED = phrase`
  ^(?:ls|cat|grep|rg|find|head|tail|tree|sort|dir|make|touch)(?= (?:\S+ )*(?:--?\w|[|>] ))`
const PROGRAM = phrase`
  ^(?:git|npm|npx|node|pnpm|yarn|python3?|pip3?|cargo|docker|kubectl|curl|wget|pwd|whoami|uname
  |mkdir|rm|cp|mv|chmod|sed|awk|wc|pytest|tsc|vitest|jest|eslint|deno|bun|head|tail|echo
  (?! {TEXT} (?:in)?to ))(?:\s*$| (?!(?:is|are|was|has|have|can|could|should|will|would|does|did
  |and|or|but|in|on|of|for|to|with|the|an?|my|our|your|it|not|files?|code|scripts?|packages?
  |version|works?|seems?|looks?)(?!\w))(?=[\w./~"-]))`
const NEW_FILE = phrase`^(?:an? )?new (?:empty |text |blank )*file(?!\w)`
const NOUN_ALONE = phrase`
  ^(?:{DET}(?:{FILE}|lines?|places?) (?:that|which|containing|mentioning) |{DET}(?:contents?|text
  |source|list|listing|lines? \d|first \w+ lines|top \w+ lines|occurrences?|mentions?|usages?
  |references?)(?!\w)|(?:{PATH}(?:{AND})?)+(?=\s*$))`
