import * as z from 'zod'
import { Sha256 } from '../model/ids.ts'
import type { Cursor } from './line.ts'

/**
 * The last known end of a Log, stored outside the workspace: number and hash of a line, and the offset after it. A Log
 * without that line was truncated or replaced, however valid it looks. Never ahead of what is durable. `seq` is -1 before
 * the first line is durable.
 */
export const HeadRecord = z.object({
  seq: z.int().min(-1),
  hash: Sha256.nullable(),
  offset: z.int().nonnegative(),
  /** The schemas (`LogPlace.schemas`) that every line up to this one matches; absent if that is not known. */
  checked_with: z.string().exactOptional(),
})
export type HeadRecord = z.infer<typeof HeadRecord>

export const HEAD_BEFORE_FIRST: HeadRecord = { seq: -1, hash: null, offset: 0 }

/** The head of a Log that is durable up to `cursor`. */
export function headOf(cursor: Cursor, checked_with: string | undefined): HeadRecord {
  const head = { seq: cursor.seq - 1, hash: cursor.prev, offset: cursor.offset }
  return checked_with === undefined ? head : { ...head, checked_with }
}
