import { APART, predictBreak } from '../../src/request/predict.ts'
import { sharedPrefix } from '../../src/prompt/prefix.ts'
import { historyOf, isElided } from '../../src/history/history.ts'
import type { ConversationItem } from '../../src/model/conversation.ts'
import type { Segment } from '../../src/model/segment.ts'
import type { DialectName } from '../support/providers/dialects.ts'
import {
  generatedRequests,
  type GeneratedRequest,
  type GenerateOptions,
} from '../support/history/generated-requests.ts'
import { sharedBlocks, wireBlocks } from '../support/providers/wire-blocks.ts'

/** Checks the requests of generated Logs against the law of the byte-stable prefix. */
export async function judgeLaw(
  seeds: number,
  dialect: DialectName,
  mistake: GenerateOptions['mistake'] = {},
  summaries = false,
) {
  const causes: Record<string, number> = {}
  const wrong: string[] = []
  let pairs = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const requests = await generatedRequests(seed, { mistake, dialect, summaries })
    for (const [at, next] of requests.entries()) {
      wrong.push(...callOrder(next.items).map((offence) => `seed ${seed}: ${offence}`))
      const before = comparedWith(requests, at)
      if (before === undefined) continue
      pairs += 1
      const cause = predictBreak(before.inputs, before.segments, next.inputs)?.cause ?? 'unbroken'
      causes[cause] = (causes[cause] ?? 0) + 1
      const found = [...offences(before, next), ...movedBlocks(before, next, dialect)]
      wrong.push(...found.map((offence) => `seed ${seed}, request ${at}: ${offence}`))
    }
  }
  return { causes, wrong, pairs }
}

/** The last request to the same model, or else the last one to any model. */
function comparedWith(
  requests: readonly GeneratedRequest[],
  at: number,
): GeneratedRequest | undefined {
  const { model } = requests[at]?.inputs.surface ?? {}
  const earlier = requests.slice(0, at)
  return earlier.findLast(({ inputs }) => inputs.surface.model === model) ?? earlier.at(-1)
}

/** What is wrong with the step from one request to the next; empty if the law holds. */
function offences(before: GeneratedRequest, next: GeneratedRequest): string[] {
  const predicted = predictBreak(before.inputs, before.segments, next.inputs)
  const apart = predicted !== undefined && APART.has(predicted.cause)
  const shared = sharedPrefix(before.segments, next.segments)
  const bytes = apart ? 0 : shared.bytes
  if (predicted === undefined) return shared.whole ? [] : [`broke at ${bytes} without a cause`]
  const found =
    predicted.at === bytes
      ? []
      : [`${predicted.cause} predicted at ${predicted.at}, found at ${bytes}`]
  const retiring = ['transient_retired', 'drop'].includes(predicted.cause)
  return retiring ? [...found, ...retiredOnly(before, next)] : found
}

/** The results of which only one of the two requests shows a pointer. */
function elidedSince(before: GeneratedRequest, next: GeneratedRequest): ReadonlySet<number> {
  const [old, now] = [before, next].map(({ inputs }) => historyOf(inputs.events).elisions)
  return new Set(
    next.inputs.events.flatMap(({ type, seq, data }) =>
      type === 'tool_result' && isElided(old ?? [], seq, data) !== isElided(now ?? [], seq, data)
        ? [seq]
        : [],
    ),
  )
}

/**
 * Whether the bodies agree with the segments: a block of the shared part is in the same message of both, with the same role. Read
 * from the bodies alone, so that a bracket that no segment has is found too.
 */
function movedBlocks(
  before: GeneratedRequest,
  next: GeneratedRequest,
  dialect: DialectName,
): string[] {
  const predicted = predictBreak(before.inputs, before.segments, next.inputs)
  if (predicted !== undefined && APART.has(predicted.cause)) return []
  const [earlier, later] = [before, next].map(({ body }) => wireBlocks(dialect, body))
  const { segments, whole } = sharedPrefix(before.segments, next.segments)
  const blocks = sharedBlocks(earlier ?? [], later ?? [])
  const content = new Set(before.segments.filter((one) => !BESIDE_BLOCKS.has(one.role)))
  const sent = before.segments.slice(0, segments).filter((one) => content.has(one))
  const expected = whole ? (earlier?.length ?? 0) : sent.length
  if (blocks >= expected) return []
  return [`block ${blocks} changed its message or its role: ${earlier?.[blocks]}`]
}

/** Segments that are not in the list of messages; where a dialect has them there, more blocks are compared. */
const BESIDE_BLOCKS: ReadonlySet<Segment['role']> = new Set(['params', 'tool', 'system'])

/** Without the retired ones and the outputs elided since, the earlier segments are the first of the later ones. */
function retiredOnly(before: GeneratedRequest, next: GeneratedRequest): string[] {
  const elided = elidedSince(before, next)
  let at = 0
  for (const segment of before.segments) {
    const { seq, role, lifetime, bytes } = segment
    if (next.segments[at]?.bytes.equals(bytes) === true) at += 1
    else if (role === 'tool_result' && elided.has(seq) && next.segments[at]?.seq === seq) at += 1
    else if (lifetime === 'stable') return [`a stable segment of Event ${seq} changed`]
  }
  return []
}

/** Results follow their calls, in the order of the calls. */
function callOrder(items: readonly ConversationItem[]): string[] {
  const calls = items.flatMap((item) => (item.kind === 'tool_call' ? [item.call_id] : []))
  const results = items.flatMap((item) => (item.kind === 'tool_result' ? [item.call_id] : []))
  return calls.join() === results.join() ? [] : ['results in another order than calls']
}
