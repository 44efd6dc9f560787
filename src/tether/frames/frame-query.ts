import { failed, ok, type Result } from '../../model/errors.ts'
import type { Frame } from '../../model/tether/frame.ts'
import type { FrameEntry } from './frame-entry.ts'

/** Which frames to return; a frame must match every field that is present. */
export interface FrameFilter {
  readonly channel?: string | undefined
  readonly session_id?: string | undefined
  readonly types?: readonly string[] | undefined
  /** Frames that reply to this message. */
  readonly reply_to_msg_id?: string | undefined
}

/** Without a cursor, a query begins at the first available frame. */
export interface FrameQuery extends FrameFilter {
  /** Frames with higher numbers, oldest first. Excludes `before_seq`. */
  readonly after_seq?: number | undefined
  /** The last frames with lower numbers, in their order. */
  readonly before_seq?: number | undefined
  /** 1 to 200; 50 by default. */
  readonly limit?: number | undefined
}

export interface FramePage {
  readonly frames: readonly Frame[]
  /** The cursor of the next page in the same direction. */
  readonly next_seq: number
  /** A poll waited, and no frame arrived. */
  readonly timed_out: boolean
  readonly first_available_seq: number
}

const DEFAULT_LIMIT = 50
export const MOST_LIMIT = 200
export const MOST_WAIT_MS = 30_000

/** What a query asks for, checked. */
export type CheckedQuery =
  | { readonly direction: 'forward'; readonly after?: number | undefined; readonly limit: number }
  | { readonly direction: 'backward'; readonly before: number; readonly limit: number }

export function checkedQuery(query: FrameQuery): Result<CheckedQuery> {
  const { after_seq, before_seq, limit = DEFAULT_LIMIT } = query
  if (after_seq !== undefined && before_seq !== undefined)
    return failed('invalid_args', 'A query has either after_seq or before_seq.')
  for (const [name, value] of Object.entries({ after_seq, before_seq }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      return failed('invalid_args', `${name} must be a whole number of at least 0.`)
  if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= MOST_LIMIT))
    return failed('invalid_args', `limit must be a whole number from 1 to ${MOST_LIMIT}.`)
  if (before_seq !== undefined) return ok({ direction: 'backward', before: before_seq, limit })
  return ok({ direction: 'forward', after: after_seq, limit })
}

export function matches(entry: FrameEntry, filter: FrameFilter): boolean {
  const { channel, session_id, types, reply_to_msg_id } = filter
  return (
    (channel === undefined || entry.channel === channel) &&
    (session_id === undefined || entry.session === session_id) &&
    (types === undefined || types.includes(entry.type)) &&
    (reply_to_msg_id === undefined || entry.replyTo === reply_to_msg_id)
  )
}
