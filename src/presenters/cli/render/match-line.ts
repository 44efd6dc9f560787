import type { SessionId } from '../../../model/ids.ts'
import type { Match } from '../../../session/queries/search.ts'
import { PLAIN, type Line } from '../text/cell-width.ts'
import { withoutTabs } from './event-lines.ts'

type ShownMatch = Pick<Match, 'seq' | 'text' | 'start' | 'end'> & {
  readonly session_id: SessionId
  readonly turn?: number | undefined
  readonly type: string
}

/** Such as `ses_…:3:12:tool_result: the line`, with the Turn before the Event and the match coloured. */
export function matchLine({ session_id, turn, seq, type, text, start, end }: ShownMatch): Line {
  return [
    { text: `${session_id}:${turn ?? '-'}:${seq}:${type}: `, style: { dim: true } },
    { text: withoutTabs(text.slice(0, start)), style: PLAIN },
    { text: withoutTabs(text.slice(start, end)), style: { bold: true, colour: 'red' } },
    { text: withoutTabs(text.slice(end)), style: PLAIN },
  ]
}
