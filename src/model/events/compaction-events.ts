import * as z from 'zod'
import { ATTACHMENT_CODES } from '../attachment.ts'
import { Descriptor, Handle } from '../descriptor.ts'
import { BlobKey, EventId, ResourceId, Sha256, TurnId } from '../ids.ts'
import { PromptSurface } from './session-events.ts'
import { AppendedInstructions } from './instruction-events.ts'
import { Count, Flag, list, openObject } from '../shape.ts'
import { HydrationStatus, SkillIdentity } from './skill-events.ts'
import { PersonCommand, CommandWatched, ToolOutcome } from './tool-events.ts'
import { LateContext } from './turn-events.ts'

export const CompactionTrigger = z.enum([
  'manual',
  'critical_pressure_preflight',
  'websocket_critical_recovery',
  'overflow_recovery',
  'policy_auto',
])

/** Why the bytes of a Resource were not shown, or are never shown again. */
const ResourceFate = z.enum(['dropped', 'quarantined', 'denied', 'withheld'])

const CarriedResource = openObject(() => ({
  resource_id: ResourceId,
  handle: Handle,
  name: z.string(),
  fate: ResourceFate.optional(),
  /** Of a link: its target, or why a local one was not copied. */
  uri: z.string().optional(),
  not_copied: z.enum(ATTACHMENT_CODES).optional(),
}))

/** What the line about a hydration says. */
const CarriedHydration = openObject(() => ({
  event_id: EventId,
  context_source_id: z.string(),
  skill: SkillIdentity.optional(),
  status: HydrationStatus.optional(),
  output_bytes: Count.optional(),
  output_sha256: Sha256.optional(),
  truncated: Flag,
}))

/** How many there were, if a list has only the newest of them. */
const CarriedCounts = openObject(() => ({
  file_changes: Count,
  tool_outcomes: Count,
  resources: Count,
  hydrations: Count,
  open_tasks: Count,
}))

/** The facts of the range that the checkpoint carries verbatim, not in a model's words. */
const CarriedFacts = openObject(() => ({
  files_touched: z.array(z.string()),
  decisions: z.array(z.string()),
  open_tasks: z.array(z.string()),
  tool_outcomes: z.array(
    openObject(() => ({ call_id: z.string(), name: z.string(), outcome: ToolOutcome })),
  ),
  resources: z.array(CarriedResource),
  skills: z.array(SkillIdentity),
  hydrations: z.array(CarriedHydration),
  pinned: z.array(z.string()),
  counts: CarriedCounts.optional(),
}))

/** A Resource that was added before the tail. A later view looks it up in the Log; this is for lists and texts. */
const EarlierResource = openObject(() => ({
  descriptor: Descriptor,
  /** The Event that added it. */
  seq: Count,
  turn_id: TurnId.optional(),
  by: z.enum(['person', 'agent']),
  fate: ResourceFate.optional(),
}))

/** The last request to one model, for comparison with the next one. */
const EarlierRequest = openObject(() => ({
  seq: Count,
  provider: z.string(),
  dialect: z.string(),
  model: z.string(),
  request_sha256: Sha256,
  request_bytes: Count,
  /** The blob of its surface, and the hash of its prompt texts. */
  surface: BlobKey,
  words_sha256: Sha256.optional(),
}))

/** A command that ended neither with a result nor with an answer about the files that it left. */
const OpenWatch = openObject(() => ({
  seq: Count,
  turn_id: TurnId.optional(),
  data: CommandWatched,
}))

/**
 * The message keys of the Turns before the tail. A key that this may contain is looked up in the Log; any other was never
 * used before the tail.
 */
const EarlierKeys = openObject(() => ({
  /** The first 16 hex digits of the SHA-256 of each of the newest keys, at most 256, the oldest first. */
  newest: z.array(z.string().regex(/^[0-9a-f]{16}$/)),
  /** A filter of the hashes of all older keys, in base64; absent without any. Empty, it contains every key. */
  filter: z.string().optional(),
}))

/**
 * What later Turns need of the Events before `tail.from_seq`. A History is this state and the raw Events, so that opening
 * a Session reads nothing else.
 */
const ResumeState = openObject(() => ({
  handle_counter: Count,
  /** In the order in which they were added; if they are too many, the newest. */
  resources: z.array(EarlierResource),
  /** All Resources before the tail. */
  resources_count: Count.optional(),
  turns: Count.optional(),
  provider: z.string().optional(),
  surface: PromptSurface.optional(),
  late_context: LateContext.optional(),
  /** In the order in which the person added them. */
  appended: list(AppendedInstructions),
  /** Texts of notices that are given once. */
  notices: z.array(z.string()),
  /** The newest first. */
  requests: list(EarlierRequest),
  /** A filter of all call ids, in base64. */
  call_ids: z.string().optional(),
  message_keys: EarlierKeys.optional(),
  watches: list(OpenWatch),
  /** Commands that the person ran since the last message. */
  commands: list(PersonCommand),
}))

/** Where the raw Events begin: the number of the first one, and its position in the Log. */
const Tail = openObject(() => ({
  from_seq: Count,
  turns: Count,
  tokens: Count,
  from_offset: Count.optional(),
  /** The hash that the line there names. */
  from_prev: Sha256.nullable().optional(),
}))

export const HistoryCompaction = openObject(() => ({
  trigger: CompactionTrigger,
  strategy: z.string(),
  /** The Events that the summary replaces; absent if results were only elided. */
  range: openObject(() => ({ from_seq: Count, to_seq: Count })).optional(),
  tail: Tail,
  elided: openObject(() => ({ before_seq: Count, over_bytes: Count })).optional(),
  tokens_before: Count,
  tokens_after: Count,
  /** Absent, like `state` and `summary`, without a range. */
  carried: CarriedFacts.optional(),
  state: ResumeState.optional(),
  limitations: list(z.string()),
  summary: z.string().optional(),
}))

export const CompactionUndone = openObject(() => ({
  compaction_event_id: EventId,
  reason: z.string(),
}))

const PinnedBy = z.enum(['person', 'model', 'policy'])

export const TextPinned = openObject(() => ({
  text: z.string(),
  by: PinnedBy,
}))

export const TextUnpinned = openObject(() => ({
  /** The Event that pinned the text last. */
  event_id: EventId,
  /** The text itself: a checkpoint carries texts without the Events that pinned them. */
  text: z.string(),
  by: PinnedBy,
}))
