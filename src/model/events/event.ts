import * as z from 'zod'
import {
  CompactionTrigger,
  CompactionUndone,
  HistoryCompaction,
  TextPinned,
  TextUnpinned,
} from './compaction-events.ts'
import { NextAction } from '../error-shape.ts'
import {
  BlobKey,
  EVENT_ID,
  EventId,
  SESSION_ID,
  SessionId,
  SHA_256,
  Sha256,
  TURN_ID,
  TurnId,
} from '../ids.ts'
import { ProjectInstructions } from './instruction-events.ts'
import { LockTaken, LogRepaired, Notice } from './log-events.ts'
import { PRESSURE_TIERS, ProviderRequest, ProviderUsage, Reasoning } from './provider-events.ts'
import {
  ResourceDropped,
  ResourceIngested,
  ResourceQuarantined,
  ResourceRetired,
  ResourceView,
} from './resource-events.ts'
import { PromptSurface, SessionFork, SessionSettings, SessionStarted } from './session-events.ts'
import { Count, Flag, list, Milliseconds, openObject, type Frozen } from '../shape.ts'
import { SkillActivation, SkillContextHydration } from './skill-events.ts'
import { matchesSpilled, namesBlobs, spilledFields, type SpilledData } from './spilled.ts'
import {
  CommandWatched,
  FilesRestored,
  PlanUpdated,
  ShellCommand,
  ShellResult,
  ToolCall,
  ToolResult,
} from './tool-events.ts'
import {
  PermissionAsked,
  PermissionDecision,
  PermissionRequested,
  PermissionSettled,
} from './permission-events.ts'
import {
  AssistantMessage,
  LateContext,
  TurnEnded,
  TurnStarted,
  UserMessage,
} from './turn-events.ts'

/** Every canonical Event type and its `data`. A type added here must be handled below. */
export const EVENT_DATA = {
  session_started: SessionStarted,
  session_fork: SessionFork,
  session_settings: SessionSettings,
  prompt_surface: PromptSurface,
  turn_started: TurnStarted,
  user_message: UserMessage,
  late_context: LateContext,
  project_instructions: ProjectInstructions,
  skill_activation: SkillActivation,
  skill_context_hydration: SkillContextHydration,
  provider_request: ProviderRequest,
  assistant_message: AssistantMessage,
  reasoning: Reasoning,
  tool_call: ToolCall,
  command_watched: CommandWatched,
  tool_result: ToolResult,
  shell_command: ShellCommand,
  shell_result: ShellResult,
  plan_updated: PlanUpdated,
  permission_asked: PermissionAsked,
  permission_decision: PermissionDecision,
  resource_ingested: ResourceIngested,
  resource_view: ResourceView,
  resource_retired: ResourceRetired,
  resource_dropped: ResourceDropped,
  resource_quarantined: ResourceQuarantined,
  provider_usage: ProviderUsage,
  history_compaction: HistoryCompaction,
  compaction_undone: CompactionUndone,
  files_restored: FilesRestored,
  text_pinned: TextPinned,
  text_unpinned: TextUnpinned,
  log_repaired: LogRepaired,
  lock_taken: LockTaken,
  notice: Notice,
  turn_ended: TurnEnded,
} satisfies Record<string, z.ZodObject>

export type EventType = keyof typeof EVENT_DATA

export const EVENT_TYPES: readonly EventType[] = Object.keys(EVENT_DATA).filter(isEventType)

export type EventData<T extends EventType> = Frozen<z.infer<(typeof EVENT_DATA)[T]>>

/** `data` as stored in a line of the Log: any long field may be in a blob instead. */
export type StoredData<T extends EventType> = SpilledData<EventData<T>>

/** An Event to append to the Log. */
export type EventDraft<T extends EventType = EventType> = T extends EventType
  ? { readonly type: T; readonly data: EventData<T>; readonly turn_id?: TurnId }
  : never

const TIMESTAMP = z.regexes.datetime({ precision: 3 })
const CHECKSUM = /^[0-9a-f]{8}$/

/** One line of a Log. `batch` is its position in its write; `crc` covers the bytes before it. */
export const EventEnvelope = openObject(() => ({
  v: z.literal(1),
  seq: Count,
  id: EventId,
  session_id: SessionId,
  turn_id: TurnId.exactOptional(),
  ts: z.string().regex(TIMESTAMP),
  type: z.string(),
  // A check instead of a record schema: the object is not copied, whatever its keys are.
  data: z.custom<Record<string, unknown>>(isObject),
  batch: Count.exactOptional(),
  prev: Sha256.nullable(),
  crc: z.string().regex(CHECKSUM),
}))
export type EventEnvelope = z.infer<typeof EventEnvelope>

/** Accepts what `EventEnvelope` accepts, without a copy and several times faster: a scan runs it on every line of a Log. */
export function isEventEnvelope(value: unknown): value is EventEnvelope {
  if (!isObject(value)) return false
  const { v, seq, id, session_id, turn_id, ts, type, data, batch, prev, crc } = value
  return (
    v === 1 &&
    isCount(seq) &&
    matches(id, EVENT_ID) &&
    matches(session_id, SESSION_ID) &&
    (turn_id === undefined ? !Object.hasOwn(value, 'turn_id') : matches(turn_id, TURN_ID)) &&
    matches(ts, TIMESTAMP) &&
    typeof type === 'string' &&
    isObject(data) &&
    (batch === undefined ? !Object.hasOwn(value, 'batch') : isCount(batch)) &&
    (prev === null || matches(prev, SHA_256)) &&
    matches(crc, CHECKSUM)
  )
}

export type KnownEvent<T extends EventType = EventType> = T extends EventType
  ? Omit<EventEnvelope, 'type' | 'data'> & { readonly type: T; readonly data: StoredData<T> }
  : never

export type Event = KnownEvent

/** An Event of a newer or a defective writer: kept, shown, skipped by every fold, never an error. */
export interface UnknownEvent {
  readonly isKnown: false
  readonly event: EventEnvelope
  readonly why: 'unknown_type' | 'unknown_shape'
}

export type LoggedEvent = { readonly isKnown: true; readonly event: Event } | UnknownEvent

/** Never throws; `event` is the same object, unknown fields included. */
export function readEvent(raw: EventEnvelope): LoggedEvent {
  return judgedEvent(raw, unknownBecause(raw.type, raw.data))
}

/** The result of `readEvent` for an Event whose data is known to match the schema of its type, because its writer checked it. */
export function vouchedEvent(raw: EventEnvelope): LoggedEvent {
  return judgedEvent(raw, isEventType(raw.type) ? undefined : 'unknown_type')
}

/** Why this version does not accept this type with this data; undefined if it does. */
export function unknownBecause(
  type: string,
  data: Readonly<Record<string, unknown>>,
): UnknownEvent['why'] | undefined {
  if (!isEventType(type)) return 'unknown_type'
  return matchesSchema(data, EVENT_DATA[type]) ? undefined : 'unknown_shape'
}

/** The result of `readEvent` for an Event whose type and data were already checked with `unknownBecause`. */
export function judgedEvent(raw: EventEnvelope, why: UnknownEvent['why'] | undefined): LoggedEvent {
  if (why !== undefined) return { isKnown: false, event: raw, why }
  assertJudgedKnown(raw)
  return { isKnown: true, event: raw }
}

type Durability = 'now' | 'soon'

/**
 * For a writer that appends by type: `now` is written at once, because someone acts on it; `soon` waits a few milliseconds, so
 * that it shares the write of others. Both are acknowledged after they are on disk. A Session writes everything at once.
 */
export const DURABILITY = {
  session_started: 'now',
  session_fork: 'now',
  session_settings: 'soon',
  prompt_surface: 'soon',
  turn_started: 'soon',
  user_message: 'now',
  late_context: 'soon',
  project_instructions: 'soon',
  skill_activation: 'soon',
  skill_context_hydration: 'soon',
  provider_request: 'now',
  assistant_message: 'soon',
  reasoning: 'soon',
  tool_call: 'now',
  command_watched: 'now',
  tool_result: 'soon',
  shell_command: 'now',
  shell_result: 'now',
  plan_updated: 'soon',
  permission_asked: 'now',
  permission_decision: 'now_by_a_person',
  resource_ingested: 'soon',
  resource_view: 'soon',
  resource_retired: 'soon',
  resource_dropped: 'soon',
  resource_quarantined: 'soon',
  provider_usage: 'soon',
  history_compaction: 'now',
  compaction_undone: 'soon',
  files_restored: 'soon',
  text_pinned: 'soon',
  text_unpinned: 'soon',
  log_repaired: 'now',
  lock_taken: 'now',
  notice: 'soon',
  turn_ended: 'now',
} as const satisfies Record<EventType, Durability | 'now_by_a_person'>

export function durabilityOf(draft: EventDraft): Durability {
  const rule = DURABILITY[draft.type]
  if (rule !== 'now_by_a_person') return rule
  return 'by' in draft.data && draft.data.by === 'person' ? 'now' : 'soon'
}

/** Live notices that are never stored. */
export const EPHEMERAL_DATA = {
  text_delta: openObject(() => ({ text: z.string() })),
  reasoning_delta: openObject(() => ({ text: z.string() })),
  /** `notice`: an important message about the call that is not part of its output. */
  tool_progress: openObject(() => ({ call_id: z.string(), text: z.string(), notice: Flag })),
  /** `retry`: a failed call to the model is repeated after a wait. */
  status: openObject(() => ({
    text: z.string(),
    retry: openObject(() => ({
      attempt: Count,
      of: Count,
      delay_ms: Milliseconds,
      kind: z.string(),
    })).optional(),
  })),
  stream_restarted: openObject(() => ({ reason: z.string() })),
  context_pressure: openObject(() => ({
    tier: z.enum([...PRESSURE_TIERS, 'recovery']),
    /** Absent, like `window_tokens`, after a compaction for a model with an unknown window. */
    ratio: z.number().nonnegative().optional(),
    input_tokens: Count,
    window_tokens: Count.optional(),
    /** The figures are those of a request that was not sent yet. */
    estimated: Flag,
    trigger: CompactionTrigger.optional(),
    compaction_event_id: EventId.optional(),
    next_actions: list(NextAction),
  })),
  permission_requested: PermissionRequested,
  permission_settled: PermissionSettled,
} satisfies Record<string, z.ZodObject>

export type EphemeralType = keyof typeof EPHEMERAL_DATA

export type EphemeralData<T extends EphemeralType> = Frozen<z.infer<(typeof EPHEMERAL_DATA)[T]>>

export type EphemeralEvent<T extends EphemeralType = EphemeralType> = T extends EphemeralType
  ? {
      readonly type: T
      readonly session_id: SessionId
      readonly turn_id?: TurnId
      readonly data: EphemeralData<T>
    }
  : never

function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_DATA, type)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

/** The data has passed the schema of its type; this only narrows the type. */
function assertJudgedKnown(_raw: EventEnvelope): asserts _raw is Event {}

function matchesSchema(data: Readonly<Record<string, unknown>>, schema: z.ZodObject): boolean {
  const spilled = spilledFields(schema.shape, data)
  return spilled.length === 0
    ? schema.safeParse(data).success
    : matchesSpilled(schema.shape, data, spilled)
}

/** An Event with every long field restored: what folds read. */
export type WholeEvent<T extends EventType = EventType> = T extends EventType
  ? Omit<EventEnvelope, 'type' | 'data'> & { readonly type: T; readonly data: EventData<T> }
  : never

const NO_BLOBS: ReadonlyMap<string, BlobKey> = new Map()

/** The keys of the blobs that hold long fields of this Event. */
export function spilledBlobs(event: Event): ReadonlyMap<string, BlobKey> {
  const data: Readonly<Record<string, unknown>> = event.data
  if (!namesBlobs(data)) return NO_BLOBS
  const fields = spilledFields(EVENT_DATA[event.type].shape, data)
  return new Map(fields.map((field) => [field, BlobKey.parse(data[`${field}_blob`])]))
}

/** Replaces blobs by their values; undefined if the result does not match the Event's type. */
export function withoutSpilling(
  event: Event,
  values: Readonly<Record<string, unknown>>,
): WholeEvent | undefined {
  const raw: Readonly<Record<string, unknown>> = event.data
  const spilt = spilledBlobs(event)
  const kept = Object.entries(raw).filter(([key]) => !spilt.has(key.replace(/_blob$/, '')))
  const whole = { ...event, data: { ...Object.fromEntries(kept), ...values } }
  return isWhole(whole) ? whole : undefined
}

function isWhole(event: { readonly type: EventType; readonly data: unknown }): event is WholeEvent {
  return EVENT_DATA[event.type].safeParse(event.data).success
}
