import { EVENT_TYPES, type EventType } from '../../../model/events/event.ts'
import type { ReadEvent } from '../../../session/reading/read-log.ts'
import { PLAIN, type Colour, type Line } from '../text/cell-width.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { essenceOf, type Essence } from './event-essence.ts'
import type { ResourceOf } from '../../../history/session-resources.ts'
import { visibleText } from '../text/visible-text.ts'

/** An Event for people, in one or a few lines: number, time, type and essence. Long texts are shortened. Pure. */
export function eventLines({ raw, event }: ReadEvent, resourceOf?: ResourceOf): Line[] {
  const { head, body = '' } =
    event === undefined ? unknownEssence(raw.data) : essenceOf(event, resourceOf)
  const [first = '', ...others] = [...firstLines(head, HEAD), ...firstLines(body, BODY)]
  return [
    [
      { text: String(raw.seq).padStart(SEQ_CELLS), style: { dim: true } },
      { text: `  ${raw.ts.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z  `, style: { dim: true } },
      { text: raw.type.slice(0, LONGEST_TYPE), style: styleOf(raw.type) },
      { text: first === '' ? '' : `  ${first}`, style: PLAIN },
    ],
    ...others.map((text): Line => [{ text: `${INDENT}${text}`, style: PLAIN }]),
  ]
}

interface Size {
  readonly lines: number
  readonly characters: number
}

const HEAD: Size = { lines: 4, characters: 600 }
const BODY: Size = { lines: 12, characters: 1200 }
const SEQ_CELLS = 5
const INDENT = ' '.repeat(SEQ_CELLS + 2)
const LONGEST_TYPE = 60

/** An Event of a newer version, or one with a missing stored field: its raw data. */
function unknownEssence(data: Readonly<Record<string, unknown>>): Essence {
  return { head: `unknown Event type: ${JSON.stringify(data)}` }
}

/** The first lines of a text, and how much more there is. */
function firstLines(text: string, { lines, characters }: Size): string[] {
  if (text === '') return []
  const whole = text.replace(/\n$/, '')
  const kept = whole
    .slice(0, characters)
    .replace(/[\uD800-\uDBFF]$/, '')
    .split('\n')
    .slice(0, lines)
  const more = whole.length - kept.join('\n').length
  const shown = kept.map(withoutTabs)
  return more === 0 ? shown : [...shown, `[… ${countOf(more, 'more character')}]`]
}

/** Visible text for one line of a terminal, with tabs of constant width. */
export function withoutTabs(text: string): string {
  return visibleText(text).replaceAll('\t', '    ')
}

const COLOURS: Readonly<Partial<Record<EventType, Colour>>> = {
  user_message: 'cyan',
  assistant_message: 'green',
  tool_call: 'magenta',
  tool_result: 'magenta',
  turn_ended: 'blue',
  turn_started: 'blue',
  notice: 'yellow',
  log_repaired: 'yellow',
  lock_taken: 'yellow',
}

function styleOf(type: string) {
  const known = EVENT_TYPES.find((one) => one === type)
  const colour = known && COLOURS[known]
  return colour === undefined ? { bold: true } : { bold: true, colour }
}
