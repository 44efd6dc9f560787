import type { LogPlace } from '../../log/place.ts'
import { failed, type HawserError } from '../../model/errors.ts'
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

/** The error of a change that only the head could bring into force. */
export function notCovered({ heads }: Pick<LogPlace, 'heads'>): HawserError {
  const message =
    'The head of the Log could not be written, so the change is not in force: it would not survive a restart.'
  const action = `Free space in ${heads.label} or make it writable, then make the change again.`
  return failed('storage_failed', message, {}, [{ action }]).error
}
