import { sha256 } from '../encoding/hash.ts'
import { isJsonObject } from '../encoding/json.ts'
import type { EventEnvelope, EventType } from '../model/events/event.ts'
import { ResourceId, type SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { uploadedResource, uploadSubject } from '../model/permission-subject.ts'

/** How Sessions that were forked from another read its lines: with ids of Resources of their own. All else is as written. */
export class Inheritance {
  readonly #heirs: readonly SessionId[]

  /** `heirs`: the Sessions that inherit, from the child of the Session that wrote the lines to the reader. */
  constructor(heirs: readonly SessionId[]) {
    this.#heirs = heirs
  }

  event(event: EventEnvelope): EventEnvelope {
    if (fieldsOf(event.type).length === 0) return event
    return { ...event, data: this.fields(event.type, event.data) }
  }

  /** Fields of an Event of a type; also those that are stored outside of its line. */
  fields(type: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const known = fieldsOf(type)
    const own: Record<string, unknown> = { ...values }
    for (const field of known) {
      if (field in own) own[field] = withOwnIds(own[field], this.#heirs, field)
    }
    return own
  }
}

/** The id of an inherited Resource in `child`: it sorts like that in the parent, and no other Session has it. */
export function inheritedId(child: SessionId, id: ResourceId): ResourceId {
  let rest = BigInt(`0x${sha256(`${child}\n${id}`).slice(0, 20)}`)
  let letters = ''
  for (let i = 0; i < 16; i++) {
    letters = LETTERS.charAt(Number(rest % 32n)) + letters
    rest /= 32n
  }
  return ResourceId.parse(id.slice(0, TIME_END) + letters)
}

/** Crockford's base 32, in lower case. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
/** `res_` and ten letters of time. */
const TIME_END = 14

/** The fields of each type that contain ids of Resources. */
const FIELDS: Readonly<Record<EventType, readonly string[]>> = {
  session_started: [],
  // Its pairs are evidence of what was derived.
  session_fork: [],
  session_settings: [],
  prompt_surface: [],
  turn_started: [],
  user_message: ['resources'],
  late_context: [],
  project_instructions: [],
  skill_activation: [],
  skill_context_hydration: ['resource_id'],
  provider_request: ['projected'],
  assistant_message: ['resources'],
  reasoning: [],
  tool_call: [],
  command_watched: [],
  workspace_snapshot: [],
  tool_result: ['resources'],
  shell_command: [],
  shell_result: [],
  plan_updated: [],
  permission_asked: ['subject'],
  permission_decision: ['subject'],
  resource_ingested: ['descriptor'],
  resource_view: ['resource_id', 'descriptor'],
  resource_retired: ['resource_id'],
  resource_dropped: ['resource_id'],
  resource_quarantined: ['resource_id'],
  provider_usage: [],
  history_compaction: ['carried', 'state'],
  compaction_undone: [],
  files_restored: [],
  text_pinned: [],
  text_unpinned: [],
  log_repaired: [],
  lock_taken: [],
  notice: [],
  turn_ended: [],
}
const BY_TYPE: Readonly<Record<string, readonly string[]>> = FIELDS

function fieldsOf(type: string): readonly string[] {
  return Object.hasOwn(BY_TYPE, type) ? (BY_TYPE[type] ?? []) : []
}

/** Nothing is deeper in an Event, but a blob may contain anything. */
function withOwnIds(
  value: unknown,
  heirs: readonly SessionId[],
  field: string,
  depth: number = LIMITS.event_depth,
): unknown {
  if (depth === 0) return value
  if (Array.isArray(value)) return value.map((one) => withOwnIds(one, heirs, '', depth - 1))
  if (typeof value === 'string') return withOwnId(value, heirs, field)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    withOwnIds(one, heirs, key, depth - 1),
  ])
  return Object.fromEntries(entries)
}

function withOwnId(text: string, heirs: readonly SessionId[], field: string): string {
  if (field === 'subject') {
    const uploaded = uploadedResource(text)
    return uploaded === undefined ? text : uploadSubject(inAll(uploaded, heirs))
  }
  const id = field === 'resource_id' ? ResourceId.safeParse(text).data : undefined
  return id === undefined ? text : inAll(id, heirs)
}

function inAll(id: ResourceId, heirs: readonly SessionId[]): ResourceId {
  return heirs.reduce((last, heir) => inheritedId(heir, last), id)
}
