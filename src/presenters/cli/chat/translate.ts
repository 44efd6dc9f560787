import type { ResourceOf } from '../../../history/session-resources.ts'
import { undoOutcome } from '../../../history/file-changes.ts'
import type { HawserError } from '../../../model/errors.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { reasoningText } from '../../../history/reasoning-text.ts'
import { ruleSubject } from '../../../model/rule.ts'
import type { Line } from '../text/cell-width.ts'
import { eventNotices } from '../../../history/results/event-notices.ts'
import { laterNotices } from '../../../history/results/turn-notices.ts'
import {
  compactionSentence,
  cutWords,
  repairedWords,
} from '../../../history/results/notice-words.ts'
import { turnCost } from '../../../history/results/turn-result.ts'
import { footer } from '../render/footer.ts'
import { inChat, nextStepsInChat } from '../text/chat-forms.ts'
import { MarkdownStream } from '../text/markdown.ts'
import { subjectOf } from '../render/event-essence.ts'
import { commandLines } from '../text/command-words.ts'
import { mentionLines } from '../text/mention-words.ts'
import { refusalsIn } from '../world/failure.ts'
import { pipedWords, refusalWords, resourceNews, resourceWords } from '../text/resource-words.ts'
import { loadedWords } from '../text/instruction-lines.ts'
import { activationWords, hydrationLine } from '../text/skill-lines.ts'
import { visibleLine } from '../text/visible-text.ts'
import { aside, head, sentences, verbatim } from '../screen/rows.ts'
import { commandResultRows, commandRows } from '../screen/command-rows.ts'
import { resultRows } from '../screen/tool-rows.ts'

/**
 * Translates an Event to finished rows. `events` are those of its Turn up to and including it; `resourceOf` finds the
 * Resources of all Turns. Pure.
 */
export function translate(
  event: WholeEvent,
  events: readonly WholeEvent[],
  columns: number,
  resourceOf: ResourceOf = () => undefined,
): Line[] {
  const say = (text: string) => sentences(text, { columns, style: { dim: true } })
  switch (event.type) {
    case 'user_message':
      if (isForSummary(events)) return say('Asking the model to summarise the Session.')
      return [
        ...userRows(event.data.text, event.data.steer === true, columns),
        ...(event.data.piped === undefined ? [] : say(`  ${pipedWords(event.data.piped)}`)),
        ...attachmentRows(event.data, columns),
        ...[...mentionLines(event.data), ...commandLines(event.data)].flatMap((text) =>
          say(`  ${text}`),
        ),
      ]
    case 'assistant_message':
      return [
        [],
        ...answerRows(event.data.text, columns),
        ...(event.data.partial === true ? [BROKEN_OFF] : []),
      ]
    case 'tool_result':
      // The plan itself is shown while the Turn runs, and printed when it ends.
      if (event.data.name === 'update_plan' && event.data.outcome === 'ok') return []
      return resultRows(event.data, callOf(event, events), columns, OPENS_FOLDS)
    case 'shell_command':
      return commandRows(event.data, columns)
    case 'shell_result':
      return commandResultRows(event.data, columns)
    case 'permission_decision':
      return event.data.by === 'policy' ? [] : say(decisionWords(event.data, resourceOf))
    case 'reasoning':
      return thinkingRows(reasoningText(event.data.item), columns)
    case 'turn_ended':
      return endRows(event, events, columns)
    case 'session_settings':
      return say(settingsWords(event.data))
    case 'session_fork':
      return say(`Forked from ${event.data.parent_session_id}.`)
    case 'project_instructions':
      return say(loadedWords(event.data))
    case 'skill_activation':
      return say(activationWords(event.data))
    case 'skill_context_hydration':
      return say(hydrationLine(event.data))
    case 'resource_ingested':
    case 'resource_view':
    case 'resource_dropped':
      return say(resourceNews(event, resourceOf))
    case 'resource_retired':
      return eventNotices(event, resourceOf).flatMap(({ text }) => say(visibleLine(inChat(text))))
    case 'history_compaction':
      return say(compactionSentence(event.data))
    case 'compaction_undone':
      return say('The last compaction was undone: what it replaced is sent as before.')
    case 'files_restored':
      return restoredNews(event.data).flatMap((text) => say(text))
    case 'text_pinned':
      return say('Pinned: the model sees this text word for word in every request.')
    case 'text_unpinned':
      return say('No longer pinned: the next summary of the History omits this text.')
    case 'log_repaired':
      return say(repairedWords(event.data))
    case 'notice':
      return say(inChat(event.data.text))
    // Event types that a chat does not show. All are listed, so that a new type requires a decision.
    case 'session_started':
    case 'prompt_surface':
    case 'turn_started':
    case 'late_context':
    case 'provider_request':
    case 'provider_usage':
    case 'tool_call':
    case 'plan_updated':
    case 'command_watched':
    case 'workspace_snapshot':
    case 'permission_asked':
    case 'resource_quarantined':
    case 'lock_taken':
      return []
    default:
      return event satisfies never
  }
}

/** Dim and folded; the transcript has all of it, and says where there is only ciphertext. */
export function thinkingRows(text: string, columns: number): Line[] {
  if (text === '') return []
  const style = { dim: true, italic: true }
  const rows = sentences(text, { columns, first: '∴ ', style, firstStyle: style })
  const more = rows.length - MOST_THINKING_ROWS
  if (more <= 1) return rows
  const note = aside(`  [… ${countOf(more, 'more line')} of thinking · ${OPENS_FOLDS}]`)
  return [...rows.slice(0, MOST_THINKING_ROWS), note]
}

const MOST_THINKING_ROWS = 2
const OPENS_FOLDS = 'Ctrl-O'

/** Whether Hawser started the Turn of these Events, for the summary of a checkpoint. */
function isForSummary(events: readonly WholeEvent[]): boolean {
  return events.some((event) => event.type === 'turn_started' && event.data.purpose !== undefined)
}

/** The rows of a complete answer. */
function answerRows(text: string, columns: number): Line[] {
  const stream = new MarkdownStream(columns)
  return [...stream.push(text), ...stream.end()]
}

/** An error from this process or from an Event. */
type ErrorFacts = HawserError | NonNullable<WholeEvent<'turn_ended'>['data']['error']>

/** An error of something that the person did, with the next steps. */
export function failureRows(
  { message, details = {}, next_actions = [] }: ErrorFacts,
  columns: number,
): Line[] {
  return [
    ...sentences(inChat(message), { columns, first: '✗ ', style: { colour: 'red' } }),
    ...refusalsIn(details).flatMap((text) => sentences(inChat(text), { columns, first: '  ' })),
    ...nextStepsInChat(next_actions).flatMap((text) => sentences(text, { columns, first: '  ' })),
  ]
}

export const BROKEN_OFF = aside('[The response ends here, incomplete.]')

const MOST_USER_ROWS = 20

const RESTORED = {
  restored: 'restored',
  removed: 'removed',
  changed_since: 'not restored: changed since',
  failed: 'could not be restored',
} as const

const NOT_STORED = 'not restored: it contained a key, which is not stored'

const MOST_RESTORED = 50

/** What was not restored first. The transcript has all. */
function restoredNews({ files }: WholeEvent<'files_restored'>['data']): readonly string[] {
  const isDone = ({ outcome }: (typeof files)[number]) => outcome === 'restored'
  const shown =
    files.length <= MOST_RESTORED
      ? files
      : [...files.filter((one) => !isDone(one)), ...files.filter(isDone)].slice(0, MOST_RESTORED)
  const more = files.length - shown.length
  return [
    ...shown.map((file) => {
      const how = file.why === 'redacted' ? NOT_STORED : RESTORED[undoOutcome(file)]
      return `${file.path}: ${how}`
    }),
    ...(more > 0 ? [`And ${countOf(more, 'more file')}: Ctrl-O shows them.`] : []),
  ]
}

function userRows(text: string, steer: boolean, columns: number): Line[] {
  const first = steer ? '↳ steering: ' : '> '
  const rest = steer ? '  ' : undefined
  const setting = { columns, first, firstStyle: { bold: true }, style: { bold: true } }
  const rows = verbatim(text, rest === undefined ? setting : { ...setting, rest })
  return [...(steer ? [] : [[]]), ...head(rows, MOST_USER_ROWS, '  ', OPENS_FOLDS)]
}

function callOf({ data }: WholeEvent<'tool_result'>, events: readonly WholeEvent[]) {
  const call = events.findLast(
    (event) => event.type === 'tool_call' && event.data.call_id === data.call_id,
  )
  return call?.type === 'tool_call' ? call.data : { name: data.name, arguments: '' }
}

function attachmentRows(data: WholeEvent<'user_message'>['data'], columns: number): Line[] {
  const { resources = [], attachment_errors = [] } = data
  return [
    ...resources.flatMap((resource) =>
      sentences(resourceWords(resource), { columns, first: '  ', style: { dim: true } }),
    ),
    ...attachment_errors.flatMap((error) =>
      sentences(refusalWords(error), { columns, first: '  ', style: { colour: 'yellow' } }),
    ),
  ]
}

function decisionWords(
  data: WholeEvent<'permission_decision'>['data'],
  resourceOf: ResourceOf,
): string {
  const { decision, scope, by, rule, reason } = data
  const subject = rule === undefined ? subjectOf(data, resourceOf) : ruleSubject(rule)
  if (decision === 'allowed') {
    return scope === 'once'
      ? 'Allowed by you.'
      : `Allowed by you for this ${SCOPES[scope]}: ${subject}.`
  }
  if (by === 'person') return reason === undefined ? 'Denied by you.' : `Denied by you: ${reason}`
  return UNANSWERED[by]
}

const UNANSWERED = {
  policy: 'Denied by policy.',
  timeout: 'Denied: no answer in time.',
  nobody: 'Denied: there was no terminal to ask.',
  interrupt: 'Not answered: the Turn ended.',
} as const

const SCOPES = { session: 'Session', workspace: 'workspace' } as const

function settingsWords(data: WholeEvent<'session_settings'>['data']): string {
  const { mode, permission_mode, model, effort, title } = data
  const words = [
    ...(mode === undefined ? [] : [`Mode: ${MODES[mode]}.`]),
    ...(permission_mode === undefined ? [] : [`Permission mode: ${permission_mode}.`]),
    ...(model === undefined ? [] : [`Model: ${model}.`]),
    ...(effort === undefined ? [] : [`Effort: ${effort}.`]),
    ...(title === undefined ? [] : [`Title: ${title}.`]),
  ]
  return words.join(' ')
}

const MODES = {
  plan: 'plan (read-only)',
  build: 'build',
} as const

function endRows(
  event: WholeEvent<'turn_ended'>,
  events: readonly WholeEvent[],
  columns: number,
): Line[] {
  const { status, error, crash_recovered, usage_total, cut } = event.data
  const own = events.filter(({ turn_id }) => turn_id === event.turn_id)
  const started = own.find(({ type }) => type === 'turn_started')
  // For display only: the Log records no other duration of a whole Turn.
  const ms = Math.max(0, Date.parse(event.ts) - Date.parse(started?.ts ?? event.ts))
  return [
    ...tooLate(own, columns),
    ...(crash_recovered === true
      ? sentences('This Turn was cut off by a crash. It is not run again.', {
          columns,
          style: { colour: 'yellow' },
        })
      : status === 'interrupted' && error === undefined
        ? sentences('Interrupted.', { columns, style: { colour: 'yellow' } })
        : []),
    ...(error === undefined ? [] : failureRows(error, columns)),
    ...laterNotices(own).flatMap(({ text }) => sentences(visibleLine(text), { columns })),
    ...(cut === undefined
      ? []
      : sentences(`${cutWords(cut)} To get the rest, send: Continue.`, {
          columns,
          style: { colour: 'yellow' },
        })),
    ...sentences(footer(usage_total, turnCost(own), ms), { columns, style: { dim: true } }),
  ]
}

/** Text that came too late for the Turn is in the Log, and the next request contains it. */
function tooLate(own: readonly WholeEvent[], columns: number): Line[] {
  const last = own.at(-2)
  if (last?.type !== 'user_message' || last.data.steer !== true) return []
  const text = 'Too late for this Turn: the model receives it with your next message.'
  return sentences(text, { columns, style: { colour: 'yellow' } })
}
