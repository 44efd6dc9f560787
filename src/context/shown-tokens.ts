import type { ResourceId } from '../model/ids.ts'
import type { AnsweredCall } from './answered-calls.ts'

/** Token counts, as far as the usage of the model reveals them. */
export interface ShownTokens {
  /** Tokens per byte of text in this Session. */
  readonly perByte: number
  /** Tokens of each shown Resource. */
  readonly of: ReadonlyMap<ResourceId, number>
}

/** The assumed ratio for text, weighted as this many bytes, because short texts with much overhead are misleading. */
const GRANTED = { tokens: 5_000, bytes: 20_000 }

/**
 * Learned from the provider's usage, because providers count images differently: the tokens that a request has more
 * than the previous one, beyond its new text, belong to what it shows for the first time. Pure.
 */
export function shownTokens(calls: readonly AnsweredCall[]): ShownTokens {
  const perByte = tokensOfAByte(calls)
  const of = new Map<ResourceId, number>()
  let before = NOTHING
  for (const call of calls) {
    const { textBytes, resourceBytes, tokens } = call
    const from = call.continuesPrevious ? before : NOTHING
    const expected = Math.max(0, from.textTokens + perByte * (textBytes - from.textBytes))
    const known = sum([...resourceBytes.keys()].map((id) => of.get(id) ?? 0))
    const fresh = [...resourceBytes].filter(([id]) => !of.has(id))
    const freshTokens = Math.max(0, tokens - expected - known)
    const freshBytes = sum(fresh.map(([, bytes]) => bytes))
    for (const [id, bytes] of fresh) of.set(id, (freshTokens * bytes) / Math.max(1, freshBytes))
    before = { textBytes, textTokens: fresh.length > 0 ? expected : Math.max(0, tokens - known) }
  }
  return { perByte, of }
}

const NOTHING = { textBytes: 0, textTokens: 0 }

/** If a request shows the same Resources as the previous one, only text was added. */
function tokensOfAByte(calls: readonly AnsweredCall[]): number {
  let { tokens, bytes } = GRANTED
  for (const [at, call] of calls.entries()) {
    const before = call.continuesPrevious ? calls[at - 1] : undefined
    if (!showsTheSame(call.resourceBytes, before?.resourceBytes)) continue
    const moreBytes = call.textBytes - (before?.textBytes ?? 0)
    const moreTokens = call.tokens - (before?.tokens ?? 0)
    if (moreBytes <= 0 || moreTokens <= 0) continue
    tokens += moreTokens
    bytes += moreBytes
  }
  return tokens / bytes
}

function showsTheSame(
  shown: AnsweredCall['resourceBytes'],
  before: AnsweredCall['resourceBytes'] = new Map(),
): boolean {
  return shown.size === before.size && [...shown.keys()].every((id) => before.has(id))
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
