import { shorten } from '../encoding/quote.ts'
import {
  DESCRIBING_LINE,
  earlierSummary,
  EXCERPTS,
  omittedTurns,
  turnExcerpt,
} from '../prompt/words/checkpoint.ts'
import { historyOf, type Checkpoint } from '../history/history.ts'
import { startsTurn } from '../history/summary-turns.ts'
import { turnAnswer } from '../history/results/turn-result.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { utf8Bytes } from '../model/shape.ts'

/** The strategy of a checkpoint whose summary consists of excerpts. */
export const EXCERPTS_STRATEGY = 'excerpts'

/** The same, after the model was asked for a summary and its answer could not be used. */
export const FALLBACK_STRATEGY = 'excerpts-fallback'

/** The strategy of a checkpoint whose summary the model wrote. */
export const MODEL_STRATEGY = 'model-1'

/** The length of each excerpt of a Turn as a share of the summary, by its age: the newest Turns in more detail. */
const SHARES = [0.15, 0.1, 0.06, 0.04] as const
const OLD_SHARE = 0.02

/** The heading and the line about omitted Turns, and the words around the excerpts of a Turn. */
const HEAD_BYTES = 160
const AROUND_BYTES = 80

/**
 * A summary of the Events before number `from_seq`, without a model: excerpts of the requests and answers of each Turn,
 * shortened lines of the checkpoint in force, as many of the newest as fit `most` bytes. Pure.
 */
export function excerptsBefore(all: readonly WholeEvent[], from_seq: number, most: number): string {
  const { checkpoint, state, events } = historyOf(all)
  const before = events.filter(({ seq }) => seq < from_seq)
  const turns = turnsIn(before, (state.turns ?? 0) + 1)
  const lines: string[] = []
  let left = most - HEAD_BYTES
  for (const line of newestFirst(checkpoint, turns.asked, most)) {
    left -= utf8Bytes(line) + 1
    if (left < 0) break
    lines.unshift(line)
  }
  const oldest = DESCRIBING_LINE.exec(lines[0] ?? '')
  const described = Number(oldest?.[1] ?? (oldest === null ? turns.next : 1))
  return [EXCERPTS, ...(described <= 1 ? [] : [omittedTurns(described - 1)]), ...lines].join('\n')
}

function* newestFirst(
  checkpoint: Checkpoint | undefined,
  turns: readonly OneTurn[],
  most: number,
): Generator<string> {
  for (const [age, turn] of turns.toReversed().entries()) {
    const share = SHARES[age] ?? OLD_SHARE
    const line = turnLine(turn, Math.floor(most * share))
    if (line !== undefined) yield line
  }
  if (checkpoint !== undefined) yield* earlierLines(checkpoint, most).toReversed()
}

function earlierLines({ data }: Checkpoint, most: number): string[] {
  const { summary = '', strategy, range } = data
  const excerpt = Math.floor(most * OLD_SHARE)
  const isExcerpts = strategy === EXCERPTS_STRATEGY || strategy === FALLBACK_STRATEGY
  if (!isExcerpts && range !== undefined) return [earlierSummary(range, summary, most / 4)]
  const lines = summary.split('\n').filter((line) => DESCRIBING_LINE.test(line))
  return lines.map((line) => shorten(line, 2 * excerpt + AROUND_BYTES))
}

interface OneTurn {
  readonly id: TurnId
  readonly number: number
  readonly events: WholeEvent[]
}

/** The Turns of a person in the order in which they started, and the number of the next Turn. Every Turn has a number. */
function turnsIn(events: readonly WholeEvent[], first: number) {
  const turns = new Map<TurnId, OneTurn>()
  for (const event of events) {
    const { turn_id: id } = event
    if (id === undefined) continue
    if (event.type === 'turn_started') turns.set(id, { id, number: first + turns.size, events: [] })
    turns.get(id)?.events.push(event)
  }
  const asked = [...turns.values()].filter((turn) => turn.events.some(startsTurn))
  return { asked, next: first + turns.size }
}

/** `undefined` for a refused Turn, which no model has seen. */
function turnLine({ number, events }: OneTurn, most: number): string | undefined {
  const { status, text: answer } = turnAnswer(events)
  if (status === 'refused') return undefined
  const messages = events.flatMap((event) => (event.type === 'user_message' ? [event.data] : []))
  const request = messages.map(({ text }) => text).join('\n')
  const handles = messages.flatMap(({ resources = [] }) => resources.map(({ handle }) => handle))
  const calls = events.filter(({ type }) => type === 'tool_call').length
  return turnExcerpt({ number, request, answer, handles, calls, status }, most)
}
