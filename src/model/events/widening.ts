import { uploadedResource } from '../permission-subject.ts'
import type { EventType, LoggedEvent } from './event.ts'

/**
 * Which Events can widen what a Session may do, or change how earlier ones are read. Such a line counts only once the head
 * covers it, and is acknowledged only then. All types are listed, so that a new one requires a decision.
 */
const WIDENING = {
  session_started: true,
  // As the first line of a Log, it counts only under a head, whatever it says; a later one sets no mode.
  session_fork: false,
  session_settings: true,
  // It replaces what Hawser itself says to the model, and names the model.
  prompt_surface: true,
  turn_started: false,
  user_message: false,
  late_context: false,
  project_instructions: false,
  skill_activation: false,
  skill_context_hydration: false,
  provider_request: false,
  assistant_message: false,
  reasoning: false,
  tool_call: false,
  command_watched: false,
  tool_result: false,
  shell_command: false,
  shell_result: false,
  plan_updated: false,
  permission_asked: false,
  permission_decision: 'consent',
  resource_ingested: false,
  resource_view: false,
  resource_retired: false,
  resource_dropped: false,
  resource_quarantined: false,
  provider_usage: false,
  // Its state replaces earlier Events, such as a denial.
  history_compaction: true,
  // Without a checkpoint, the Events before it are read, and the head covers those.
  compaction_undone: false,
  files_restored: false,
  text_pinned: false,
  text_unpinned: false,
  log_repaired: false,
  lock_taken: false,
  notice: false,
  turn_ended: false,
} as const satisfies Record<EventType, boolean | 'consent'>

/** Whether this line can widen anything. A yes that covers only its own call does not: the call is over after a crash. */
export function canWiden({ isKnown, event }: LoggedEvent): boolean {
  if (!isKnown) return false
  if (event.type !== 'permission_decision') return WIDENING[event.type]
  const { decision, scope, subject } = event.data
  if (decision === 'denied') return false
  // A subject in a blob, which no writer makes of so short a text, may be any.
  return scope !== 'once' || subject === undefined || uploadedResource(subject) !== undefined
}
