import * as z from 'zod'
import { ErrorObject } from '../../../../model/error-shape.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import { SessionId, Sha256 } from '../../../../model/ids.ts'
import { Count } from '../../../../model/shape.ts'
import type { Proof } from '../../../../session/harness.ts'
import type { RequestsVerdict } from '../../../../session/queries/verify-requests.ts'
import { answer } from '../../world/answer.ts'
import { counted, grouped } from '../../../../encoding/amounts.ts'
import type { Given } from '../../world/command.ts'
import { EXIT } from '../../world/exit-code.ts'
import { withProgress } from '../../render/progress.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { visibleText } from '../../text/visible-text.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { OpenWorkspace } from '../../../../session/workspace/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

const Asked = z.object({
  args: z.tuple([z.string().optional()]),
  options: z.object({ requests: z.boolean().default(false), json: z.boolean().default(false) }),
})
type Asked = z.infer<typeof Asked>

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

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  whole: z
    .boolean()
    .describe('Neither damaged nor, where that was asked, a request unlike its record.'),
  events: Count,
  bytes: Count.describe('Of whole, chained lines.'),
  last_hash: Sha256.nullable(),
  unknown: Count.describe('Events of a type or shape that this version does not know.'),
  foreign: z.boolean(),
  torn_bytes: Count.describe('Of a last write that was cut short, which is no damage.'),
  damage: ErrorObject.optional(),
  requests: z
    .object({
      checked: Count.describe('Requests composed again and compared with their record.'),
      not_comparable: Count.describe(
        'Requests that another version wrote with other sentences. Nothing is wrong with them.',
      ),
      mismatches: z.array(Mismatch),
    })
    .optional(),
})
type Verified = Omit<z.infer<typeof Output>, 'ok'>

/** Proves a Log byte for byte. Exit code 1 when it is damaged, or a request does not follow from it. */
export async function run(world: CliWorld, given: Given): Promise<number> {
  const asked = Asked.parse(given)
  return inWorkspace(world, given, (opened) => verify(world, opened, asked))
}

async function verify(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [named], options: { requests, json } }: Asked,
): Promise<Result<number>> {
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const proof = await withProgress(world, 'Reading every byte of the Log', () =>
    harness.verify(id.value, { requests }),
  )
  if (!proof.ok) return proof
  const verified = verdictOf(id.value, proof.value)
  answer(world, json, verified, () => words(verified, requests))
  return ok(verified.whole ? EXIT.done : EXIT.failed)
}

function verdictOf(session_id: SessionId, { log, requests }: Proof): Verified {
  const differs = requests !== undefined && requests.mismatches.length > 0
  const { damage, ...facts } = log
  return {
    session_id,
    whole: damage === undefined && !differs,
    ...facts,
    ...(damage === undefined
      ? {}
      : {
          damage: {
            ...damage,
            details: { ...damage.details },
            next_actions: [...damage.next_actions],
          },
        }),
    ...(requests === undefined ? {} : { requests: checkedRequests(requests) }),
  }
}

function checkedRequests({ requests: checked, not_comparable, mismatches }: RequestsVerdict) {
  return { checked, not_comparable, mismatches: [...mismatches] }
}

function words(verified: Verified, asked: boolean): string {
  const { session_id, events, bytes, last_hash, unknown, foreign, torn_bytes, damage } = verified
  const read = `${counted(events, 'Event')} in ${counted(bytes, 'byte')}`
  const lines = [
    damage === undefined
      ? `The Log of ${session_id} is whole: ${read}, each as it was written and chained to the one before.`
      : `The Log of ${session_id} is damaged. Up to there: ${read}.`,
    damage && visibleText(damage.message),
    ...(damage?.next_actions ?? []).map(({ action, command }) =>
      [action, command].join(' ').trim(),
    ),
    last_hash === null ? undefined : `Hash of the last Event: ${last_hash}`,
    foreign
      ? 'It is foreign: it did not begin here, so nothing here vouches for its end or its author.'
      : undefined,
    unknown === 0
      ? undefined
      : `${counted(unknown, 'Event')} of a type or shape that this version does not know, kept and skipped.`,
    torn_bytes === 0
      ? undefined
      : `A last write was cut short: ${counted(torn_bytes, 'byte')}. That is no damage: the next writer cuts them off and keeps them.`,
    ...requestWords(verified, asked),
  ]
  return lines.flatMap((line) => (line === undefined ? [] : [`${line}\n`])).join('')
}

function requestWords({ requests }: Verified, asked: boolean): string[] {
  if (requests === undefined) {
    return asked ? ['The requests were not composed again, because the Log is damaged.'] : []
  }
  const { checked, not_comparable, mismatches } = requests
  const differing = new Set(mismatches.map(({ seq }) => seq)).size
  const others = not_comparable === 0 ? [] : [notComparable(not_comparable)]
  if (differing === 0) {
    return [`${counted(checked, 'request')} composed again, byte for byte as recorded.`, ...others]
  }
  return [
    ...others,
    `${grouped(differing)} of ${counted(checked, 'request')} composed again differ from the record:`,
    ...mismatches.map(
      ({ seq, what, recorded, recomposed }) =>
        `  Event ${seq}, ${what}: ${shown(recorded)} recorded, ${shown(recomposed)} composed`,
    ),
  ]
}

function notComparable(count: number): string {
  return `${counted(count, 'request')} not comparable: written by another version of Hawser, which says other sentences to a model. The Log itself is proved.`
}

function shown(value: unknown): string {
  return visibleText(JSON.stringify(value) ?? 'nothing')
}
