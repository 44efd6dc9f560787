import * as z from 'zod'
import { ErrorObject } from '../../../../model/error-shape.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import { definedFields } from '../../../../model/fields/defined-fields.ts'
import { SessionId, Sha256 } from '../../../../model/ids.ts'
import { Count } from '../../../../model/shape.ts'
import type { Proof } from '../../../../session/queries/verify.ts'
import type { OtherWords, RequestsVerdict } from '../../../../session/queries/verify-requests.ts'
import { answer } from '../../world/answer.ts'
import { counted, grouped } from '../../../../encoding/amounts.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { LOG_VERIFY } from '../../definitions/log.ts'
import { errorOutput } from '../../world/failure.ts'
import { EXIT } from '../../world/exit-code.ts'
import { withProgress } from '../../render/progress.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { visibleText } from '../../text/visible-text.ts'
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
type VerifyOutput = Omit<z.infer<typeof Output>, 'ok'>

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
  answer(world, verified, () => words(verified, requests))
  return ok(verified.whole ? EXIT.done : EXIT.failed)
}

function verdictOf(session_id: SessionId, { log, requests, checkpoints }: Proof): VerifyOutput {
  const differs = (requests?.mismatches.length ?? 0) + (checkpoints?.length ?? 0) > 0
  const { damage, ...facts } = log
  return {
    session_id,
    whole: damage === undefined && !differs,
    ...facts,
    ...definedFields({
      damage: damage && errorOutput(damage),
      checkpoints: checkpoints?.map(({ what: _what, ...mismatch }) => mismatch),
      requests: requests && checkedRequests(requests),
    }),
  }
}

function checkedRequests(verdict: RequestsVerdict): NonNullable<VerifyOutput['requests']> {
  const { requests: checked, not_comparable, other_words, mismatches } = verdict
  return {
    checked,
    not_comparable,
    outcome: outcomeOf(verdict),
    ...definedFields({ other_words: other_words?.map((one) => ({ ...one })) }),
    mismatches: [...mismatches],
  }
}

function outcomeOf({ not_comparable, mismatches }: RequestsVerdict) {
  if (mismatches.length > 0) return 'different'
  return not_comparable > 0 ? 'not_comparable' : 'identical'
}

function words(verified: VerifyOutput, withRequests: boolean): string {
  const { session_id, events, bytes, last_hash, unknown, foreign, torn_bytes, damage } = verified
  const read = `${counted(events, 'Event')} in ${counted(bytes, 'byte')}`
  const lines = [
    damage === undefined
      ? `The Log of ${session_id} is intact: ${read}, every hash matches.`
      : `The Log of ${session_id} is damaged. Intact before the damage: ${read}.`,
    damage && visibleText(damage.message),
    ...(damage?.next_actions ?? []).map(({ action, command }) =>
      [action, command].join(' ').trim(),
    ),
    last_hash === null ? undefined : `Hash of the last Event: ${last_hash}`,
    foreign
      ? 'It is foreign: it was created elsewhere, so its end and its author cannot be verified here.'
      : undefined,
    unknown === 0
      ? undefined
      : `${counted(unknown, 'Event')} of a type or shape unknown to this version, kept and skipped.`,
    torn_bytes === 0
      ? undefined
      : `The last write is incomplete: ${counted(torn_bytes, 'byte')}. This is not damage: the next writer moves them to a separate file.`,
    ...checkpointWords(verified),
    ...requestWords(verified, withRequests),
  ]
  return lines.flatMap((line) => (line === undefined ? [] : [`${line}\n`])).join('')
}

function checkpointWords({ compactions, checkpoints = [] }: VerifyOutput): string[] {
  if (compactions === 0) return []
  if (checkpoints.length === 0)
    return [
      `${counted(compactions, 'compaction')} checked: state and position match the Events before.`,
    ]
  return [
    `${grouped(checkpoints.length)} of ${counted(compactions, 'compaction')} differ from what the Events before them give:`,
    ...checkpoints.map(
      ({ seq, recorded }) => `  Event ${seq}: ${Object.keys(recorded).join(', ')}`,
    ),
  ]
}

function requestWords({ requests, damage }: VerifyOutput, withRequests: boolean): string[] {
  if (requests === undefined) return withRequests ? [NOT_CHECKED] : []
  const { checked, other_words = [], mismatches } = requests
  const differing = new Set(mismatches.map(({ seq }) => seq)).size
  const others = other_words.map(notComparable)
  if (differing === 0) {
    const where = damage === undefined ? '' : ' before the damage'
    const same = `${counted(checked, 'request')}${where} rebuilt, identical to the record.`
    return checked === 0 && others.length > 0 ? others : [same, ...others]
  }
  return [
    ...others,
    `${grouped(differing)} of ${counted(checked, 'rebuilt request')} differ from the record:`,
    ...mismatches.map(
      ({ seq, what, recorded, recomposed }) =>
        `  Event ${seq}, ${what}: recorded ${shown(recorded)}, rebuilt ${shown(recomposed)}`,
    ),
  ]
}

const NOT_CHECKED =
  'Requests were not checked: the Log is damaged, and what the requests before the damage are built from cannot be read.'

function notComparable({ contract_version, words_sha256, requests }: OtherWords): string {
  const hash = words_sha256 === undefined ? 'no hash recorded' : words_sha256.slice(0, 12)
  const version = visibleText(`${contract_version} (${hash})`)
  return `${counted(requests, 'request')} not comparable: words of version ${version}, not those of this Hawser. The Log itself is verified.`
}

function shown(value: unknown): string {
  return visibleText(JSON.stringify(value) ?? 'nothing')
}
