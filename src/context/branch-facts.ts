import { ranCommands } from '../history/ran-commands.ts'
import { SessionResources } from '../history/session-resources.ts'
import type { EventType, WholeEvent } from '../model/events/event.ts'
import { decisionsIn } from './decisions.ts'

/** What happened in a part of a Session that a person leaves, as far as Events say. */
export interface BranchFacts {
  /** The numbers of its first and its last Turn. */
  readonly turns: { readonly from: number; readonly to: number }
  /** What write and edit changed, each once, the newest last. */
  readonly files: readonly string[]
  /** The commands that could change files, the newest last. */
  readonly commands: readonly string[]
  readonly decisions: readonly string[]
  /** Of the last plan. */
  readonly open_tasks: readonly string[]
}

/** The types of Events that `branchFacts` reads. */
export const BRANCH_EVENTS = [
  'turn_started',
  'tool_call',
  'tool_result',
  'command_watched',
  'permission_decision',
  'session_settings',
  'shell_command',
  'skill_context_hydration',
  'plan_updated',
] as const satisfies readonly EventType[]

/** `events` begin with Turn `from`. Pure. */
export function branchFacts(events: readonly WholeEvent[], from: number): BranchFacts {
  const begun = events.filter(({ type }) => type === 'turn_started').length
  const changed = events.flatMap(({ type, data }) =>
    type === 'tool_result' && data.path !== undefined && data.after_blob !== undefined
      ? [data.path]
      : [],
  )
  const plan = events.findLast((event) => event.type === 'plan_updated')
  return {
    turns: { from, to: from + Math.max(1, begun) - 1 },
    files: newest(changed),
    commands: newest(ranCommands(events).map(({ command }) => command)),
    decisions: decisionsIn(events, new SessionResources()),
    open_tasks:
      plan?.data.entries.flatMap(({ content, status }) =>
        status === 'completed' ? [] : [content],
      ) ?? [],
  }
}

function newest(all: readonly string[]): string[] {
  return [...new Set(all.toReversed())].toReversed()
}
