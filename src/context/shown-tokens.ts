import type { ResourceId } from '../model/ids.ts'
import type { AnsweredCall } from './answered-calls.ts'

/** What a model counts, as far as its answers tell. */
export interface ShownTokens {
  /** Of a byte of text, in this Session. */
  readonly perByte: number
  /** Of each Resource that was shown. */
  readonly of: ReadonlyMap<ResourceId, number>
}

/** What is taken for granted of text, with the weight of so many bytes: short pieces alone, with much around them, mislead. */
const GRANTED = { tokens: 5_000, bytes: 20_000 }

/**
 * Learnt from the figures of the provider, which counts a picture as it pleases: what a request has more than the one before
 * it, and its text does not account for, is what it showed for the first time. Pure.
 */
export function shownTokens(calls: readonly AnsweredCall[]): ShownTokens {
  const perByte = tokensOfAByte(calls)
  const of = new Map<ResourceId, number>()
  let before = NOTHING
  for (const call of calls) {
    const { textBytes, shown, tokens } = call
    const from = call.grown ? before : NOTHING
    const expected = Math.max(0, from.textTokens + perByte * (textBytes - from.textBytes))
    const known = sum([...shown.keys()].map((id) => of.get(id) ?? 0))
    const fresh = [...shown].filter(([id]) => !of.has(id))
    const freshTokens = Math.max(0, tokens - expected - known)
    const freshBytes = sum(fresh.map(([, bytes]) => bytes))
    for (const [id, bytes] of fresh) of.set(id, (freshTokens * bytes) / Math.max(1, freshBytes))
    before = { textBytes, textTokens: fresh.length > 0 ? expected : Math.max(0, tokens - known) }
  }
  return { perByte, of }
}

const NOTHING = { textBytes: 0, textTokens: 0 }

/** Where a request shows the same Resources as the one before it, only text came in between. */
function tokensOfAByte(calls: readonly AnsweredCall[]): number {
  let { tokens, bytes } = GRANTED
  for (const [at, call] of calls.entries()) {
    const before = call.grown ? calls[at - 1] : undefined
    if (!showsTheSame(call.shown, before?.shown)) continue
    const moreBytes = call.textBytes - (before?.textBytes ?? 0)
    const moreTokens = call.tokens - (before?.tokens ?? 0)
    if (moreBytes <= 0 || moreTokens <= 0) continue
    tokens += moreTokens
    bytes += moreBytes
  }
  return tokens / bytes
}

function showsTheSame(
  shown: AnsweredCall['shown'],
  before: AnsweredCall['shown'] = new Map(),
): boolean {
  return shown.size === before.size && [...shown.keys()].every((id) => before.has(id))
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
