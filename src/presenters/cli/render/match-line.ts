import type { SessionId } from '../../../model/ids.ts'
import type { Match } from '../../../session/queries/search.ts'
import { PLAIN, type Line } from '../text/cell-width.ts'
import { withoutTabs } from './event-lines.ts'

/** Characters of a long line that are shown before a match, and in total. */
const BEFORE = 60
const EXCERPT = 240

/** Shortens a long line to the part around the match. Pure. */
export function excerptOf(match: Match): Match {
  const { text } = match
  if (text.length <= EXCERPT) return match
  const from = boundary(text, Math.max(0, match.start - BEFORE))
  const to = boundary(text, Math.min(text.length, from + EXCERPT))
  const within = (at: number) => Math.min(at, to) - from
  return {
    ...match,
    text: text.slice(from, to),
    start: within(match.start),
    end: within(match.end),
  }
}

type Found = Pick<Match, 'seq' | 'text' | 'start' | 'end'> & {
  readonly session_id: SessionId
  readonly type: string
}

/** Such as `ses_…:12:tool_result: the line`, with the match coloured. */
export function matchLine({ session_id, seq, type, text, start, end }: Found): Line {
  return [
    { text: `${session_id}:${seq}:${type}: `, style: { dim: true } },
    { text: withoutTabs(text.slice(0, start)), style: PLAIN },
    { text: withoutTabs(text.slice(start, end)), style: { bold: true, colour: 'red' } },
    { text: withoutTabs(text.slice(end)), style: PLAIN },
  ]
}

/** Not inside a surrogate pair. */
function boundary(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at
}
