import { canonicalJson } from '../../encoding/json.ts'
import { clausesOf, withTextBelow, type Clause } from './english/words/clauses.ts'
import { looksLikePath } from './english/words/file-names.ts'
import { literalsIn, mask, type Literal } from './english/words/literals.ts'
import { asksToLook, type Looks } from './english/looking.ts'
import { arrange, type Timed } from './english/order.ts'
import { phrase } from './english/words/phrase.ts'
import { planAsked } from './english/plan.ts'
import type { Call, Context, Reading } from './english/reading.ts'
import { readingOf } from './english/rules.ts'
import { NOTHING_SHOWN, type Showing } from './english/words/shown-things.ts'
import { viewsIn } from './english/view.ts'

/** What a text asks for: groups of calls, one after the other; the calls of a group may be made at once. */
export interface Understanding {
  readonly steps: readonly (readonly Call[])[]
  /** Things that were asked for without saying everything that is needed. */
  readonly missing: readonly string[]
  /** What is to be looked at; absent when nothing is asked about what is shown. */
  readonly looks?: Looks
}

/**
 * Understands plain English by rules; each text on its own, in order. `it` is the file that was last spoken of, if any, and
 * `showing` tells where bytes are that a text may mean. Pure.
 */
export function understand(
  texts: readonly string[],
  it: readonly string[] = [],
  showing: Showing = NOTHING_SHOWN,
): Understanding {
  const timed: Timed[] = []
  const missing: string[] = []
  const looks: Looks[] = []
  let last = it
  for (const text of texts) {
    const understood = understandText(text, last, showing)
    last = understood.context.it
    timed.push(...understood.timed)
    missing.push(...understood.missing)
    looks.push(...understood.looks)
  }
  return { steps: arrange(withoutRepeats(timed)), missing, ...together(looks) }
}

/** Names say more than words that only point. */
function together(looks: readonly Looks[]): Pick<Understanding, 'looks'> {
  if (looks.length === 0) return {}
  const handles = [...new Set(looks.flatMap((one) => one.handles))]
  if (handles.length > 0) return { looks: { at: 'named', handles } }
  return { looks: { at: looks.some(({ at }) => at === 'all') ? 'all' : 'pointed', handles } }
}

interface Understood {
  readonly timed: Timed[]
  readonly missing: string[]
  /** One each time something is to be looked at. */
  readonly looks: Looks[]
  readonly context: Context
}

/** Whether a text says nothing. A line in brackets is a note about something, and not a request. */
export function isBlank(text: string): boolean {
  return BLANK.test(text)
}

const BLANK = /^\s*(?:\[[^\n]*\]\s*)?$/

function understandText(text: string, it: readonly string[], showing: Showing): Understood {
  const masked = withTextBelow(mask(isBlank(text) ? '' : text))
  let context: Context = { literals: masked.literals, it, mark: '', showing }
  const plan = planAsked(masked)
  if (plan !== undefined) {
    return {
      timed: [{ calls: [plan], when: 'now', leads: true, apart: false }],
      missing: [],
      looks: [],
      context,
    }
  }
  const timed: Timed[] = []
  const missing: string[] = []
  const looks: Looks[] = []
  const fileNamed = masked.literals.some(({ kind }) => kind === 'path')
  for (const sentence of clausesOf(masked.text)) {
    const left = sentence.filter((clause) => {
      const viewed = viewsIn(clause, context).map((call) => String(call.arguments['handle']))
      const look = asksToLook(clause, showing, { viewed, fileNamed })
      if (look !== undefined) looks.push(look)
      return look === undefined || viewed.length > 0
    })
    const understood = understandSentence(left, context)
    context = understood.context
    timed.push(...understood.timed)
    missing.push(...understood.missing)
  }
  return { timed, missing, looks, context }
}

interface Taken {
  readonly clause: Clause
  readonly reading: Reading
  /** As it was before this clause. */
  readonly context: Context
}

function understandSentence(clauses: readonly Clause[], start: Context): Omit<Understood, 'looks'> {
  const taken: Taken[] = []
  let context = start
  for (const clause of clauses) {
    const next = { clause, reading: readingOf(clause, context), context }
    const before = taken.at(-1)
    const merged = before === undefined ? undefined : mergedWith(before, next)
    if (merged !== undefined) taken.pop()
    taken.push(merged ?? next)
    context = contextAfter(merged ?? next)
  }
  const timed = taken.map(({ clause, reading }, index) => ({
    calls: reading.calls,
    when: clause.opening.when,
    apart: APART.test(clause.text),
    leads: taken.slice(0, index).every((other) => other.reading.calls.length === 0),
  }))
  const lacking = taken.filter(
    ({ reading }) => reading.calls.length === 0 && reading.missing !== undefined,
  )
  const settled = lacking.length > 0 && timed.some(({ calls }) => calls.length > 0)
  return {
    timed,
    missing: settled ? [] : lacking.map(({ reading }) => reading.missing ?? ''),
    context,
  }
}

const APART = phrase`
  \b(?:one after (?:the other|another)|one by one|one at a time|in (?:that|this|the given) order
  |sequentially|in sequence|in turn)\b`

/** A clause that makes no sense alone may be the rest of the one before: "search for read and write in src". */
function mergedWith(before: Taken, { clause, reading }: Taken): Taken | undefined {
  if (reading.calls.length > 0 || before.clause.opening.mood !== 'asks') return undefined
  const { opening } = before.clause
  const { mood, polite } = clause.opening
  const isRest = mood === 'asks' && !polite && opening.family !== 'run' && opening.family !== 'see'
  const isContrast =
    /^(?:instead of|rather than)/i.test(clause.text) && before.reading.calls.length === 0
  if (!isRest && !isContrast) return undefined
  const tail = clause.joint + clause.text
  const whole = {
    ...before.clause,
    mark: clause.mark,
    text: before.clause.text + tail,
    opening: { ...opening, rest: opening.rest + tail },
  }
  const merged = readingOf(whole, before.context)
  return merged.calls.length === 0
    ? undefined
    : { clause: whole, reading: merged, context: before.context }
}

function contextAfter({ clause, reading, context }: Taken): Context {
  const named = reading.about ?? []
  const mentioned = named.length > 0 ? named : pathsIn(clause.text, context.literals)
  return mentioned.length === 0 ? context : { ...context, it: mentioned }
}

function pathsIn(text: string, literals: readonly Literal[]): string[] {
  return literalsIn(text, literals)
    .filter(
      ({ kind, text: name }) =>
        (kind === 'path' || kind === 'quote' || kind === 'code') && looksLikePath(name),
    )
    .map((literal) => literal.text)
}

/** Asking twice for what cannot have changed is asking once. */
function withoutRepeats(timed: readonly Timed[]): Timed[] {
  const seen = new Set<string>()
  return timed.map((clause, index) => {
    const calls = clause.calls.filter((call) => {
      if (isFilledBy(call, timed[index + 1]?.calls ?? [])) return false
      const key = canonicalJson(call)
      const known = seen.has(key)
      if (CHANGING.has(call.name)) seen.clear()
      seen.add(key)
      return !known
    })
    return { ...clause, calls }
  })
}

/** "Make a file a.txt and put … in it" is one write. */
function isFilledBy({ name, arguments: args }: Call, next: readonly Call[]): boolean {
  if (name !== 'write' || args['content'] !== '') return false
  return next.some((call) => call.name === 'write' && call.arguments['path'] === args['path'])
}

const CHANGING = new Set(['write', 'edit', 'bash'])
