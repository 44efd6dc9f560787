import type { Call, Context, Reading } from './call.ts'
import { asTyped } from './literals.ts'
import { phrase } from './phrase.ts'
import * as verbs from './verbs.ts'

/**
 * "View @img1", "pages 2 to 3 of @pdf2", "describe the picture", "what do you see?": calls of resource_view for bytes that
 * are not in the request, and questions about those that are.
 */
export function view(step: string, context: Context): Reading | undefined {
  const { where, settledHandles, describedHandles } = context.visible
  const typed = asTyped(step, context.literals)
  const asksToView = VIEWS.test(step)
  const handles = [...new Set(step.match(HANDLES))]
  if (handles.length === 0) {
    if (WHAT_IS_SEEN.test(step)) return { subject: { which: 'all', handles } }
    const points = THINGS.test(step) || (where === 'here' && POINTS.test(step))
    if (!points || where === 'nowhere' || phrase`{ANY}`.test(step)) return undefined
    const last =
      asksToView && where === 'described' ? describedHandles.findLast(kindOf(step)) : undefined
    if (last !== undefined) return { calls: [callFor(last, typed, {})] }
    return asksToView || ASKS.test(step) ? { subject: { which: 'latest', handles } } : undefined
  }
  if (!asksToView && !ASKS.test(step)) return undefined
  const part = handles.length === 1 ? partIn(step) : {}
  const whole = Object.keys(part).length === 0
  const views = asksToView ? handles.filter((one) => !whole || !settledHandles.has(one)) : []
  const others = handles.filter((handle) => !views.includes(handle))
  return {
    ...(views.length === 0 ? {} : { calls: views.map((one) => callFor(one, typed, part)) }),
    ...(others.length === 0 ? {} : { subject: { which: 'named', handles: others } }),
  }
}

const HANDLES = /@(?:img|pdf|txt|file|link)[1-9]\d*(?!\w)/g
const VIEWS = phrase`^(?:${verbs.VIEW})(?!\w)`
const ASKS = phrase`
  ^(?:so )?(?:describe|compare|explain|tell me|say what|what|what's|which|who|how|do|does|is|are
  |count|can you)(?!\w)`
const WHAT_IS_SEEN = phrase`
  ^(?:so |tell me |say |and )*what (?:do|can|did)?(?: ?you) (?:can )?see(?: here| there| now)?$`
const THINGS = phrase`
  (?<!\w)(?:pictures?|images?|photos?|screenshots?|drawings?|diagrams?|charts?|attachments?|attached
  |pdfs?|document)(?!\w)`
/** Words that refer to the attachments of the message. */
const POINTS = phrase`
  (?<!\w)(?:it|this|that|these|those|them|here|pages?|pixels?|colou?rs?|size|width|height)(?!\w)`

/** "The picture" is the last picture that was described; any other word, the last Resource that can be viewed. */
function kindOf(step: string): (handle: string) => boolean {
  const isDocument = phrase`(?<!\w)(?:pdfs?|documents?|attachments?|attached)(?!\w)`.test(step)
  return (handle) => (isDocument ? /^@(?:img|pdf|txt)/ : /^@img/).test(handle)
}

type Part = Readonly<Record<string, Readonly<Record<string, number>>>>

function partIn(step: string): Part {
  const range = phrase`(?<!\w)(page|line)s? (\d{1,6})(?: ?(?:to|-|–) ?(\d{1,6}))?`.exec(step)
  if (range !== null) {
    const [, unit = '', from = '', to = from] = range
    return { [`${unit.toLowerCase()}s`]: { from: Number(from), to: Number(to) } }
  }
  const area = phrase`(?<!\w)region (\d{1,6}), ?(\d{1,6}),? (\d{1,6})x(\d{1,6})`.exec(step) ?? []
  const [x, y = 0, width = 0, height = 0] = area.slice(1).map(Number)
  if (x !== undefined) return { region: { x, y, width, height } }
  const size = phrase`(?<!\w)at (\d{1,6}) ?x ?(\d{1,6})(?!\w)`.exec(step)
  return size === null ? {} : { size: { width: Number(size[1]), height: Number(size[2]) } }
}

/** The reason is the person's text, never cut inside a character. */
function callFor(handle: string, typed: string, part: Part): Call {
  const reason = typed.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '')
  return { name: 'resource_view', arguments: { handle, reason, ...part } }
}
