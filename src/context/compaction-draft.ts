import * as words from '../prompt/words/checkpoint.ts'
import { NOT_WRITTEN, WRITTEN, writtenSummary } from '../prompt/words/summary.ts'
import { historyOf, isElided, type History } from '../history/history.ts'
import { stateBefore, stateFits } from '../history/resume-state.ts'
import { startsTurn } from '../history/summary-turns.ts'
import { transientsAt } from '../history/transients.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import type { Surface } from '../model/surface.ts'
import { carriedBefore, pinnedTexts, type CarriedFacts } from './carried-facts.ts'
import { elideBefore, joinedElision, type Elision, type LongResult } from './elision.ts'
import {
  EXCERPTS_STRATEGY,
  excerptsBefore,
  FALLBACK_STRATEGY,
  MODEL_STRATEGY,
} from './range-summary.ts'
import { sizedItems, sumOf, surfaceBytes, tokensOf, type SizedItem } from './token-estimate.ts'

export type CompactionData = EventData<'history_compaction'>

/** A text that the model wrote for a cut that was planned before, or excerpts because its answer could not be used. */
export type SummarySource =
  | { readonly by: 'model'; readonly from_seq: number; readonly text: string }
  | { readonly by: 'fallback' }

/** The Session before a compaction, and what the compaction has to reach. */
export interface Situation {
  readonly all: readonly WholeEvent[]
  readonly history: History
  readonly trigger: CompactionData['trigger']
  readonly surface: Surface
  readonly nextSurface: Surface
  /** The model can read outputs that became pointers, under the surface in force. */
  readonly pointers: boolean
  readonly active: TurnId | undefined
  readonly summary: SummarySource | undefined
  readonly nextSeq: number
  readonly items: readonly SizedItem[]
  /** The outputs that may become pointers. */
  readonly results: readonly LongResult[]
  readonly perByte: number
  readonly tokens_before: number
  readonly target: number
}

/** Of a longer tail, long outputs become pointers, the oldest first. */
const MOST_TAIL_TOKENS = 20_000

/** The steps over which a plan shrinks until it fits: tokens of the tail without long outputs, and bytes of the summary. */
const STEPS = [
  { tail: MOST_TAIL_TOKENS, summary: 8_192 },
  { tail: 10_000, summary: 8_192 },
  { tail: 5_000, summary: 8_192 },
  { tail: 2_000, summary: 8_192 },
  { tail: 0, summary: 8_192 },
  { tail: 0, summary: 2_048 },
] as const

/** The possible compactions, the cheapest first; `state_too_large` instead of one whose state would not fit. */
export function* compactionDrafts(
  now: Situation,
): Generator<CompactionData | 'state_too_large', void> {
  if (now.summary?.by === 'model') {
    const { from_seq, text } = now.summary
    yield summaryDraft(now, from_seq, writtenSummary(text))
    return
  }
  const alone = elideOnly(now)
  if (alone !== undefined) yield alone
  let tried = ''
  for (const { tail, summary } of STEPS) {
    const from_seq = cutFor(now, tail)
    const step = `${from_seq} ${summary}`
    if (from_seq === undefined || step === tried) continue
    tried = step
    yield summaryDraft(now, from_seq, excerptsBefore(now.all, from_seq, summary))
  }
}

/** Elided outputs stay among the raw Events, which are read whenever a Session is opened. */
const MOST_RAW_BYTES = 4 * 1024 * 1024

/** A Compaction in which only long outputs become pointers. */
function elideOnly(now: Situation): CompactionData | undefined {
  const { history, results } = now
  if (!now.pointers) return undefined
  // If the running Turn is the only one, its Events stay raw in any case.
  if (outputBytes(history) > MOST_RAW_BYTES && cutFor(now, 0) !== undefined) return undefined
  const before_seq = elideBefore(results, excessOf(now, now.tokens_before))
  const last = results.at(-1)
  if (last === undefined) return undefined
  const from_seq = history.checkpoint?.data.tail.from_seq ?? 0
  const elision = joinedElision([], 0, before_seq ?? last.seq + 1)
  return measureDraft(now, { strategy: 'elide', from_seq, elision })
}

function outputBytes({ events }: Situation['history']): number {
  return events.reduce(
    (sum, event) => (event.type === 'tool_result' ? sum + event.data.output.length : sum),
    0,
  )
}

/** A checkpoint with a summary of everything before `from_seq`. */
function summaryDraft(
  now: Situation,
  from_seq: number,
  summary: string,
): CompactionData | 'state_too_large' {
  const { all, history } = now
  const state = stateBefore(all, from_seq)
  if (!stateFits(state)) return 'state_too_large'
  const range = { from_seq: history.checkpoint?.data.range?.from_seq ?? 0, to_seq: from_seq - 1 }
  const carried = carriedBefore(all, from_seq)
  const cut = { strategy: strategyOf(now), from_seq, range: { range, carried, summary, state } }
  const kept = joinedElision(history.elisions, from_seq)
  const whole = measureDraft(now, { ...cut, elision: kept })
  const tooLong = Math.ceil((whole.tail.tokens - MOST_TAIL_TOKENS) / now.perByte)
  const excess = Math.max(excessOf(now, whole.tokens_after), tooLong)
  const results = now.results.filter(({ seq }) => seq >= from_seq)
  const last = results.at(-1)
  if (excess <= 0 || last === undefined) return whole
  const before_seq = elideBefore(results, excess + SLACK_BYTES) ?? last.seq + 1
  const elision = joinedElision(history.elisions, from_seq, before_seq)
  return measureDraft(now, { ...cut, elision })
}

function strategyOf({ summary }: Situation): string {
  if (summary === undefined) return EXCERPTS_STRATEGY
  return summary.by === 'model' ? MODEL_STRATEGY : FALLBACK_STRATEGY
}

/** A sentence about the elided outputs may be added to the limitations. */
const SLACK_BYTES = 200

/** The number of bytes by which a request of that many tokens has too many. */
function excessOf({ perByte, target }: Situation, tokens: number): number {
  return Math.ceil((tokens - target) / perByte)
}

/**
 * Where a tail of at most that many tokens, without long outputs, begins: at the start of a Turn or, if nothing is left, at the
 * checkpoint itself. Never after the start of the active Turn, or of an earlier one whose attachments it shows because no model has seen them;
 * `undefined` if it would not cover a Turn.
 */
function cutFor(now: Situation, tokens: number): number | undefined {
  const { history, active, perByte, nextSeq } = now
  const starts = history.events.filter(startsTurn)
  const running = starts.find(({ turn_id }) => active !== undefined && turn_id === active)
  const last = running === undefined ? nextSeq : carriedFrom(now, running.seq)
  const cuts = [...starts.slice(1).map(({ seq }) => seq), nextSeq].filter((seq) => seq <= last)
  if (starts.length === 0) return undefined
  const tails = tailBytes(now, cuts)
  return cuts.find((from) => tokensOf(tails.get(from) ?? 0, perByte) <= tokens) ?? cuts.at(-1)
}

/** Where the first Turn starts whose attachments the active one carries; otherwise where that one starts. */
function carriedFrom({ all, history, active, surface }: Situation, running: number): number {
  const { lifetimeOf } = transientsAt(all, active, surface.params.replay)
  const carried = history.events.find(
    (event) =>
      event.type === 'user_message' &&
      event.seq < running &&
      (event.data.resources ?? []).some(
        ({ resource_id }) => lifetimeOf(event.turn_id, resource_id) === 'carried',
      ),
  )
  const start = history.events.find(
    (event) => event.type === 'turn_started' && event.turn_id === carried?.turn_id,
  )
  return carried === undefined ? running : (start?.seq ?? running)
}

/** The fewest bytes from each cut on: with pointers for all long outputs. `cuts` are in order. */
function tailBytes(now: Situation, cuts: readonly number[]): ReadonlyMap<number, number> {
  const saved = new Map(now.results.map((result) => [result.seq, result.savedBytes]))
  const rest = now.items.flatMap(({ item, bytes }) =>
    isHead(item, now) ? [] : [{ item, bytes: bytes - savedIn(item, saved) }],
  )
  const ordered = rest.toSorted((a, b) => a.item.seq - b.item.seq)
  const tails = new Map<number, number>()
  let bytes = 0
  for (const from of cuts.toReversed()) {
    while ((ordered.at(-1)?.item.seq ?? -1) >= from) bytes += ordered.pop()?.bytes ?? 0
    tails.set(from, bytes)
  }
  return tails
}

function savedIn(item: SizedItem['item'], saved: ReadonlyMap<number, number>): number {
  return item.kind === 'tool_result' ? (saved.get(item.seq) ?? 0) : 0
}

/** The item of the checkpoint in force is before its tail, whatever its number is. */
function isHead({ seq }: SizedItem['item'], { history }: Pick<Situation, 'history'>): boolean {
  return seq === history.checkpoint?.seq
}

interface Draft {
  readonly strategy: string
  readonly from_seq: number
  readonly elision: Elision | undefined
  readonly range?: Replacement | undefined
}

/** What replaces the Events of a range. */
type Replacement = {
  readonly [K in 'range' | 'carried' | 'summary' | 'state']: NonNullable<CompactionData[K]>
}

/** Completes a draft with its limitations and with the figures of the request that it leads to. */
function measureDraft(
  now: Situation,
  { strategy, from_seq, elision: elided, range }: Draft,
): CompactionData {
  const { history, trigger, tokens_before, surface, nextSurface, active, perByte } = now
  const tail = history.events.filter(({ seq }) => seq >= from_seq)
  const turns = tail.filter(startsTurn).length
  const elisions = range === undefined ? history.elisions : []
  const data: CompactionData = {
    trigger,
    strategy,
    ...range,
    tail: { from_seq, turns, tokens: 0 },
    ...(elided === undefined ? {} : { elided }),
    tokens_before,
    tokens_after: 0,
    limitations: limitations(now, tail, {
      range,
      outputs: elidedResults(tail, elided === undefined ? elisions : [...elisions, elided]).length,
    }),
  }
  const after = [...now.all, ...plannedEvent(now, data)]
  const next = range === undefined ? surface : nextSurface
  const items = sizedItems(after, { surface: next, turn: active })
  const head = historyOf(after).checkpoint?.seq
  const rest = items.filter(({ item }) => item.seq !== head)
  return {
    ...data,
    tail: { ...data.tail, tokens: tokensOf(sumOf(rest), perByte) },
    tokens_after: tokensOf(surfaceBytes(next) + sumOf(items), perByte),
  }
}

/** The results of a tail that are shown as pointers. */
export function elidedResults(
  tail: readonly WholeEvent[],
  elisions: History['elisions'],
): WholeEvent<'tool_result'>[] {
  return tail.filter(
    (event): event is WholeEvent<'tool_result'> =>
      event.type === 'tool_result' && isElided(elisions, event.seq, event.data),
  )
}

function limitations(
  { all, summary }: Situation,
  tail: readonly WholeEvent[],
  { range, outputs }: Pick<Draft, 'range'> & { readonly outputs: number },
): string[] {
  const elided = outputs === 0 ? [] : [words.elidedOutputs(outputs)]
  if (range === undefined) return elided
  const { carried } = range
  const skills = inactiveSkills(carried, tail)
  const unpinned = pinnedTexts(all).length - carried.pinned.length
  return [
    ...(summary?.by === 'model' ? [WRITTEN] : [words.LOSSY]),
    ...(summary?.by === 'fallback' ? [NOT_WRITTEN] : []),
    ...(skills.length === 0 ? [] : [words.inactiveSkills(skills)]),
    ...(carried.resources.length === 0 ? [] : [words.DESCRIBED_ONLY]),
    ...elided,
    ...(unpinned === 0 ? [] : [words.tooManyPins(unpinned)]),
    words.lookUp(range.range),
  ]
}

/** Skills whose text only the range had: the tail shows those that it activates. */
export function inactiveSkills(
  { skills }: Pick<CarriedFacts, 'skills'>,
  tail: readonly WholeEvent[],
): string[] {
  const active = new Set(
    tail.flatMap((event) => (event.type === 'skill_activation' ? [event.data.name] : [])),
  )
  return [...new Set(skills.map(({ name }) => name))].filter((name) => !active.has(name))
}

/** A position in the Log. */
export interface LogPosition {
  readonly offset: number
  readonly prev: string | null
}

/** With the position of the tail in the Log, which `positionOf` returns for the start of a Turn. */
export function withPosition(
  data: CompactionData,
  positionOf: (seq: number) => LogPosition | undefined,
): CompactionData {
  const position = data.range === undefined ? undefined : positionOf(data.tail.from_seq)
  if (position === undefined) return data
  const { offset: from_offset, prev: from_prev } = position
  return { ...data, tail: { ...data.tail, from_offset, from_prev } }
}

/** The Event as it would be recorded. Only its number, Turn and data matter for what follows. */
function plannedEvent(
  { all, nextSeq: seq, active }: Situation,
  data: CompactionData,
): WholeEvent[] {
  const turn = active === undefined ? {} : { turn_id: active }
  return all.slice(-1).map(({ v, id, session_id, ts, crc }) => {
    return {
      v,
      seq,
      id,
      session_id,
      ts,
      ...turn,
      type: 'history_compaction',
      data,
      prev: null,
      crc,
    }
  })
}
