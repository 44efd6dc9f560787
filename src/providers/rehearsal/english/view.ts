import type { Clause } from './words/clauses.ts'
import { rangesIn, type RangeFound } from './words/lines.ts'
import { asTyped } from './words/literals.ts'
import { phrase, phrases } from './words/phrase.ts'
import type { Call, Context } from './reading.ts'
import { handlesIn, OF_FILES, SHOWN_THINGS } from './words/shown-things.ts'

/** "View @img1 again", "… pages 2 to 3 of @pdf2": calls of resource_view, for what is not before the model's eyes already. */
export function viewsIn(
  { text, opening }: Clause,
  { literals, showing }: Pick<Context, 'literals' | 'showing'>,
): Call[] {
  const { mood, family, verb = '' } = opening
  if (mood !== 'asks' || family !== 'see' || TALKS.test(verb) || WONDERS.test(text)) return []
  const reason = cut(asTyped(text, literals).trim())
  const named = handlesIn(text)
  if (named.length === 0) {
    const meant = showing.where === 'told' ? lastMeant(text, showing.told) : []
    return meant.map((handle) => callFor(handle, reason, []))
  }
  const wanted = partsIn(text).map((part) => ({ part, of: handleOf(part, text, named) }))
  return named.flatMap((one) => {
    const own = wanted.filter(({ of }) => of === one).map(({ part }) => part)
    const isThere = own.length === 0 && showing.settled.has(one.handle)
    return isThere ? [] : [callFor(one.handle, reason, own)]
  })
}

/** Verbs that want to hear of something, which is no order to fetch it. */
const TALKS = /^(?:describ|explain|summari|analy|compar|quot|recit|consult|want|need|requir)/
const WONDERS = phrase`(?:^|\s)(?:can|could|do|did) (?:you|u)(?: still| really| even)? see(?!\w)`

const LONGEST_REASON = 200

/** Never in the middle of a character. */
function cut(text: string): string {
  return text.slice(0, LONGEST_REASON).replace(/[\uD800-\uDBFF]$/, '')
}

/** "The picture" is the last one that was told of, and so is "the document". */
function lastMeant(text: string, told: readonly string[]): string[] {
  const noun = OF_FILES.test(text) ? undefined : SHOWN_THINGS.exec(text)?.[0].toLowerCase()
  if (noun === undefined) return []
  const kinds = noun.startsWith('attach') ? ANY : /^(?:pdf|doc)/.test(noun) ? DOCUMENT : PICTURE
  const last = told.findLast((handle) => kinds.test(handle))
  return last === undefined ? [] : [last]
}

const ANY = /^@(?:img|pdf|txt)/
const DOCUMENT = /^@(?:pdf|txt)/
const PICTURE = /^@img/

/** A part of a Resource that a text asks for, and where it says so. */
interface PartFound {
  readonly part: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly start: number
  readonly end: number
}

function partsIn(text: string): PartFound[] {
  const regions = [...text.matchAll(REGION), ...text.matchAll(REGION_AT)].map((found) => {
    const { x = 0, y = 0, width = 0, height = 0 } = numbersOf(found.groups)
    return placed(found, { region: { x, y, width, height } })
  })
  const sizes = [...text.matchAll(SIZE)]
    .map((found) => placed(found, { size: numbersOf(found.groups) }))
    .filter(({ start, end }) => regions.every((other) => end <= other.start || other.end <= start))
  return [
    ...regions,
    ...sizes,
    ...rangesIn(text, 'page').flatMap((found) => spanned(found, 'pages')),
    ...rangesIn(text, 'line').flatMap((found) => spanned(found, 'lines')),
  ]
}

const AREA = '(?:region|area|rectangle|section|crop|part)'
const N = String.raw`\d{1,6}`
/** "The region 0,0 100x50", with or without names for the numbers. */
const REGION = phrases`
  (?<!\w)${AREA}(?: (?:from|at|with|of))?:? \(?(?:x ?=? ?)?(?<x>${N})\)? ?, ?(?:y ?=? ?)?(?<y>${N})
  \)?(?: ?,| (?:with|of|size|and))* ?(?:(?:width|w) ?=? ?)?(?<width>${N})(?: pixels)? ?(?:x|×|by|,
  ) ?(?:(?:height|h) ?=? ?)?(?<height>${N})(?!\d)`
/** "A region of 100x50 at 0,0". */
const REGION_AT = phrases`
  (?<!\w)${AREA} (?:of |with )?(?<width>${N}) ?(?:x|×|by) ?(?<height>${N})(?: pixels)?
  (?: from| at) \(?(?<x>${N}) ?, ?(?<y>${N})(?!\d)`
const SIZE = phrases`
  (?<!\w)(?:(?:at|in|to|as|with) )?(?:(?:the |an? )?size (?:of )?)?(?<width>${N}) ?(?:x|×|by
  ) ?(?<height>${N})(?: ?(?:px|pixels))?(?!\w)`

function numbersOf(groups: RegExpMatchArray['groups']): Record<string, number> {
  return Object.fromEntries(Object.entries(groups ?? {}).map(([name, n]) => [name, Number(n)]))
}

function placed(found: RegExpExecArray, part: PartFound['part']): PartFound {
  return { part, start: found.index, end: found.index + found[0].length }
}

/** One that has no end is the whole. */
function spanned({ range, start, end }: RangeFound, name: 'pages' | 'lines'): PartFound[] {
  const { from_line: from = 1, to_line: to } = range
  return to === undefined ? [] : [{ part: { [name]: { from, to } }, start, end }]
}

/** "Pages 2 to 3 of @pdf2" binds forward; "@pdf2, pages 2 to 3" binds back. */
function handleOf(
  { start, end }: PartFound,
  text: string,
  named: ReturnType<typeof handlesIn>,
): ReturnType<typeof handlesIn>[number] | undefined {
  const next = named.find((one) => one.start >= end)
  const before = named.findLast((one) => one.end <= start)
  if (next === undefined || before === undefined) return next ?? before
  return FORWARD.test(text.slice(end, next.start)) ? next : before
}

const FORWARD = phrase`^ ?(?:of|from|in|on)(?!\w)[^,]*$`

function callFor(handle: string, reason: string, parts: readonly PartFound[]): Call {
  const all: Record<string, unknown> = { handle, reason }
  for (const { part } of parts) Object.assign(all, part)
  return { name: 'resource_view', arguments: all }
}
