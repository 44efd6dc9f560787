import { notCopiedReason } from '../../prompt/words/resources.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { LOSSES } from '../../model/events/loss.ts'
import type { ResourceOf } from '../session-resources.ts'
import {
  compactionSentence,
  cutWords,
  droppedWords,
  hydrationWords,
  partlyIncluded,
  repairedWords,
  restoredWords,
  retiredWords,
  viewWords,
} from './notice-words.ts'

/** Something that a person must know, whichever face they use. `code` is for programs, `text` for people. */
export interface ResultNotice {
  readonly code: string
  readonly text: string
}

/**
 * What a person must know about an Event: what was refused, withheld, denied, shortened or repaired, and what Hawser did by
 * itself. Empty for Events that are expected, and for those that are recorded together with a notice of their own. Texts are
 * not escaped. Pure.
 */
export function eventNotices(
  event: WholeEvent,
  resourceOf: ResourceOf = () => undefined,
): readonly ResultNotice[] {
  switch (event.type) {
    case 'notice':
      return [{ code: event.data.code, text: event.data.text }]
    case 'user_message':
      return messageNotices(event.data)
    case 'skill_context_hydration':
      return hydrationNotices(event.data)
    case 'tool_result': {
      const { outcome, name, error } = event.data
      if (outcome !== 'denied') return []
      const why = error === undefined ? '' : ` ${error.message}`
      return [{ code: 'call_denied', text: `${name} was denied.${why}` }]
    }
    case 'resource_view': {
      const { by, outcome } = event.data
      // A view that a person asked for has a notice of its own.
      if (by === 'person' || outcome === 'projected' || outcome === 'visible') return []
      return [{ code: 'resource_not_shown', text: viewWords(event.data) }]
    }
    case 'resource_retired': {
      const { why } = event.data
      if (NOTICED.has(why)) return []
      return [{ code: 'resource_retired', text: retiredWords(event.data, resourceOf) }]
    }
    case 'resource_dropped':
      return [{ code: 'resource_dropped', text: droppedWords(event.data, resourceOf) }]
    case 'history_compaction':
      return [{ code: 'compacted', text: compactionSentence(event.data) }]
    case 'compaction_undone':
      return [{ code: 'compaction_undone', text: UNDONE }]
    case 'files_restored':
      return [{ code: 'files_restored', text: restoredWords(event.data) }]
    case 'log_repaired':
      return [{ code: 'log_repaired', text: repairedWords(event.data) }]
    case 'turn_ended': {
      const { cut } = event.data
      return cut === undefined ? [] : [{ code: 'answer_incomplete', text: cutWords(cut) }]
    }
    // Recorded with a notice, or with a result that states it.
    case 'resource_quarantined':
    case 'permission_decision':
      return []
    // Expected. All are listed, so that a new type requires a decision.
    case 'session_started':
    case 'session_fork':
    case 'session_settings':
    case 'prompt_surface':
    case 'turn_started':
    case 'late_context':
    case 'project_instructions':
    case 'skill_activation':
    case 'provider_request':
    case 'assistant_message':
    case 'reasoning':
    case 'tool_call':
    case 'command_watched':
    case 'workspace_snapshot':
    case 'shell_command':
    case 'shell_result':
    case 'plan_updated':
    case 'permission_asked':
    case 'resource_ingested':
    case 'provider_usage':
    case 'text_pinned':
    case 'text_unpinned':
    case 'lock_taken':
      return []
    default:
      return event satisfies never
  }
}

const UNDONE = 'The last compaction was undone: what it replaced is sent as before.'

/** Reasons for a retirement that a notice states, in the same write. */
const NOTICED: ReadonlySet<string> = new Set(LOSSES)

function messageNotices(message: WholeEvent<'user_message'>['data']): readonly ResultNotice[] {
  const { resources = [], attachment_errors = [], mentions = [], mention_errors = [] } = message
  return [
    ...resources.flatMap((one) => {
      if (one.kind !== 'link' || one.not_copied === undefined) return []
      const text = `${one.name} was not copied: ${notCopiedReason(one.not_copied)}.`
      return [{ code: 'link_not_copied', text }]
    }),
    ...attachment_errors.map(({ name, reason }) => {
      return { code: 'attachment_refused', text: `${name} was not attached: ${reason}.` }
    }),
    ...mention_errors.map(({ path, reason }) => {
      return { code: 'mention_refused', text: `${path} was not included: ${reason}.` }
    }),
    ...mentions.flatMap((one) =>
      one.truncated === true ? [{ code: 'mention_truncated', text: partlyIncluded(one) }] : [],
    ),
  ]
}

function hydrationNotices(
  data: WholeEvent<'skill_context_hydration'>['data'],
): readonly ResultNotice[] {
  const { status, truncated, limitations = [] } = data
  const text = hydrationWords(data)
  if (status !== 'ok') return [{ code: `hydration_${status}`, text }]
  const isComplete = truncated !== true && limitations.length === 0
  return isComplete ? [] : [{ code: 'hydration_incomplete', text }]
}
