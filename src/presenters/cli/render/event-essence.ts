import type { EventData, WholeEvent } from '../../../model/events/event.ts'
import { uploadedResource } from '../../../model/permission-subject.ts'
import { ruleSubject } from '../../../model/rule.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import { compactionWords, TRIGGERS } from '../../../history/results/notice-words.ts'
import { windowShare } from './pressure-words.ts'
import { cutWords } from '../../../history/results/notice-words.ts'
import { exitStatus } from '../../../history/exit-status.ts'
import { reasoningText } from '../../../history/reasoning-text.ts'
import { undoOutcome } from '../../../history/file-changes.ts'
import { loadedWords } from '../text/instruction-lines.ts'
import { commandFacts, commandLines } from '../text/command-words.ts'
import { mentionLines } from '../text/mention-words.ts'
import { activationWords, hydrationLine } from '../text/skill-lines.ts'
import type { ResourceOf } from '../../../history/session-resources.ts'
import { pipedWords, resourceNews, resourceWords } from '../text/resource-words.ts'

/** The essence of an Event: one line, and for some types a text below it. Not yet escaped. */
export interface Essence {
  readonly head: string
  readonly body?: string
}

/** Describes an Event for people who read a Log. `resourceOf` finds earlier Resources by id. Pure. */
export function essenceOf(event: WholeEvent, resourceOf: ResourceOf = () => undefined): Essence {
  switch (event.type) {
    case 'session_started': {
      const { provider, model, mode, permission_mode, presenter, harness_version } = event.data
      return {
        head: `${provider}, ${model}; ${mode}, ${permission_mode}; by ${presenter} ${harness_version}`,
      }
    }
    case 'session_fork':
      return { head: `from ${event.data.parent_session_id} after Event ${event.data.at_seq}` }
    case 'session_settings':
      return { head: settings(event.data) }
    case 'prompt_surface': {
      const { contract_version, toolset_sha256, reason } = event.data
      return { head: `contract ${contract_version}, tools ${brief(toolset_sha256)}, ${reason}` }
    }
    case 'turn_started': {
      const { presenter, channel, user } = event.data.source
      return { head: joinParts([`by ${presenter}`, channel, user?.name ?? user?.id]) }
    }
    case 'user_message':
      return userMessage(event.data)
    case 'late_context': {
      const { workspace, branch, mode, permission_mode, date, instructions } = event.data
      const files =
        instructions === undefined ? [] : [countOf(instructions.length, 'instruction file')]
      return { head: joinParts([workspace, branch, mode, permission_mode, date, ...files]) }
    }
    case 'project_instructions':
      return { head: loadedWords(event.data) }
    case 'skill_activation':
      return { head: activationWords(event.data) }
    case 'skill_context_hydration':
      return { head: hydrationLine(event.data), body: event.data.output }
    case 'provider_request':
      return { head: request(event.data, resourceOf) }
    case 'assistant_message': {
      const { text, partial, resources = [] } = event.data
      const head = joinParts([
        ...(partial === true ? ['incomplete'] : []),
        ...resources.map(resourceWords),
      ])
      return { head, body: text }
    }
    case 'reasoning': {
      const { item, model } = event.data
      const text = reasoningText(item)
      if (text !== '') return { head: `thinking of ${model}`, body: text }
      const size = Buffer.byteLength(JSON.stringify(item))
      return { head: `${countOf(size, 'byte')} of ciphertext that only ${model} can read` }
    }
    case 'tool_call':
      return { head: `${event.data.name} ${event.data.arguments}` }
    case 'command_watched':
      return {
        head: `${event.data.call_id}: ${countOf(event.data.paths.length, 'protected path')}`,
      }
    case 'tool_result':
      return toolResult(event.data)
    case 'shell_command': {
      const { command, folder } = event.data
      return {
        head: folder === undefined ? 'by the person' : `by the person in ${folder}`,
        body: command,
      }
    }
    case 'shell_result':
      return { head: joinParts(commandFacts(event.data)), body: event.data.output }
    case 'plan_updated':
      return {
        head: countOf(event.data.entries.length, 'step'),
        body: event.data.entries.map(({ content, status }) => `${status}: ${content}`).join('\n'),
      }
    case 'permission_asked':
      return { head: `${subjectOf(event.data, resourceOf)} in mode ${event.data.mode}` }
    case 'permission_decision': {
      const { decision, scope, by, mode, rule, reason } = event.data
      const subject = subjectOf(event.data, resourceOf)
      return {
        head: joinParts([
          `${subject} ${decision} ${SCOPES[scope]}${DECIDED_BY[by]}`,
          `in mode ${mode}`,
          rule && `rule: ${rule.answer} ${ruleSubject(rule)}`,
          reason && `reason: ${reason}`,
        ]),
      }
    }
    case 'resource_view':
      return { head: view(event, resourceOf) }
    case 'resource_ingested':
    case 'resource_retired':
    case 'resource_dropped':
    case 'resource_quarantined':
      return { head: resourceNews(event, resourceOf) }
    case 'provider_usage':
      return { head: usage(event.data) }
    case 'history_compaction': {
      const { trigger, summary } = event.data
      const body = definedFields({ body: summary })
      return { head: `${TRIGGERS[trigger]}: ${compactionWords(event.data)}`, ...body }
    }
    case 'compaction_undone':
      return { head: `${event.data.compaction_event_id}, ${undoReason(event.data)}` }
    case 'files_restored':
      return {
        head: restoredHead(event.data),
        body: event.data.files.map((file) => `${undoOutcome(file)}: ${file.path}`).join('\n'),
      }
    case 'text_pinned':
    case 'text_unpinned':
      return { head: `by ${event.data.by}`, body: event.data.text }
    case 'log_repaired':
      return {
        head: `${countOf(event.data.cut_bytes, 'byte')} cut off, kept as ${event.data.kept_as}`,
      }
    case 'lock_taken': {
      const { program = 'a writer', pid } = event.data.previous_holder
      return {
        head: `from ${program}${pid === undefined ? '' : ` (pid ${pid})`}, which was killed`,
      }
    }
    case 'notice':
      return { head: `${event.data.code}: ${event.data.text}` }
    case 'turn_ended':
      return { head: turnEnded(event.data) }
    default:
      return event satisfies never
  }
}

/** Why a compaction was undone. */
export function undoReason({ reason }: EventData<'compaction_undone'>): string {
  return reason === 'manual' ? 'by hand' : reason
}

const SCOPES = {
  once: 'once',
  session: 'for the Session',
  workspace: 'for the workspace',
} as const

const DECIDED_BY = {
  policy: ' by policy',
  person: ' by the person',
  nobody: ': no terminal to ask',
  timeout: ': no answer in time',
  interrupt: ': the Turn ended before an answer',
} as const

function settings(data: EventData<'session_settings'>): string {
  const { model, provider, effort, mode, permission_mode, title } = data
  const changed = Object.entries({ model, provider, effort, mode, permission_mode, title })
  return changed
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${value}`]))
    .join(', ')
}

function userMessage(data: EventData<'user_message'>): Essence {
  const { text, piped, resources = [], attachment_errors = [], steer } = data
  const head = joinParts([
    ...(steer === true ? ['to the running Turn'] : []),
    ...resources.map(resourceWords),
    ...attachment_errors.map(({ name, reason }) => `${name} was rejected: ${reason}`),
    ...mentionLines(data),
    ...commandLines(data),
  ])
  return { head, body: piped === undefined ? text : `${text}\n[${pipedWords(piped)}]\n${piped}` }
}

/** Who requested it, and why if recorded. */
function view(event: WholeEvent<'resource_view'>, resourceOf: ResourceOf): string {
  const { by, reason } = event.data
  return `${joinParts([`by ${by}`, reason])}: ${resourceNews(event, resourceOf)}`
}

/** The subject of a decision; an upload is named by its handle. */
export function subjectOf(
  { subject }: Pick<EventData<'permission_decision'>, 'subject'>,
  resourceOf: ResourceOf,
): string {
  const id = uploadedResource(subject)
  const resource = id && resourceOf(id)
  return resource === undefined ? subject : `sending ${resource.handle} to the model`
}

function request(data: EventData<'provider_request'>, resourceOf: ResourceOf): string {
  const { call_index, attempt, dialect, model, request_bytes, shared_prefix_bytes } = data
  const { prefix_break, projected = [] } = data
  return joinParts([
    `call ${call_index + 1}${attempt === 0 ? '' : `, attempt ${attempt + 1}`} to ${model} (${dialect})`,
    `${countOf(request_bytes, 'byte')}, ${groupDigits(shared_prefix_bytes)} shared with the previous one`,
    prefix_break && `prefix breaks at ${groupDigits(prefix_break.at)}: ${prefix_break.cause}`,
    projected.length === 0
      ? undefined
      : `with the bytes of ${projected.map(({ resource_id, variant }) => `${resourceOf(resource_id)?.handle ?? resource_id}${variant === undefined ? '' : ' (a variant)'}`).join(', ')}`,
  ])
}

function toolResult(data: EventData<'tool_result'>): Essence {
  const { name, error, output, diff = '', truncated, duration_ms, path, resources = [] } = data
  const { outcome, failure } = exitStatus(data)
  const head = joinParts([
    `${name} ${outcome}`,
    failure,
    error?.kind,
    path,
    `${groupDigits(Math.round(duration_ms))} ms`,
    truncated === true ? 'truncated' : undefined,
    ...resources.map(resourceWords),
  ])
  return { head, body: output + diff }
}

function restoredHead({ undone_turn_id, rewound_from, by }: EventData<'files_restored'>): string {
  if (rewound_from === undefined) return `of ${undone_turn_id} by ${by}`
  return `to before ${undone_turn_id} of ${rewound_from} by ${by}`
}

function usage({
  usage: used,
  cost_usd,
  latency_ms,
  pressure,
  stop_reason,
}: EventData<'provider_usage'>) {
  return joinParts([
    `${groupDigits(used.input)} tokens in (${groupDigits(used.cached_read)} cached)`,
    `${groupDigits(used.output)} out`,
    used.reasoning === 0 ? undefined : `${groupDigits(used.reasoning)} reasoning`,
    cost_usd === undefined ? undefined : `$${cost_usd.toFixed(4)}`,
    `${groupDigits(Math.round(latency_ms))} ms`,
    stop_reason,
    pressure === 'unavailable' ? undefined : windowShare(pressure),
  ])
}

function turnEnded({
  status,
  error,
  crash_recovered,
  usage_total,
  cut,
}: EventData<'turn_ended'>): string {
  return joinParts([
    status,
    crash_recovered === true ? 'after a crash' : undefined,
    error && `${error.kind}: ${error.message}`,
    countOf(usage_total.calls, 'call'),
    usage_total.unknown_calls === undefined
      ? undefined
      : `${countOf(usage_total.unknown_calls, 'call')} of unknown outcome`,
    cut && cutWords(cut),
  ])
}

function joinParts(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(', ')
}

/** Enough of a hash to identify it. */
function brief(hash: string): string {
  return hash.slice(0, 12)
}
