import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { Proof } from '../../../session/queries/verify.ts'
import type { OtherWords, RequestsVerdict } from '../../../session/queries/verify-requests.ts'
import { visibleText } from '../text/visible-text.ts'
import { errorOutput } from '../world/failure.ts'

type Verdict = ReturnType<typeof verdictOf>

/** What was verified, for programs. Pure. */
export function verdictOf(session_id: SessionId, { log, requests, checkpoints }: Proof) {
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

function checkedRequests(verdict: RequestsVerdict) {
  const { requests: checked, not_comparable, other_words, mismatches } = verdict
  return {
    checked,
    not_comparable,
    outcome: outcomeOf(verdict),
    ...definedFields({ other_words: other_words?.map((one) => ({ ...one })) }),
    mismatches: [...mismatches],
  }
}

function outcomeOf({
  not_comparable,
  mismatches,
}: RequestsVerdict): 'identical' | 'not_comparable' | 'different' {
  if (mismatches.length > 0) return 'different'
  return not_comparable > 0 ? 'not_comparable' : 'identical'
}

/** The same in sentences, for people. Pure. */
export function verdictLines(verified: Verdict, withRequests: boolean): string[] {
  const { session_id, events, bytes, last_hash, unknown, foreign, torn_bytes, damage } = verified
  const read = `${countOf(events, 'Event')} in ${countOf(bytes, 'byte')}`
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
      : `${countOf(unknown, 'Event')} of a type or shape unknown to this version, kept and skipped.`,
    torn_bytes === 0
      ? undefined
      : `The last write is incomplete: ${countOf(torn_bytes, 'byte')}. This is not damage: the next writer moves them to a separate file.`,
    ...checkpointWords(verified),
    ...requestWords(verified, withRequests),
  ]
  return lines.flatMap((line) => (line === undefined ? [] : [line]))
}

function checkpointWords({ compactions, checkpoints = [] }: Verdict): string[] {
  if (compactions === 0) return []
  if (checkpoints.length === 0)
    return [
      `${countOf(compactions, 'compaction')} checked: state and position match the Events before.`,
    ]
  return [
    `${groupDigits(checkpoints.length)} of ${countOf(compactions, 'compaction')} differ from what the Events before them give:`,
    ...checkpoints.map(
      ({ seq, recorded }) => `  Event ${seq}: ${Object.keys(recorded).join(', ')}`,
    ),
  ]
}

function requestWords({ requests, damage }: Verdict, withRequests: boolean): string[] {
  if (requests === undefined) return withRequests ? [NOT_CHECKED] : []
  const { checked, other_words = [], mismatches } = requests
  const differing = new Set(mismatches.map(({ seq }) => seq)).size
  const others = other_words.map(notComparable)
  if (differing === 0) {
    const where = damage === undefined ? '' : ' before the damage'
    const same = `${countOf(checked, 'request')}${where} rebuilt, identical to the record.`
    return checked === 0 && others.length > 0 ? others : [same, ...others]
  }
  return [
    ...others,
    `${groupDigits(differing)} of ${countOf(checked, 'rebuilt request')} differ from the record:`,
    ...mismatches.map(
      ({ seq, what, recorded, recomposed }) =>
        `  Event ${seq}, ${what}: recorded ${valueText(recorded)}, rebuilt ${valueText(recomposed)}`,
    ),
  ]
}

const NOT_CHECKED =
  'Requests were not checked: the Log is damaged, and what the requests before the damage are built from cannot be read.'

function notComparable({ contract_version, words_sha256, requests }: OtherWords): string {
  const hash = words_sha256 === undefined ? 'no hash recorded' : words_sha256.slice(0, 12)
  const version = visibleText(`${contract_version} (${hash})`)
  return `${countOf(requests, 'request')} not comparable: words of version ${version}, not those of this Hawser. The Log itself is verified.`
}

function valueText(value: unknown): string {
  return visibleText(JSON.stringify(value) ?? 'nothing')
}
