import * as z from 'zod'
import { ERROR_KINDS } from '../model/errors.ts'
import { Count, openObject, type Frozen } from '../model/shape.ts'
import { Frame } from '../model/tether/frame.ts'
import { InstanceRecord } from '../model/tether/instance.ts'
import type { FramePage } from './frames/frame-query.ts'
import type { AcceptedFrame, InstanceInfo } from './tether.ts'

/** What a `Tether` returns, as others receive it: over HTTP and in the output of commands. */

const INSTANCE_STATES = ['stopped', 'starting', 'running', 'paused'] as const

export const InstanceInfoShape = openObject(() => ({
  ...infoFields(),
  state: z.enum(INSTANCE_STATES),
  waiting: Count.describe('Messages that have not ended.'),
  reason: z
    .object({ kind: z.string(), message: z.string() })
    .exactOptional()
    .describe('Why it was stopped, if it did not stop by itself or on request.'),
  spend: z.object({ usd: z.number().nonnegative(), calls: Count }),
})) satisfies z.ZodType<InstanceInfo>

/** Which folder it is concerns only the process that opens it. */
function infoFields() {
  const { folder: _, ...fields } = InstanceRecord.shape
  return fields
}

export const AcceptedFrameShape = z.object({
  msg_id: z.string(),
  session_id: z.string(),
  ingress_seq: Count.describe('Its number: every answer has a higher one.'),
}) satisfies z.ZodType<AcceptedFrame>

export const FramePageShape = z.object({
  frames: z.array(Frame),
  next_seq: Count.describe('The cursor of the next page in the same direction.'),
  timed_out: z.boolean().describe('It waited, and no frame arrived.'),
  first_available_seq: Count.describe('Older frames were deleted.'),
}) satisfies z.ZodType<FramePage>

/** What a live stream sends where it cannot send frames. */
export const MissingFrames = z.object({
  what: z.enum(['deltas', 'frames']),
  after_seq: Count,
  through_seq: Count,
})
export type MissingFrames = Frozen<z.infer<typeof MissingFrames>>

/** The last event of a stream that cannot continue. */
export const StreamFailure = z.object({
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
})
