import { historyOf } from '../history/history.ts'
import { transientsAt } from '../history/transients.ts'
import type { WholeEvent } from '../model/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'
import { answeredCalls, PRICES, type AnsweredCall } from './answered-calls.ts'

export interface Retirement {
  readonly resource_id: ResourceId
  readonly estimate: Readonly<Record<string, number>>
}
export const TUNE = { H0: 5, BETA: 1 / 3, HF: 1 }

export function costlyResources(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
): readonly Retirement[] {
  const calls = answeredCalls(events)
  const last = calls.at(-1)
  if (last === undefined) return []
  const perByte = tokensPerByte(calls)
  const tokens = resourceTokens(calls, perByte)
  const live = groups(events, now, last, tokens)
  const ids = (from: number) => live.slice(from).flat()
  if (live.length === 0) return []
  const time = Date.parse(events.at(-1)?.ts ?? '')
  if (last.uncached || time - last.at >= 300_000) return ids(0).map((resource_id) => ({ resource_id, estimate: { tokens: tokens.get(resource_id) ?? 0, reread: 0 } }))
  const total = calls.reduce((sum, { cost }) => sum + cost, 0)
  const spent = events.reduce((sum, event) => sum + (event.type === 'resource_retired' ? (event.data.estimate?.['reread'] ?? 0) : 0), 0)
  const budget = TUNE.BETA * total - spent
  const H = Math.max(TUNE.H0, TUNE.HF * calls.length)
  let best = { from: -1, benefit: 0, reread: 0, following: 0 }
  for (let from = 0; from < live.length; from++) {
    const first = calls.findIndex(({ shown }) => live[from]?.some((id) => shown.has(id)))
    let following = 0
    for (let at = first + 1; at < calls.length; at++) {
      const [a, b] = [calls[at - 1], calls[at]]
      if (a && b?.grown) following += Math.max(0, b.textBytes - a.textBytes)
    }
    following *= perByte
    const reread = (PRICES.written - PRICES.cached) * following
    const I = ids(from).reduce((sum, id) => sum + (tokens.get(id) ?? 0), 0)
    const benefit = PRICES.cached * I * H - reread
    if (benefit > best.benefit && reread <= budget) best = { from, benefit, reread, following }
  }
  if (best.from < 0) return []
  const all = ids(best.from)
  return all.map((resource_id) => ({ resource_id, estimate: { tokens: tokens.get(resource_id) ?? 0, reread: best.reread / all.length, following: best.following } }))
}

function groups(events: readonly WholeEvent[], now: TurnId | undefined, last: AnsweredCall, tokens: ReadonlyMap<ResourceId, number>): ResourceId[][] {
  const t = transientsAt(events, now, 'cost-aware')
  return historyOf(events).events.flatMap((event) => {
    if (event.type !== 'user_message' || (event.turn_id !== undefined && event.turn_id === now)) return []
    const ids = (event.data.resources ?? []).map(({ resource_id }) => resource_id).filter((id) => last.shown.has(id) && tokens.has(id) && t.lifetimeOf(event.turn_id, id) !== undefined)
    return ids.length === 0 ? [] : [ids]
  })
}

function tokensPerByte(calls: readonly AnsweredCall[]): number {
  let tokens = 0
  let bytes = 0
  for (const [at, call] of calls.entries()) {
    const before = calls[at - 1]
    if (call.shown.size !== (before?.shown.size ?? 0)) continue
    if (before !== undefined && (!call.grown || [...call.shown.keys()].some((id) => !before.shown.has(id)))) continue
    const db = call.textBytes - (before?.textBytes ?? 0)
    const dt = call.tokens - (before?.tokens ?? 0)
    if (db <= 0 || dt <= 0) continue
    tokens += dt
    bytes += db
  }
  return bytes === 0 ? 0.25 : tokens / bytes
}

function resourceTokens(calls: readonly AnsweredCall[], perByte: number): Map<ResourceId, number> {
  const known = new Map<ResourceId, number>()
  let text = 0
  let textBytes = 0
  for (const call of calls) {
    const guess = call.grown ? Math.max(0, text + perByte * (call.textBytes - textBytes)) : perByte * call.textBytes
    const fresh = [...call.shown].filter(([id]) => !known.has(id))
    const old = [...call.shown.keys()].reduce((sum, id) => sum + (known.get(id) ?? 0), 0)
    const left = Math.max(0, call.tokens - guess - old)
    const all = fresh.reduce((sum, [, bytes]) => sum + bytes, 0)
    for (const [id, bytes] of fresh) known.set(id, (left * bytes) / all)
    text = fresh.length > 0 ? guess : call.tokens - old
    textBytes = call.textBytes
  }
  return known
}
