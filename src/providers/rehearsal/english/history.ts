import type { Context, Reading } from './call.ts'
import { asMeant } from './literals.ts'
import { phrase } from './phrase.ts'
import * as verbs from './verbs.ts'

/** "Search the history for “tide”", "find tide in this conversation", "read Event 57": calls of history_search. */
export function history(step: string, context: Context): Reading | undefined {
  const [, seq, offset] = EVENT.exec(step) ?? []
  if (seq !== undefined) {
    const from = offset === undefined ? {} : { offset: Number(offset) }
    return { calls: [{ name: 'history_search', arguments: { seq: Number(seq), ...from } }] }
  }
  const [, turn, pattern, wanted] = PLACE_FIRST.exec(step) ?? []
  const [, otherPattern, otherWanted] = PLACE_LAST.exec(step) ?? []
  const words = wanted ?? otherWanted
  if (words === undefined) return undefined
  const regex = (pattern ?? otherPattern) === undefined ? {} : { regex: true }
  const only = turn === undefined ? {} : { turn: Number(turn) }
  const query = asMeant(words, context.literals)
  return { calls: [{ name: 'history_search', arguments: { query, ...regex, ...only } }] }
}

const EVENT = phrase`^(?:${verbs.READ}) event (\d{1,9})(?: from(?: character)? (\d{1,9}))?$`
const HISTORY = '(?:history|session|conversation)'
const WANTED = String.raw`
  {THE}(?:(?:word|text|phrase) |(pattern|regular expression|regex) )?({TEXT}|[^\s\uE000-\uF3FF]+)`
const PLACE_FIRST = phrase`
  ^(?:search|look)(?: in| through)? {THE}(?:${HISTORY}|turn (\d{1,9})) for ${WANTED}$`
const PLACE_LAST = phrase`
  ^(?:${verbs.SEARCH}) (?:for )?${WANTED} in (?:the|this|our) (?:whole )?${HISTORY}$`
