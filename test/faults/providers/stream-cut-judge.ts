import { canonicalJson } from '../../../src/encoding/json.ts'
import type { EventType, WholeEvent } from '../../../src/model/events/event.ts'
import { ANSWER, WRITTEN, type CutAnswer } from './stream-cut-answer.ts'

/** Where an answer was cut. `broken`: the connection was destroyed. `ended`: its body ended there regularly. */
export interface Cut {
  readonly bytes: number
  readonly how: 'broken' | 'ended'
  /** How often the harness may retry. */
  readonly retries: 0 | 1
}

/** The deltas of one answer, joined by kind. */
export interface Shown {
  text: string
  reasoning: string
}

/** The record of a Turn: what it left behind and what was observed. */
export interface SeenTurn {
  /** What people saw of each answer. */
  readonly shown: readonly Shown[]
  /** All Events of the Turn, from the Log on disk. */
  readonly events: readonly WholeEvent[]
  /** New files in the workspace and their content. */
  readonly files: Readonly<Record<string, string>>
}

export interface Evidence {
  readonly answer: CutAnswer
  readonly cut: Cut
  readonly turn: SeenTurn
  /** The next Turn, which got a complete answer. */
  readonly next?: SeenTurn
}

/** The model's answer to any other request: to the results of its calls, on a retry, on the next Turn. */
export const LAST_WORDS = 'Fest vertäut ⚓.'

/** False statements in the Log, and effects that must not happen; empty if there are none. */
export function cutOffences({ answer, cut, turn, next }: Evidence): string[] {
  const where = `${answer.dialect}, ${cut.how} after ${cut.bytes}, ${cut.retries} retries`
  const own = [...endOffences(turn), ...turnOffences(turn, answer, cut)]
  const later = next === undefined ? [] : [...endOffences(next), ...answered(next, [LAST_WORDS])]
  return [...own, ...later.map((text) => `the next Turn: ${text}`)].map((o) => `${where}: ${o}`)
}

function endOffences({ events }: SeenTurn): string[] {
  const ends = of(events, 'turn_ended').length
  return [
    ...(ends === 1 ? [] : [`${ends} ends`]),
    ...(events.at(-1)?.type === 'turn_ended' ? [] : ['it goes on after its end']),
  ]
}

function turnOffences(turn: SeenTurn, answer: CutAnswer, { bytes, how, retries }: Cut): string[] {
  const content = answer.after(bytes)
  // The last data may be lost when a connection breaks.
  const lossy = how === 'broken'
  const [shown = NOTHING] = turn.shown
  const right = lossy
    ? content.text.startsWith(shown.text) && content.reasoning.startsWith(shown.reasoning)
    : content.text === shown.text && content.reasoning === shown.reasoning
  const silent = shown.text === '' && shown.reasoning === ''
  const tries = of(turn.events, 'provider_request').filter(({ data }) => data.call_index === 0)
  const expected = silent && retries > 0 ? 2 : 1
  const completed = of(turn.events, 'turn_ended')[0]?.data.status === 'completed'
  return [
    ...(right ? [] : [`it showed ${canonicalJson(shown)}`]),
    ...(tries.length === expected ? [] : [`${tries.length} tries`]),
    ...(expected === 2
      ? answered(turn, ['', LAST_WORDS])
      : content.done && (completed || !lossy)
        ? wholeOffences(turn)
        : [...brokenOff(turn, lossy ? 'network' : 'invalid_response'), ...calledNothing(turn)]),
  ]
}

const NOTHING: Shown = { text: '', reasoning: '' }

/** For a Turn whose answer was cut: the Log reports it, and what was shown is kept as a partial answer. */
function brokenOff({ events, shown }: SeenTurn, kind: string): string[] {
  const text = shown[0]?.text ?? ''
  const [end] = of(events, 'turn_ended')
  const status = `${end?.data.status} ${end?.data.error?.kind}`
  const kept = of(events, 'assistant_message').map(({ data }) => data)
  const right = text === '' ? [] : [{ text, partial: true }]
  return [
    ...(status === `failed ${kind}` ? [] : [`it ended as ${status}`]),
    ...(canonicalJson(kept) === canonicalJson(right) ? [] : [`it kept ${canonicalJson(kept)}`]),
    ...(of(events, 'reasoning').length === 0 ? [] : ['it kept half a thought']),
  ]
}

/** For a Turn that completed: the Log keeps exactly what each answer showed. */
function textOffences({ events, shown }: SeenTurn, texts: readonly string[]): string[] {
  const [end] = of(events, 'turn_ended')
  const status = `${end?.data.status} ${end?.data.error?.kind}`
  const kept = of(events, 'assistant_message').map(({ data }) => data)
  const right = texts.filter((text) => text !== '').map((text) => ({ text }))
  const seen = shown.map(({ text }) => text)
  return [
    ...(status === 'completed undefined' ? [] : [`it ended as ${status}`]),
    ...(canonicalJson(kept) === canonicalJson(right) ? [] : [`it kept ${canonicalJson(kept)}`]),
    ...(canonicalJson(seen) === canonicalJson(texts) ? [] : [`it showed ${canonicalJson(seen)}`]),
  ]
}

function answered(turn: SeenTurn, texts: readonly string[]): string[] {
  return [...textOffences(turn, texts), ...calledNothing(turn)]
}

function calledNothing({ events, files }: SeenTurn): string[] {
  const types = ['tool_call', 'permission_decision', 'tool_result'] as const
  return [
    ...types.flatMap((type) => (of(events, type).length === 0 ? [] : [`there is a ${type}`])),
    ...Object.keys(files).map((name) => `${name} was written`),
  ]
}

/** For a Turn whose answer was complete: each of its calls ran once, and the answer to their results ended it. */
function wholeOffences(turn: SeenTurn): string[] {
  const called = of(turn.events, 'tool_call').map(({ data }) => data)
  const results = of(turn.events, 'tool_result').map(({ data }) => data)
  // An id that already occurred in the Session is replaced by another one.
  const calls = called.map((call) => ({ name: call.name, arguments: call.arguments }))
  const expected = ANSWER.calls.map((call) => ({ name: call.name, arguments: call.arguments }))
  const done = results.map(({ call_id, outcome }) => `${call_id} ${outcome}`)
  const right = called.map(({ call_id }) => `${call_id} ok`)
  const files = { [WRITTEN.path]: WRITTEN.content }
  return [
    ...textOffences(turn, [ANSWER.text, LAST_WORDS]),
    ...(canonicalJson(calls) === canonicalJson(expected)
      ? []
      : [`it called ${canonicalJson(calls)}`]),
    ...(canonicalJson(done) === canonicalJson(right)
      ? []
      : [`the results were ${done.join(', ')}`]),
    ...(canonicalJson(turn.files) === canonicalJson(files) ? [] : ['the files are others']),
  ]
}

function of<T extends EventType>(events: readonly WholeEvent[], type: T) {
  return events.filter((event): event is Extract<WholeEvent, { type: T }> => event.type === type)
}
