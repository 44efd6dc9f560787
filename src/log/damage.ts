import { failed, type Failed } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import type { Cursor, Fault } from './line.ts'

/** Describes each fault for people; `details` contains its name for programs. */
const FAULT_WORDS: Readonly<Record<Fault, string>> = {
  unterminated: 'the last line is incomplete',
  overlong: 'a line exceeds the maximum length',
  version: 'a line was written by a newer version of Hawser',
  checksum: 'the checksum of a line does not match',
  not_utf8: 'a line is not valid UTF-8',
  not_json: 'a line is not valid JSON',
  not_canonical: 'a line is not canonical JSON',
  too_deep: 'a line is nested too deeply',
  envelope: 'a line lacks required Event fields',
  other_session: 'a line belongs to another Session',
  sequence: 'a line is missing, duplicated or out of order',
  chain: 'the hash chain is broken at a line',
  head_missing: 'the end of the Log is missing',
  head_differs: 'the end of the Log does not match its recorded head',
  parent_missing: 'a Log that it was forked from is missing',
}

/** The error for a damaged Log: it can be read up to `offset`, and salvaged. */
export function damageError(session: SessionId, offset: number, reason: Fault): Failed {
  const salvage = {
    action: 'Copy the intact Events into a new Session.',
    command: `hawser log salvage ${session}`,
  }
  const update = { action: 'Update Hawser, then open the Session again.' }
  return failed(
    'log_damaged',
    `The Log is damaged at byte ${offset}: ${FAULT_WORDS[reason]}. It can be read ${reason === 'parent_missing' ? 'from' : 'up to'} there.`,
    { session_id: session, offset, reason },
    [reason === 'version' ? update : salvage],
  )
}

/** The error for a position that the Log no longer has: its writer cut lines that a reader had already seen. */
export function cursorExpired(session: SessionId, { seq }: Cursor): Failed {
  return failed(
    'cursor_expired',
    'The Log no longer contains the Event to continue reading from.',
    { session_id: session, seq: seq - 1 },
    [{ action: 'Read the Log again from its start.' }],
  )
}
