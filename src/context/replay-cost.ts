import { historyOf } from '../history/history.ts'
import { transientsAt } from '../history/transients.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'
import { answeredCalls, PRICES, type AnsweredCall } from './answered-calls.ts'
import { shownTokens } from './shown-tokens.ts'

/** A Resource that is cheaper to retire than to keep. */
export interface CostlyResource {
  readonly resource_id: ResourceId
  /**
   * `tokens` of it in a request, `following` text that is read again without it, expected `calls`, and `reread`, its
   * share of that cost, in units of an uncached token.
   */
  readonly estimate: Readonly<Record<string, number>>
}

/**
 * The Resources to retire before the first request of the current Turn under the policy `cost-aware`. Keeping a Resource
 * costs a cached read of it with every call; retiring it costs, once, writing what follows it to the cache again. So
 * either the Resources of the latest message that shows any are retired, or all of them, whichever saves more over the
 * expected calls.
 *
 * The number of future calls is unknown; the estimate is the number of past calls, and a wrong estimate is bounded:
 * retirements together never cost more than a set share of what the calls would have cost without them. Pure.
 */
export function costlyResources(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
): readonly CostlyResource[] {
  const calls = answeredCalls(events)
  const last = calls.at(-1)
  const groups = last === undefined ? [] : shownGroups(events, now, last)
  if (last === undefined || groups.length === 0) return []
  const { perByte, of } = shownTokens(calls)
  const tokensOf = (id: ResourceId) => of.get(id) ?? 0
  const expected = Math.max(CALLS_AT_LEAST, calls.length)
  const readAgain = isCold(last, events) ? 0 : perByte
  const [best] = choicesOf(groups, calls)
    .map(({ ids, followingBytes }) => {
      const following = followingBytes * readAgain
      const reread = (PRICES.written - PRICES.cached) * following
      return { ids, following, reread, saved: expected * keptFor(ids, tokensOf) - reread }
    })
    .filter(({ saved, reread }) => saved >= 0 && reread <= leftToSpend(events, calls))
    .toSorted((a, b) => b.saved - a.saved)
  if (best === undefined) return []
  const { ids, following, reread } = best
  return ids.map((resource_id) => ({
    resource_id,
    estimate: {
      tokens: Math.round(tokensOf(resource_id)),
      following: Math.round(following),
      calls: expected,
      reread: Math.round(reread / ids.length),
    },
  }))
}

/** Applies to young Sessions, too: a single Turn may have many calls, and nothing is decided before its end. */
const CALLS_AT_LEAST = 20

/** Limits the cost to 1.4 times that of retiring nothing, plus estimation errors. */
const SHARE = 0.4

/** How long a provider keeps a prefix after its last use. */
const KEPT_MS = 5 * 60_000

/**
 * The cache contains nothing of the last request: everything after it is read again anyway. A cache expires by the wall
 * clock, across processes; if the clock jumps, only this cost estimate is wrong, and the choice is recorded.
 */
function isCold({ cachedNothing, at }: AnsweredCall, events: readonly WholeEvent[]): boolean {
  return cachedNothing || Date.parse(events.at(-1)?.ts ?? '') - at >= KEPT_MS
}

/** The cost per call of keeping them in the request. */
function keptFor(ids: readonly ResourceId[], tokensOf: (id: ResourceId) => number): number {
  return PRICES.cached * ids.reduce((all, id) => all + tokensOf(id), 0)
}

/** What remains of the share after the cost of earlier choices, by their own figures. */
function leftToSpend(events: readonly WholeEvent[], calls: readonly AnsweredCall[]): number {
  const paid = calls.reduce((all, { cost }) => all + cost, 0)
  const spent = events.reduce((all, { type, data }) => {
    return type === 'resource_retired' ? all + (data.estimate?.['reread'] ?? 0) : all
  }, 0)
  return SHARE * (paid - spent) - spent
}

interface Choice {
  readonly ids: readonly ResourceId[]
  /** Bytes of text that are read again. */
  readonly followingBytes: number
}

/**
 * A request asks the provider to cache the part before the latest Resources, so that those can be retired alone.
 * Retiring earlier ones makes everything but the start of the Session be read again, so they are retired together.
 */
function choicesOf(groups: readonly ResourceId[][], calls: readonly AnsweredCall[]): Choice[] {
  const [latest = []] = groups.slice(-1)
  const alone = { ids: latest, followingBytes: bytesSince(firstShowing(latest, calls), calls) }
  if (groups.length === 1) return [alone]
  const ids = groups.flat()
  const began = calls.findLastIndex(({ continuesPrevious }) => !continuesPrevious)
  const from = Math.min(began, firstShowing(ids, calls))
  return [{ ids, followingBytes: bytesSince(from, calls) }, alone]
}

function firstShowing(ids: readonly ResourceId[], calls: readonly AnsweredCall[]): number {
  return calls.findIndex(({ resourceBytes }) => ids.some((id) => resourceBytes.has(id)))
}

/** How much text was added after that call, up to the last. */
function bytesSince(from: number, calls: readonly AnsweredCall[]): number {
  return calls.slice(from + 1).reduce((all, { continuesPrevious, textBytes }, at) => {
    const more = textBytes - (calls[from + at]?.textBytes ?? 0)
    return continuesPrevious ? all + Math.max(0, more) : all
  }, 0)
}

/** The Resources of each message that the last request showed and the next one would show again, oldest first. */
function shownGroups(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
  { resourceBytes }: AnsweredCall,
): ResourceId[][] {
  const transients = transientsAt(events, now, 'cost-aware')
  return historyOf(events).events.flatMap(({ type, data, turn_id }) => {
    if (type !== 'user_message' || (now !== undefined && turn_id === now)) return []
    const live = (data.resources ?? []).flatMap(({ resource_id: id }) =>
      resourceBytes.has(id) && transients.lifetimeOf(turn_id, id) !== undefined ? [id] : [],
    )
    return live.length === 0 ? [] : [live]
  })
}
