import { depthWithin, isJsonObject, parseJson } from '../../encoding/json.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import type { EventData, EventType, WholeEvent } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'

/** A text of an Event, and its path in the Event's data, such as `output` or `arguments.command`. */
export interface EventText {
  readonly field: string
  readonly text: string
}

/** A text that an Event names and a blob contains. */
export interface StoredText {
  readonly field: string
  readonly blob: BlobKey
  /** The charset if it is not UTF-8. */
  readonly charset?: string | undefined
  /** The Resource whose content it is; absent for the output of a tool and for a mention. */
  readonly resource?: Descriptor
}

/** Whether Events of a type have texts to search. All are listed, so that a new type requires a decision. */
const HAS_TEXTS: Readonly<Record<EventType, boolean>> = {
  user_message: true,
  assistant_message: true,
  tool_call: true,
  tool_result: true,
  resource_ingested: true,
  skill_context_hydration: true,
  history_compaction: true,
  text_pinned: true,
  shell_command: true,
  shell_result: true,
  // The call that made the plan contains its text.
  plan_updated: false,
  session_started: false,
  session_fork: false,
  session_settings: false,
  prompt_surface: false,
  turn_started: false,
  late_context: false,
  project_instructions: false,
  skill_activation: false,
  provider_request: false,
  reasoning: false,
  command_watched: false,
  workspace_snapshot: false,
  permission_asked: false,
  permission_decision: false,
  resource_view: false,
  resource_retired: false,
  resource_dropped: false,
  resource_quarantined: false,
  provider_usage: false,
  compaction_undone: false,
  files_restored: false,
  // The Event that pinned the text contains it.
  text_unpinned: false,
  log_repaired: false,
  lock_taken: false,
  notice: false,
  turn_ended: false,
}

/** The types of Events that have texts to search. */
export const SEARCHED_TYPES: ReadonlySet<string> = new Set(
  Object.entries(HAS_TEXTS).flatMap(([type, has]) => (has ? [type] : [])),
)

/** The texts of an Event that people or models wrote, or tools returned. */
export function textsOf(event: WholeEvent): readonly EventText[] {
  const { type } = event
  if (type === 'user_message') return messageTexts(event.data)
  if (type === 'tool_call') return argumentTexts(event.data.arguments)
  if (type === 'tool_result') return resultTexts(event.data)
  if (type === 'resource_ingested') return [resourceName('descriptor', event.data.descriptor)]
  if (type === 'shell_command') return [{ field: 'command', text: event.data.command }]
  if (type === 'skill_context_hydration' || type === 'shell_result')
    return [{ field: 'output', text: event.data.output }]
  if (type === 'history_compaction') return [{ field: 'summary', text: event.data.summary ?? '' }]
  const isMessage = type === 'assistant_message' || type === 'text_pinned'
  return isMessage ? [{ field: 'text', text: event.data.text }] : []
}

/** The whole output of a truncated result, and the content of text attachments and mentions. */
export function storedTextsOf(event: WholeEvent): readonly StoredText[] {
  const isOutput = event.type === 'tool_result' || event.type === 'shell_result'
  if (isOutput && event.data.whole_blob !== undefined) {
    return [{ field: 'whole', blob: event.data.whole_blob }]
  }
  if (event.type === 'resource_ingested') return contentOf('descriptor', event.data.descriptor)
  if (event.type !== 'user_message') return []
  const { resources = [], mentions = [] } = event.data
  return [
    ...resources.flatMap((one, at) => contentOf(`resources.${at}`, one)),
    ...mentions.map(({ blob }, at) => ({ field: `mentions.${at}.content`, blob })),
  ]
}

/** The name of the tool that a call or its result belongs to. */
export function toolOf(event: WholeEvent): string | undefined {
  return event.type === 'tool_call' || event.type === 'tool_result' ? event.data.name : undefined
}

function contentOf(path: string, resource: Descriptor): StoredText[] {
  if (resource.kind !== 'text') return []
  const { blob, charset } = resource
  return [{ field: `${path}.content`, blob, charset, resource }]
}

/** The result of a tool, and its change to a file. */
function resultTexts({ output, diff }: EventData<'tool_result'>): EventText[] {
  return [
    { field: 'output', text: output },
    ...(diff === undefined ? [] : [{ field: 'diff', text: diff }]),
  ]
}

/** A person's message, and the names of its attachments. */
function messageTexts(data: EventData<'user_message'>): EventText[] {
  const { text, piped, resources = [], attachment_errors = [], mentions = [] } = data
  return [
    { field: 'text', text },
    ...(piped === undefined ? [] : [{ field: 'piped', text: piped }]),
    ...resources.map((one, at) => resourceName(`resources.${at}`, one)),
    ...attachment_errors.map(({ name }, at) => ({
      field: `attachment_errors.${at}.name`,
      text: name,
    })),
    ...mentions.map(({ path }, at) => ({ field: `mentions.${at}.path`, text: path })),
  ]
}

function resourceName(path: string, resource: Descriptor): EventText {
  return resource.kind === 'link' && resource.uri !== undefined
    ? { field: `${path}.uri`, text: resource.uri }
    : { field: `${path}.name`, text: resource.name }
}

/** Arguments are searched decoded, without JSON escapes; invalid JSON is searched as text. */
function argumentTexts(text: string): readonly EventText[] {
  const value = parseJson(text)
  if (!isJsonObject(value) || !depthWithin(value, LIMITS.event_depth)) {
    return [{ field: 'arguments', text }]
  }
  return leavesOf('arguments', value)
}

function leavesOf(field: string, value: unknown): readonly EventText[] {
  if (typeof value === 'string') return [{ field, text: value }]
  if (typeof value !== 'object' || value === null) return [{ field, text: JSON.stringify(value) }]
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) =>
    leavesOf(`${field}.${key}`, child),
  )
}
