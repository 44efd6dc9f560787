import { historyOf, isElided } from '../history/history.ts'
import { startsTurn } from '../history/summary-turns.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { utf8Bytes } from '../model/shape.ts'
import type { Surface } from '../model/surface.ts'
import { pinnedTexts, type CarriedFacts } from './carried-facts.ts'
import {
  compactionDrafts,
  elidedResults,
  inactiveSkills,
  type CompactionData,
  type Situation,
  type SummarySource,
} from './compaction-draft.ts'
import { longResults } from './elision.ts'
import { sizedItems, sumOf, surfaceBytes, tokensOf, tokensPerByte } from './token-estimate.ts'

export interface PlanOptions {
  readonly trigger: CompactionData['trigger']
  /** The surface in force. */
  readonly surface: Surface
  /** The surface that a checkpoint with a summary takes over; default: the one in force. */
  readonly nextSurface?: Surface | undefined
  /** Tokens of the model's window, if known. */
  readonly window?: number | undefined
  /** The most tokens of the next request; default: the target of a compaction by hand. */
  readonly target?: number | undefined
  /** Set to false if the model has no tool to read outputs that became pointers. */
  readonly pointers?: boolean | undefined
  /** The running Turn, which the summary never covers. */
  readonly active?: TurnId | undefined
  /** The least share of the request that a compaction must save; default: one that is worth a cached prefix. */
  readonly leastGain?: number | undefined
  /** Also outputs that the model has not read yet may become pointers. */
  readonly unread?: boolean | undefined
  /** If no plan reaches the target, return the one with the fewest tokens. */
  readonly best?: boolean | undefined
  /** Where the summary comes from; default: excerpts. */
  readonly summary?: SummarySource | undefined
  /** The number of the next Event; default: after the last of these. */
  readonly nextSeq?: number | undefined
}

/** What a compaction would do, or why there is none. */
export type CompactionPlan = PlannedCompaction | NoCompaction

export interface PlannedCompaction {
  readonly compactable: true
  /** Without the position of the tail, which only the Log knows. */
  readonly data: CompactionData
  readonly target: number
  /** What the next request no longer shows. */
  readonly lost: LostContent
  /** What it shows of the whole Session: raw Turns, and the number of facts in each list. */
  readonly kept: KeptContent
}

export interface LostContent {
  readonly turns: number
  /** Tool outputs that are now shown as pointers, and their length. */
  readonly outputs: number
  readonly output_bytes: number
  /** Names of Skills that are no longer active. */
  readonly skills: readonly string[]
}

export type KeptContent = Readonly<Record<'turns' | Exclude<keyof CarriedFacts, 'counts'>, number>>

export interface NoCompaction {
  readonly compactable: false
  /** `state_too_large`: commands whose end is not known leave no room for a checkpoint. */
  readonly reason: 'nothing_to_compact' | 'target_not_reached' | 'state_too_large'
  readonly tokens_before: number
  readonly target: number
  /** The smallest request that was found. */
  readonly tokens_least: number
}

/** The share of the Conversation, and of the window, that a compaction by hand leaves at most. */
const KEPT_SHARE = 0.5
const WINDOW_SHARE = 0.4

/** The window that is assumed if it is not known. */
const USUAL_WINDOW = 200_000

/** With less to gain, a cached prefix is worth more than the room. */
const LEAST_GAIN = 0.1

/**
 * Plans a compaction, the cheapest that reaches its target: first, only long outputs become pointers; then a summary
 * replaces everything before a tail, which shrinks over fixed steps. A plan that misses the target is not made. Pure.
 */
export function planCompaction(
  events: readonly WholeEvent[],
  options: PlanOptions,
): CompactionPlan {
  const now = situation(events, options)
  const { leastGain = LEAST_GAIN } = options
  const { tokens_before, target } = now
  const isLittle = (after: number) => tokens_before - after < tokens_before * leastGain
  let tokens_least = tokens_before
  let least: CompactionData | undefined
  let tooLarge = false
  for (const data of compactionDrafts(now)) {
    if (data === 'state_too_large') {
      tooLarge = true
      continue
    }
    const { tokens_after } = data
    if (tokens_after < tokens_least) {
      tokens_least = tokens_after
      least = data
    }
    if (tokens_after > target || isLittle(tokens_after)) continue
    return { compactable: true, data, target, ...contents(now, data) }
  }
  if (options.best === true && least !== undefined && !isLittle(tokens_least))
    return { compactable: true, data: least, target, ...contents(now, least) }
  const figures = { tokens_before, target, tokens_least }
  if (tooLarge) return { compactable: false, reason: 'state_too_large', ...figures }
  const reason = isLittle(tokens_least) ? 'nothing_to_compact' : 'target_not_reached'
  return { compactable: false, reason, ...figures }
}

function situation(all: readonly WholeEvent[], options: PlanOptions): Situation {
  const {
    trigger,
    surface,
    nextSurface = surface,
    active,
    window = USUAL_WINDOW,
    nextSeq,
  } = options
  const { pointers = true, summary, unread = false } = options
  const history = historyOf(all)
  const items = sizedItems(all, { surface, turn: active })
  const perByte = tokensPerByte(all)
  // The surface cannot shrink.
  const fixed = surfaceBytes(surface)
  const half = tokensOf(fixed + sumOf(items) * KEPT_SHARE, perByte)
  return {
    all,
    history,
    trigger,
    surface,
    nextSurface,
    pointers,
    active,
    summary,
    nextSeq: nextSeq ?? (all.at(-1)?.seq ?? -1) + 1,
    items,
    results: longResults(history, items, unread),
    perByte,
    tokens_before: tokensOf(fixed + sumOf(items), perByte),
    target: options.target ?? Math.min(half, Math.floor(window * WINDOW_SHARE)),
  }
}

function contents(
  { all: known, history }: Situation,
  { tail: { from_seq, turns }, elided, range, carried }: CompactionData,
): Pick<PlannedCompaction, 'lost' | 'kept'> {
  const { events, elisions, checkpoint } = history
  const tail = events.filter(({ seq }) => seq >= from_seq)
  const pointers = elided === undefined ? [] : elidedResults(tail, [elided])
  const outputs = pointers.filter(({ seq, data }) => !isElided(elisions, seq, data))
  const facts = carried ?? checkpoint?.data.carried
  const all = events.filter(startsTurn).length
  return {
    lost: {
      turns: all - turns,
      outputs: outputs.length,
      output_bytes: outputs.reduce((sum, { data }) => sum + utf8Bytes(data.output), 0),
      skills: range === undefined || facts === undefined ? [] : inactiveSkills(facts, tail),
    },
    kept: {
      turns,
      pinned: carried?.pinned.length ?? pinnedTexts(known).length,
      decisions: facts?.decisions.length ?? 0,
      open_tasks: facts?.open_tasks.length ?? 0,
      resources: facts?.resources.length ?? 0,
      skills: facts?.skills.length ?? 0,
      hydrations: facts?.hydrations.length ?? 0,
      files_touched: facts?.files_touched.length ?? 0,
      tool_outcomes: facts?.tool_outcomes.length ?? 0,
    },
  }
}
