import * as z from 'zod'
import { ErrorObject } from '../../../../model/error-shape.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import { SessionId, Sha256 } from '../../../../model/ids.ts'
import { Count } from '../../../../model/shape.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { LOG_VERIFY } from '../../definitions/log.ts'
import { EXIT } from '../../world/exit-code.ts'
import { withProgress } from '../../render/progress.ts'
import { verdictLines, verdictOf } from '../../render/verdict-lines.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { OpenWorkspace } from '../../../../session/workspace/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

const Mismatch = z.object({
  seq: Count,
  what: z.enum([
    'request_sha256',
    'request_bytes',
    'shared_prefix_bytes',
    'prefix_break',
    'payload',
  ]),
  recorded: z.unknown(),
  recomposed: z.unknown(),
})

const CheckpointMismatch = z.object({
  seq: Count,
  recorded: z.record(z.string(), z.unknown()).describe('The differing fields.'),
  recomposed: z.record(z.string(), z.unknown()),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  whole: z
    .boolean()
    .describe(
      'The Log is intact, its checkpoints are true and, with --requests, no request that can be compared differs from its record.',
    ),
  events: Count,
  bytes: Count.describe('Intact, chained Events.'),
  last_hash: Sha256.nullable(),
  unknown: Count.describe('Events whose type or shape is unknown to this version.'),
  compactions: Count.describe('Compactions in the Log.'),
  checkpoints: z
    .array(CheckpointMismatch)
    .optional()
    .describe('Checkpoints that differ from what the Events before them give.'),
  foreign: z.boolean(),
  torn_bytes: Count.describe('Bytes of an incomplete last write, which is not damage.'),
  damage: ErrorObject.optional(),
  requests: z
    .object({
      checked: Count.describe('Requests composed again and compared with their record.'),
      not_comparable: Count.describe(
        'Requests that another version wrote with other prompt texts. This is not an error.',
      ),
      outcome: z
        .enum(['identical', 'not_comparable', 'different'])
        .describe(
          'identical: every request was compared and matches. not_comparable: some or all could not be compared, and no other differs. different: at least one differs.',
        ),
      other_words: z
        .array(
          z.object({
            contract_version: z.string(),
            words_sha256: Sha256.optional().describe('Absent if that version did not record it.'),
            requests: Count,
          }),
        )
        .optional()
        .describe('The prompt texts of the requests that cannot be compared.'),
      mismatches: z.array(Mismatch),
    })
    .optional()
    .describe('With --requests. Of a damaged Log, the requests before the damage.'),
})

/** Verifies every byte of a Log. Exit code 1 if it is damaged, or if a request differs from its record. */
export const run: Run<typeof LOG_VERIFY> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => verify(world, opened, input))

async function verify(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [named], options: { requests } }: CommandInput<typeof LOG_VERIFY>,
): Promise<Result<number>> {
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const proof = await withProgress(world, 'Reading every byte of the Log', () =>
    harness.verify(id.value, { requests }),
  )
  if (!proof.ok) return proof
  const verified = verdictOf(id.value, proof.value)
  answer(world, verified, () =>
    verdictLines(verified, requests)
      .map((line) => `${line}\n`)
      .join(''),
  )
  return ok(verified.whole ? EXIT.done : EXIT.failed)
}
