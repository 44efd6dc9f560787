import { undoOutcome } from '../file-changes.ts'
import { countOf, fileSize, groupDigits } from '../../encoding/amounts.ts'
import { quote } from '../../encoding/quote.ts'
import { lossReason } from '../../prompt/words/resources.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import type { EventData } from '../../model/events/event.ts'
import { LOSSES } from '../../model/events/loss.ts'
import type { ViewOutcome } from '../../model/events/resource-events.ts'
import type { AnswerCut, MentionedPath } from '../../model/events/turn-events.ts'
import type { ResourceId } from '../../model/ids.ts'
import type { ResourceOf } from '../session-resources.ts'

// What people read about Events, in the same words in every face. Nothing here is escaped for a terminal. Pure.

/** A hydration in one line, without its text: what was fetched, how and with what limitations, or why it was not. */
export function hydrationWords(data: EventData<'skill_context_hydration'>): string {
  const { context_source_id, skill, status, error, produced_by, invoked_by } = data
  const { limitations = [] } = data
  const what = `Context ${context_source_id} of Skill ${skill.name}`
  const how = `${producerWords(produced_by)}, ${INVOKED_BY[invoked_by]}`
  const size = status === 'ok' ? `, ${sizeWords(data)}` : ''
  const why = error === undefined ? '' : `: ${error.message}`
  const limits = limitations.map((one) => ` ${one}`).join('')
  const end = limits === '' || why !== '' ? '' : '.'
  return `${what}: ${status}${size} (${how})${why}${end}${limits}`
}

const INVOKED_BY = {
  person: 'requested by you',
  model: 'requested by the model',
  presenter: 'requested with the message',
  auto: 'automatic',
} as const

function sizeWords(data: EventData<'skill_context_hydration'>): string {
  const { output_bytes, truncated, whole_bytes, handle, invalid_bytes_replaced = 0 } = data
  const whole = whole_bytes === undefined ? '' : ` from ${fileSize(whole_bytes)}`
  return [
    fileSize(output_bytes),
    ...(truncated === true ? [`truncated${whole}`] : []),
    ...(handle === undefined ? [] : [handle]),
    ...(invalid_bytes_replaced === 0
      ? []
      : [`${countOf(invalid_bytes_replaced, 'invalid byte')} replaced`]),
  ].join(', ')
}

/** A command by its argument vector. */
function producerWords({ kind, name, args }: EventData<'skill_context_hydration'>['produced_by']) {
  return kind === 'command' && isVector(args)
    ? argumentWords([name, ...args])
    : `${KINDS[kind]} ${name}`
}

const KINDS = {
  tool: 'tool',
  command: 'command',
  file: 'file',
  resource_view: 'Resource',
  presenter: 'fact',
} as const

function isVector(args: unknown): args is readonly string[] {
  return Array.isArray(args) && args.every((one) => typeof one === 'string')
}

/** An argument vector, each argument in quotes, so that its ends are visible. */
export function argumentWords(argv: readonly string[]): string {
  return argv.map(quote).join(' ')
}

/** What a view of a Resource showed, or why it showed nothing. */
export function viewWords(data: EventData<'resource_view'>): string {
  const { handle, outcome, pages, lines, region } = data
  const part = [
    ...(pages === undefined ? [] : [`pages ${pages.from} to ${pages.to}`]),
    ...(lines === undefined ? [] : [`lines ${lines.from} to ${lines.to}`]),
    ...(region === undefined ? [] : [`a region of ${region.width}×${region.height}`]),
  ]
  return `${[handle, ...part].join(', ')} ${VIEWS[outcome]}.`
}

const VIEWS = {
  projected: 'is sent to the model for this Turn',
  missing: 'cannot be sent: its stored bytes are missing',
  damaged: 'cannot be sent: its stored bytes are damaged',
  denied: 'is not sent: permission denied',
  quarantined: 'is not sent: the provider rejected it',
  over_budget: 'is not sent: it does not fit next to the other files in the request',
  visible: 'is in the request already',
} as const satisfies Record<ViewOutcome, string>

/** Why the bytes of a Resource are no longer sent. An unknown reason, written by a newer Hawser, is shown unchanged. */
export function retiredWords(data: EventData<'resource_retired'>, resourceOf: ResourceOf): string {
  const { why, estimate, resource_id } = data
  const name = resourceLabel(resource_id, resourceOf)
  const loss = LOSSES.find((one) => one === why)
  if (loss !== undefined)
    return `${name} is not sent: ${lossReason({ why: loss, figures: estimate })}.`
  return `${name} is no longer sent: ${RETIRED.get(why) ?? why}.`
}

const RETIRED: ReadonlyMap<string, string> = new Map([
  ['cost', 'sending it again would cost more than it saves'],
  ['model_limit', 'the limit of the model is reached'],
])

/** What became of each file, such as `Files restored: a.txt. Not restored: b.txt (changed since).` */
export function restoredWords({ files }: EventData<'files_restored'>): string {
  const named = (outcome: ReturnType<typeof undoOutcome>, note = '') =>
    files.filter((file) => undoOutcome(file) === outcome).map(({ path }) => `${path}${note}`)
  const left = [...named('changed_since', ' (changed since)'), ...named('failed', ' (failed)')]
  const lists = [
    ['Files restored', named('restored')],
    ['Files removed', named('removed')],
    ['Files not restored', left],
  ] as const
  return lists
    .flatMap(([label, paths]) => (paths.length === 0 ? [] : [`${label}: ${paths.join(', ')}.`]))
    .join(' ')
}

export function droppedWords(
  { resource_id }: EventData<'resource_dropped'>,
  resourceOf: ResourceOf,
): string {
  return `${resourceLabel(resource_id, resourceOf)} was dropped: its bytes are not sent again.`
}

/** Such as `@img1 harbour.png`. */
export function resourceLabel(id: ResourceId, resourceOf: ResourceOf): string {
  const resource = resourceOf(id)
  return resource === undefined ? id : `${resource.handle} ${resourceTitle(resource)}`
}

/** The name for people; for a link, its URL if it has one. */
export function resourceTitle(resource: Descriptor): string {
  return (resource.kind === 'link' ? resource.uri : undefined) ?? resource.name
}

/** Such as `src/index.ts was included in part: only the first 200 lines of 900.` */
export function partlyIncluded(mention: MentionedPath): string {
  return `${mention.path} was included in part: ${includedPart(mention)}.`
}

/** Of a mention that is not included completely. */
export function includedPart({ kind, to_line = 0, lines, size_bytes = 0 }: MentionedPath): string {
  if (kind === 'folder')
    return `only the first ${countOf(to_line, 'name')} of ${groupDigits(lines ?? 0)}`
  const whole = lines === undefined ? fileSize(size_bytes) : groupDigits(lines)
  return `only the first ${countOf(to_line, 'line')} of ${whole}`
}

/** What a recorded compaction did. */
export function compactionWords(data: EventData<'history_compaction'>): string {
  const { range, elided, tokens_before, tokens_after } = data
  const before = elided === undefined ? '' : ` before Event ${elided.before_seq}`
  const what =
    range === undefined
      ? `pointers replace long tool outputs${before}`
      : `a summary replaces Events ${range.from_seq} to ${range.to_seq}`
  return `${what}; about ${groupDigits(tokens_before)} tokens became ${groupDigits(tokens_after)}`
}

/** Why a Session was compacted. */
export const TRIGGERS = {
  manual: 'by hand',
  critical_pressure_preflight: 'before a request, because the window was nearly full',
  websocket_critical_recovery: 'after a lost connection, because the window was nearly full',
  overflow_recovery: 'because a request exceeded the window',
  policy_auto: 'by policy',
} as const satisfies Record<EventData<'history_compaction'>['trigger'], string>

/** A sentence about a recorded compaction, with its reason unless a person asked for it. */
export function compactionSentence(data: EventData<'history_compaction'>): string {
  const why = data.trigger === 'manual' ? '' : ` ${TRIGGERS[data.trigger]}`
  return `Compacted${why}: ${compactionWords(data)}.`
}

export function repairedWords({ cut_bytes, kept_as }: EventData<'log_repaired'>): string {
  return `Recovered from a crash: ${countOf(cut_bytes, 'byte')} of an incomplete write moved to ${kept_as}.`
}

/** Why the last answer of a Turn is incomplete. */
export function cutWords({ reason, stop_reason, lost_calls }: AnswerCut): string {
  const what = {
    output_limit: `The answer is incomplete: the model reached its output limit (${stop_reason}).`,
    lost_call: `The answer is incomplete (${stop_reason}).`,
    unknown_reason: `The answer may be incomplete: the provider ended it with an unknown reason (${stop_reason}).`,
  }[reason]
  if (lost_calls === 0) return what
  const calls = lost_calls === 1 ? '1 tool call was' : `${countOf(lost_calls, 'tool call')} were`
  return `${what} ${calls} cut off and did not run.`
}
