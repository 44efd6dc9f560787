import type { LogPlace } from '../../log/place.ts'
import type { HawserError } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'

/** What a person is shown when the end of the Log could not be noted in `$HAWSER_HOME`, and what to do about it. */
export function headNotice(
  { message }: HawserError,
  { heads }: Pick<LogPlace, 'heads'>,
): EventDraft {
  const text =
    `${message} Nothing is lost and the Session goes on, but if the end of its Log is cut off now, that is not noticed. ` +
    `Free space in ${heads.label} or make it writable; writing is tried again with the next Turn.`
  return { type: 'notice', data: { code: 'head_not_written', text } }
}
