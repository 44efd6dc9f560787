import * as z from 'zod'
import { Descriptor } from '../../../model/descriptor.ts'
import { EPHEMERAL_DATA } from '../../../model/events/event.ts'
import { EventId, SessionId, TurnId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { TurnEnded } from '../../../model/events/turn-events.ts'

/** An Event as programs get it. */
export const EventLine = z
  .looseObject({
    v: z.literal(1),
    seq: Count,
    id: EventId,
    session_id: SessionId,
    turn_id: TurnId.optional(),
    ts: z.string(),
    type: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .describe('An Event, as it stands in the Log.')

const NoticeLine = z
  .object({
    type: z.enum(Object.keys(EPHEMERAL_DATA)),
    session_id: SessionId,
    turn_id: TurnId.optional(),
    data: z.record(z.string(), z.unknown()),
  })
  .describe('What is told and not kept, such as a piece of the answer.')

const ResultLine = z
  .object({
    type: z.literal('turn_result'),
    ok: z.boolean(),
    session_id: SessionId,
    turn_id: TurnId,
    status: TurnEnded.shape.status,
    text: z.string().describe('The answer: what the model said after its last call.'),
    resources: z.array(Descriptor).describe('What the agent attached to its answer.'),
    usage: TurnEnded.shape.usage_total,
    error: TurnEnded.shape.error,
    cut: TurnEnded.shape.cut.describe(
      'The answer is not whole: why, and how many calls were lost. Absent where it is.',
    ),
    runs_later: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .optional()
      .describe('Files that its calls made or changed and that run later, as in CI or a build.'),
    denied: Count.describe('Calls that were denied because nobody could be asked.'),
    exit_code: z.int(),
  })
  .describe('The last line.')

/** What `hawser run --json` writes. */
export const TurnLine = z
  .union([EventLine, NoticeLine, ResultLine])
  .describe('One JSON object a line. A Turn that was not admitted has one line, an error.')
