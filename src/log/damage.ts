import { failed, type Failed } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import type { Cursor, Fault } from './line.ts'

/** Each fault in words; `details` carries it as data. */
const FAULT_WORDS: Readonly<Record<Fault, string>> = {
  unterminated: 'its last line has no end',
  overlong: 'a line is longer than any that Hawser writes',
  version: 'a line was written by a newer Hawser',
  checksum: 'a line is not as it was written',
  not_utf8: 'a line is not text',
  not_json: 'a line is not JSON',
  not_canonical: 'a line is spelt as Hawser does not spell',
  too_deep: 'a line is nested too deeply',
  envelope: 'a line lacks what every Event has',
  other_session: 'a line belongs to another Session',
  sequence: 'a line is missing, doubled or out of order',
  chain: 'a line does not follow from the one before it',
  head_missing: 'its end is missing',
  head_differs: 'its end is not the one that was written here',
}

/** The answer for a Log that may not be written: it can be read up to `offset`, and salvaged. */
export function damaged(session: SessionId, offset: number, reason: Fault): Failed {
  const salvage = {
    action: 'Save what is whole into a new Session.',
    command: `hawser log salvage ${session}`,
  }
  const update = { action: 'Update Hawser, then open the Session again.' }
  return failed(
    'log_damaged',
    `The Log is damaged at byte ${offset}: ${FAULT_WORDS[reason]}. It can be read up to there.`,
    { session_id: session, offset, reason },
    [reason === 'version' ? update : salvage],
  )
}

/** The answer to a place that the Log no longer has: what was shown up to there was taken back by its writer. */
export function cursorExpired(session: SessionId, { seq }: Cursor): Failed {
  return failed(
    'cursor_expired',
    'The Log no longer has the Event that reading was to go on from.',
    { session_id: session, seq: seq - 1 },
    [{ action: 'Read the Log again from its start.' }],
  )
}
