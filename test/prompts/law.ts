import { APART, predictBreak } from '../../src/contract/predict.ts'
import { sharedPrefix } from '../../src/contract/prefix.ts'
import type { ConversationItem } from '../../src/model/conversation.ts'
import type { Segment } from '../../src/model/segment.ts'
import type { DialectName } from '../support/dialects.ts'
import { madeRequests, type MadeRequest, type Mistake } from '../support/made-requests.ts'

/** Checks the requests of generated Logs against the law of the byte-stable prefix. */
export async function judgeLaw(seeds: number, dialect: DialectName, mistake: Mistake = {}) {
  const causes: Record<string, number> = {}
  const wrong: string[] = []
  let pairs = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const requests = await madeRequests(seed, { mistake, dialect })
    for (const [at, next] of requests.entries()) {
      wrong.push(...callOrder(next.items).map((offence) => `seed ${seed}: ${offence}`))
      const before = requests[at - 1]
      if (before === undefined) continue
      pairs += 1
      const cause = predictBreak(before.made, before.segments, next.made)?.cause ?? 'unbroken'
      causes[cause] = (causes[cause] ?? 0) + 1
      wrong.push(
        ...offences(before, next).map((offence) => `seed ${seed}, request ${at}: ${offence}`),
      )
    }
  }
  return { causes, wrong, pairs }
}

/** What is wrong with the step from one request to the next; empty if the law holds. */
function offences(before: MadeRequest, next: MadeRequest): string[] {
  const foretold = predictBreak(before.made, before.segments, next.made)
  const apart = foretold !== undefined && APART.has(foretold.cause)
  const shared = sharedPrefix(before.segments, next.segments)
  const bytes = apart ? 0 : shared.bytes
  if (foretold === undefined) return shared.whole ? [] : [`broke at ${bytes} without a cause`]
  const found =
    foretold.at === bytes ? [] : [`${foretold.cause} foretold at ${foretold.at}, found at ${bytes}`]
  const retiring = ['transient_retired', 'drop'].includes(foretold.cause)
  return retiring ? [...found, ...retiredOnly(before.segments, next.segments)] : found
}

/** Without the retired ones, the earlier segments are the first of the later ones. */
function retiredOnly(before: readonly Segment[], next: readonly Segment[]): string[] {
  let at = 0
  for (const segment of before) {
    if (next[at]?.bytes.equals(segment.bytes) === true) at += 1
    else if (segment.lifetime === 'stable')
      return [`a stable segment of Event ${segment.seq} changed`]
  }
  return []
}

/** Results follow their calls, in the order of the calls. */
function callOrder(items: readonly ConversationItem[]): string[] {
  const calls = items.flatMap((item) => (item.kind === 'tool_call' ? [item.call_id] : []))
  const results = items.flatMap((item) => (item.kind === 'tool_result' ? [item.call_id] : []))
  return calls.join() === results.join() ? [] : ['results in another order than calls']
}
