import * as z from 'zod'
import { Descriptor } from '../../../model/descriptor.ts'
import { EPHEMERAL_DATA } from '../../../model/events/event.ts'
import { EventId, SessionId, TurnId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { ProviderUsage } from '../../../model/events/provider-events.ts'
import { TurnEnded } from '../../../model/events/turn-events.ts'

/** An Event in JSON output. */
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
  .describe('An Event, as in the Log.')

const NoticeLine = z
  .object({
    type: z.enum(Object.keys(EPHEMERAL_DATA)),
    session_id: SessionId,
    turn_id: TurnId.optional(),
    data: z.record(z.string(), z.unknown()),
  })
  .describe('An ephemeral event, such as a piece of the response.')

const ResultLine = z
  .object({
    type: z.literal('turn_result'),
    ok: z.boolean(),
    session_id: SessionId,
    turn_id: TurnId,
    status: TurnEnded.shape.status,
    text: z.string().describe('The answer: the text of the model after its last tool call.'),
    resources: z.array(Descriptor).describe('Resources that the model attached to its answer.'),
    usage: TurnEnded.shape.usage_total,
    pressure: ProviderUsage.shape.pressure
      .optional()
      .describe("How full the model's context window was at the last call. Absent without a call."),
    error: TurnEnded.shape.error,
    cut: TurnEnded.shape.cut.describe(
      'Why the answer is incomplete, and how many tool calls were lost. Absent if it is complete.',
    ),
    runs_later: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .optional()
      .describe(
        'Files created or changed by its tool calls that run later, for example in CI or a build.',
      ),
    notices: z
      .array(z.object({ code: z.string(), text: z.string() }))
      .describe(
        'What a person must know besides the answer, in order: what was refused, withheld, denied, shortened or repaired.',
      ),
    denied: Count.describe(
      'Tool calls denied because there was no terminal to ask, and hydrations denied without an answer of a person.',
    ),
    exit_code: z.int(),
  })
  .describe('The last line.')

/** The output of `hawser run --json`. With `--output json`, only the last line. */
export const Output = z
  .union([EventLine, NoticeLine, ResultLine])
  .describe(
    'JSON Lines; with --output json, only the last line. If the Turn was not admitted, a single line with the error.',
  )
