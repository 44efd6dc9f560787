import * as z from 'zod'
import { Descriptor, Handle } from '../descriptor.ts'
import { EventId, ResourceId } from '../ids.ts'
import { PromptSurface } from './session-events.ts'
import { Count, list, openObject } from '../shape.ts'
import { SkillIdentity } from './skill-events.ts'
import { ToolOutcome } from './tool-events.ts'
import { LateContext } from './turn-events.ts'

export const CompactionTrigger = z.enum([
  'manual',
  'critical_pressure_preflight',
  'websocket_critical_recovery',
  'overflow_recovery',
  'policy_auto',
])

/** The facts of the range that the checkpoint carries verbatim, not in a model's words. */
const CarriedFacts = openObject(() => ({
  files_touched: z.array(z.string()),
  decisions: z.array(z.string()),
  open_tasks: z.array(z.string()),
  tool_outcomes: z.array(
    openObject(() => ({ call_id: z.string(), name: z.string(), outcome: ToolOutcome })),
  ),
  resources: z.array(
    openObject(() => ({ resource_id: ResourceId, handle: Handle, name: z.string() })),
  ),
  skills: z.array(SkillIdentity),
  hydrations: z.array(openObject(() => ({ event_id: EventId, context_source_id: z.string() }))),
  pinned: z.array(z.string()),
}))

/** Resuming reads only a checkpoint and the Events after it. This contains everything that it needs from before. */
const ResumeState = openObject(() => ({
  handle_counter: Count,
  resources: z.array(Descriptor),
  surface: PromptSurface.optional(),
  late_context: LateContext.optional(),
  notices: z.array(z.string()),
}))

export const HistoryCompaction = openObject(() => ({
  trigger: CompactionTrigger,
  strategy: z.string(),
  range: openObject(() => ({ from_seq: Count, to_seq: Count })),
  tail: openObject(() => ({ from_seq: Count, turns: Count, tokens: Count })),
  elided: openObject(() => ({ before_seq: Count, over_bytes: Count })).optional(),
  tokens_before: Count,
  tokens_after: Count,
  carried: CarriedFacts,
  state: ResumeState,
  limitations: list(z.string()),
  summary: z.string(),
}))

export const CompactionUndone = openObject(() => ({
  compaction_event_id: EventId,
  reason: z.string(),
}))

export const TextPinned = openObject(() => ({
  text: z.string(),
  by: z.enum(['person', 'model', 'policy']),
}))
