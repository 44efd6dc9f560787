import type { LogPlace } from '../../log/place.ts'
import type { HawserError } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'

/** The notice for a head that could not be written to `$HAWSER_HOME`, with the next step. */
export function headNotice(
  { message }: HawserError,
  { heads }: Pick<LogPlace, 'heads'>,
): EventDraft {
  const text =
    `${message} Nothing is lost and the Session continues, but a truncated Log would not be detected. ` +
    `Free space in ${heads.label} or make it writable; the next Turn tries again.`
  return notice('head_not_written', text)
}
