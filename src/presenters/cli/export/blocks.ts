import type { ResourceOf } from '../../../history/session-resources.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import type { ReadEvent } from '../../../session/reading/read-log.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { cutWords } from '../../../history/results/notice-words.ts'
import { compactionWords } from '../../../history/results/notice-words.ts'
import { commandFacts, commandLines } from '../text/command-words.ts'
import { callText } from './call-text.ts'
import { mentionLines } from '../text/mention-words.ts'
import { essenceOf, undoReason } from '../render/event-essence.ts'
import { exitStatus } from '../../../history/exit-status.ts'
import { reasoningText } from '../../../history/reasoning-text.ts'
import { loadedWords } from '../text/instruction-lines.ts'
import { activationWords, hydrationLine } from '../text/skill-lines.ts'
import { refusalWords, resourceNews, resourceWords } from '../text/resource-words.ts'

/** A part of a Session in a document. Texts are unescaped: each format escapes them in its own way. */
export type Block =
  | { readonly kind: 'turn'; readonly ts: string }
  | {
      readonly kind: 'text'
      readonly who: 'person' | 'model' | 'tool' | 'harness'
      readonly title: string
      readonly ts: string
      readonly text: string
      /** People and models write Markdown. */
      readonly form: 'markdown' | 'plain'
      /** A unified diff, below the text. */
      readonly diff?: string
      /** Shown closed where a format can do that. */
      readonly isFolded?: true
      /** One line each: descriptors of attachments, and other notes about the text. */
      readonly notes: readonly string[]
    }
  | { readonly kind: 'note'; readonly ts: string; readonly text: string }

/**
 * The blocks of an Event; empty for Events that a document does not show. `resourceOf` finds earlier Resources by id.
 * Pure.
 */
export function blocksOf({ raw, event }: ReadEvent, resourceOf: ResourceOf): readonly Block[] {
  if (event === undefined) return [unknownBlock(raw)]
  const { ts } = event
  const note = (text: string): Block[] => [{ kind: 'note', ts, text }]
  const text = (
    who: 'person' | 'model' | 'tool' | 'harness',
    title: string,
    body: string,
    notes: readonly string[] = [],
  ): Block[] => {
    const form = who === 'person' || who === 'model' ? 'markdown' : 'plain'
    return [{ kind: 'text', who, title, ts, text: body, form, notes }]
  }
  switch (event.type) {
    case 'turn_started':
      return [{ kind: 'turn', ts }]
    case 'user_message': {
      const { resources = [], attachment_errors = [], steer, piped } = event.data
      const title = steer === true ? 'User, to the running Turn' : 'User'
      return [
        ...text('person', title, event.data.text, [
          ...resources.map(resourceWords),
          ...attachment_errors.map(refusalWords),
          ...mentionLines(event.data),
          ...commandLines(event.data),
        ]),
        ...(piped === undefined ? [] : text('tool', 'Standard input', piped)),
      ]
    }
    case 'assistant_message': {
      const { partial, resources = [] } = event.data
      const title = partial === true ? 'Model (incomplete)' : 'Model'
      return text('model', title, event.data.text, resources.map(resourceWords))
    }
    case 'reasoning': {
      const thought = reasoningText(event.data.item)
      if (thought === '') return note(`Thinking: ${essenceOf(event).head}`)
      return text('model', 'Thinking', thought).map((block) => ({ ...block, isFolded: true }))
    }
    case 'tool_call':
      return text('tool', `Tool call: ${event.data.name}`, callText(event.data))
    case 'tool_result': {
      const { name, error, truncated, output, diff = '', resources = [] } = event.data
      const { outcome, failure } = exitStatus(event.data)
      const how = failure === undefined ? outcome : `${outcome}, ${failure}`
      const notes = [
        ...(error === undefined ? [] : [`${error.kind}: ${error.message}`]),
        ...(truncated === true ? ['The output is truncated.'] : []),
        ...resources.map(resourceWords),
      ]
      const title = `Tool result: ${name}, ${how}`
      // Older versions recorded the diff as the output.
      if (diff === '' && /^--- a\/.*\n\+\+\+ b\//.test(output))
        return [
          { kind: 'text', who: 'tool', title, ts, text: '', form: 'plain', diff: output, notes },
        ]
      const changed = diff === '' ? {} : { diff }
      return text('tool', title, output, notes).map((block) => ({ ...block, ...changed }))
    }
    case 'shell_command':
      return text('tool', 'Command of the user', `$ ${event.data.command}`)
    case 'shell_result':
      return text('tool', 'Output of the command', event.data.output, [
        commandFacts(event.data).join(', '),
      ])
    case 'history_compaction': {
      const { range, summary = '', limitations = [] } = event.data
      const title = `Checkpoint: ${compactionWords(event.data)}`
      return range === undefined ? note(`${title}.`) : text('harness', title, summary, limitations)
    }
    case 'text_pinned':
      return text('harness', 'Pinned', event.data.text)
    case 'text_unpinned':
      return text('harness', 'No longer pinned', event.data.text)
    case 'plan_updated':
      return text('harness', 'Plan', planText(event.data.entries))
    case 'files_restored':
      return text('harness', 'Files restored', essenceOf(event).body ?? '')
    case 'skill_context_hydration':
      return note(hydrationLine(event.data))
    case 'permission_decision':
      return event.data.by === 'policy'
        ? []
        : note(`Permission: ${essenceOf(event, resourceOf).head}`)
    case 'turn_ended':
      return note(endOf(event.data))
    case 'notice':
      return note(event.data.text)
    case 'session_fork':
      return note(`Forked ${essenceOf(event).head}`)
    case 'session_settings':
      return note(`Settings: ${essenceOf(event).head}`)
    case 'project_instructions':
      return note(loadedWords(event.data))
    case 'skill_activation':
      return note(activationWords(event.data))
    case 'resource_ingested':
    case 'resource_view':
    case 'resource_retired':
    case 'resource_dropped':
    case 'resource_quarantined':
      return note(resourceNews(event, resourceOf))
    case 'compaction_undone':
      return note(`The last compaction was undone ${undoReason(event.data)}.`)
    case 'log_repaired':
      return note(`After a crash: ${essenceOf(event).head}`)
    // Event types that a document does not show. All are listed, so that a new type requires a decision.
    case 'session_started':
    case 'prompt_surface':
    case 'late_context':
    case 'provider_request':
    case 'provider_usage':
    case 'command_watched':
    case 'permission_asked':
    case 'lock_taken':
      return []
    default:
      return event satisfies never
  }
}

function unknownBlock({ type, ts, data }: ReadEvent['raw']): Block {
  const text = JSON.stringify(data)
  const title = `Unknown Event type: ${type}`
  return { kind: 'text', who: 'harness', title, ts, text, form: 'plain', notes: [] }
}

function planText(entries: WholeEvent<'plan_updated'>['data']['entries']): string {
  return entries.map(({ content, status }) => `${PLAN_MARKS[status]} ${content}`).join('\n')
}

const PLAN_MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const

function endOf({
  status,
  error,
  crash_recovered,
  usage_total,
  cut,
}: WholeEvent<'turn_ended'>['data']) {
  const how = crash_recovered === true ? `${status} by a crash` : status
  const why = error === undefined ? '' : ` (${error.kind}: ${error.message})`
  const { calls, unknown_calls = 0 } = usage_total
  const lost = unknown_calls === 0 ? '' : `, and ${unknown_calls} of unknown outcome`
  const end = `Turn ${how}${why} after ${countOf(calls, 'call')} to the model${lost}.`
  return cut === undefined ? end : `${end} ${cutWords(cut)}`
}
