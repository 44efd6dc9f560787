import { SUMMARY_SECTIONS } from '../prompt/words/summary.ts'
import { turnAnswer } from '../history/results/turn-result.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { ok, failed, type Result } from '../model/errors.ts'
import type { TurnId } from '../model/ids.ts'
import { utf8Bytes } from '../model/shape.ts'
import type { CarriedFacts } from './carried-facts.ts'

/** The most bytes of a summary that the model writes. */
const MOST_BYTES = 8_192

/**
 * The summary in the answer of a Turn that asked for it. It is refused unless the Turn completed with one whole answer that
 * has at most `MOST_BYTES` bytes, and has every requested heading once, in order and with text below it. The error says why, for people.
 */
export function summaryIn(events: readonly WholeEvent[], turn: TurnId): Result<string> {
  const {
    status,
    error,
    cut,
    text: answer,
  } = turnAnswer(events.filter(({ turn_id }) => turn_id === turn))
  if (error !== undefined) return failed(error.kind, error.message)
  if (status === 'interrupted') return failed('interrupted', 'The Turn was interrupted.')
  if (status !== 'completed') return unusable(`its Turn ended as ${status}`)
  if (cut !== undefined) return unusable(`it was cut off (${cut.stop_reason})`)
  const text = answer.trim()
  if (text === '') return unusable('it is empty')
  const bytes = utf8Bytes(text)
  if (bytes > MOST_BYTES) return unusable(`it has ${bytes} bytes; the limit is ${MOST_BYTES}`)
  const missing = missingSection(text)
  return missing === undefined ? ok(text) : unusable(`it has no section ${missing} in its place`)
}

function unusable(why: string): Result<never> {
  return failed('invalid_response', `The summary of the model cannot be used: ${why}.`)
}

/** The first requested section that is absent, empty, repeated or out of order. */
export function missingSection(text: string): string | undefined {
  const found = text.split('\n').flatMap((line, at) => {
    const [, heading = ''] = HEADING.exec(line) ?? []
    const name = SUMMARY_SECTIONS.find((one) => one.toLowerCase() === heading.toLowerCase())
    return name === undefined ? [] : [{ name, at }]
  })
  const lines = text.split('\n')
  return SUMMARY_SECTIONS.find((name, index) => {
    const own = found[index]
    if (own?.name !== name) return true
    const body = lines.slice(own.at + 1, found[index + 1]?.at)
    return body.every((line) => line.trim() === '')
  })
}

const HEADING = /^#{1,6} +(?:\*\*)?([A-Za-z]+)(?:\*\*)?:? *$/

/** The carried facts that the text of a checkpoint, without its summary, does not contain. */
export function missingFacts(carried: CarriedFacts, text: string): string[] {
  const facts = [
    ...carried.pinned,
    ...carried.decisions,
    ...carried.open_tasks,
    ...carried.resources.map(({ handle }) => `${handle} `),
  ]
  return facts.filter((fact) => !text.includes(fact))
}
