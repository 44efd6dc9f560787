import type { ResourceOf } from '../../../history/session-resources.ts'
import type { Output } from '../../../host/output.ts'
import type { Descriptor } from '../../../model/descriptor.ts'
import type { EventData, WholeEvent } from '../../../model/events/event.ts'
import type { WatcherUpdate } from '../../../session/watch/subscribe.ts'
import type { Activity } from './activity.ts'
import type { AnswerText } from './answer-text.ts'
import { eventNotices } from '../../../history/results/event-notices.ts'
import { cutWords } from '../../../history/results/notice-words.ts'
import { failureAsText } from '../world/failure.ts'
import { jsonLine } from '../text/json-line.ts'
import type { TurnResult } from '../../../history/results/turn-result.ts'
import { missingParts, wholeMentions } from '../text/mention-words.ts'
import {
  broughtBy,
  isRoutine,
  refusalWords,
  resourceNews,
  resourceWords,
} from '../text/resource-words.ts'
import { loadedWords } from '../text/instruction-lines.ts'
import { activationWords, hydrationLine } from '../text/skill-lines.ts'
import { visibleLine, visibleText } from '../text/visible-text.ts'

/** Shows a Turn while it runs, and its end. */
export interface TurnView {
  /** Asynchronous when an image has to be loaded. */
  readonly show: (seen: WatcherUpdate) => void | Promise<void>
  /** Shows a notice that was recorded after the end of the Turn. */
  readonly after: (event: WholeEvent<'notice'>) => void
  readonly end: (session_id: string, result: TurnResult & { readonly exit_code: number }) => void
}

/** Every Event as stored and every notice, unless only the result is wanted, and then the result: one JSON object per line. */
export function jsonView(stdout: Output, what: 'all' | 'result'): TurnView {
  const line = (value: object) => stdout.write(jsonLine(value))
  return {
    show: (seen) => {
      if (what === 'result') return
      if (seen.kind === 'line') line(seen.line.content.event)
      if (seen.kind === 'ephemeral') line(seen.ephemeral)
    },
    after: (notice) => {
      if (what === 'all') line(notice)
    },
    end: (session_id, { exit_code, ...result }) =>
      line({ type: 'turn_result', ok: exit_code === 0, session_id, ...result, exit_code }),
  }
}

export interface WordsOptions {
  readonly stdout: Output
  readonly stderr: Output
  readonly activity: Activity
  readonly quiet: boolean
  /** Formats the result of a call for a terminal. */
  readonly resultText: (result: EventData<'tool_result'>, call: EventData<'tool_call'>) => string
  /** Formats a plan for a terminal. */
  readonly planText: (plan: EventData<'plan_updated'>) => string
  /** Formats the answer; absent if it is printed as it is. */
  readonly answer?: AnswerText | undefined
  readonly resourceOf: ResourceOf
  /** Draws a Resource if the terminal supports it. */
  readonly picture?: ((resource: Descriptor) => Promise<string | undefined>) | undefined
}

/**
 * Prints the answer to standard output: on a terminal while it is streamed, formatted unless that is not wanted; otherwise
 * only the last one, verbatim. Calls and notes go to standard error.
 */
export function wordsView(options: WordsOptions): TurnView {
  const { stdout, stderr, activity, quiet, picture, answer } = options
  const calls = new Map<string, EventData<'tool_call'>>()
  let midLine = false
  const say = (text: string) => {
    activity.clear()
    stdout.write(text)
    if (text !== '') midLine = !text.endsWith('\n')
  }
  const note = (text: string | undefined, always = false) => {
    if (text === undefined || text === '' || (quiet && !always)) return
    activity.clear()
    if (midLine && stdout.isTTY) say('\n')
    stderr.write(text)
  }
  let isAnswering = false
  const stream = async (text: string) => {
    const complete = answer === undefined ? visibleText(text) : await answer.push(text)
    if (complete !== '') say(complete)
    // A long block is printed when it is complete.
    if (complete === '' && !isAnswering) activity.during('answering')
    isAnswering = complete === ''
  }
  const finish = () => {
    isAnswering = false
    say(answer?.end() ?? '')
    if (midLine) say('\n')
  }
  return {
    show: async (seen) => {
      if (seen.kind === 'ephemeral') {
        if (seen.ephemeral.type === 'text_delta' && stdout.isTTY)
          await stream(seen.ephemeral.data.text)
        if (seen.ephemeral.type === 'tool_progress' && seen.ephemeral.data.notice === true)
          note(`hawser: ${visibleText(seen.ephemeral.data.text.trimEnd())}\n`)
        if (seen.ephemeral.type === 'stream_restarted') finish()
        if (seen.ephemeral.type === 'stream_restarted')
          note('hawser: the connection failed during this answer; the model answers again.\n')
        if (seen.ephemeral.type === 'status') activity.during(visibleText(seen.ephemeral.data.text))
        return
      }
      const event = seen.kind === 'line' ? seen.whole : undefined
      if (event === undefined) return
      if (event.type === 'tool_call') calls.set(event.data.call_id, event.data)
      // The answer is complete: whatever comes next, for example a question, starts on a new line.
      if (event.type === 'assistant_message' || event.type === 'turn_ended') finish()
      note(noteOf(event, calls, options))
      note(refusals(event), true)
      if (picture !== undefined && !quiet) {
        for (const resource of broughtBy(event)) note(await picture(resource))
      }
      const doing = activityOf(event)
      if (doing !== undefined) activity.during(doing)
    },
    after: (event) => note(noteOf(event, calls, options), true),
    end: (session_id, { text, error, status, notices, cut }) => {
      if (!stdout.isTTY) say(text)
      finish()
      activity.clear()
      // The others were printed when they happened.
      for (const { code, text: line } of notices)
        if (code === 'runs_later') note(`hawser: ${visibleLine(line)}\n`)
      if (error !== undefined) stderr.write(failureAsText({ error }))
      else if (status === 'interrupted') stderr.write('hawser: the Turn was interrupted.\n')
      if (cut !== undefined) stderr.write(failureAsText({ error: cutFailure(session_id, cut) }))
    },
  }
}

function cutFailure(session_id: string, cut: NonNullable<TurnResult['cut']>) {
  const command = `hawser run --session ${session_id} "Continue."`
  return { message: cutWords(cut), next_actions: [{ action: 'Get the rest.', command }] }
}

/** The note about an Event for standard error: calls only on a terminal, refusals always. */
function noteOf(
  event: WholeEvent,
  calls: ReadonlyMap<string, EventData<'tool_call'>>,
  { stderr, resultText, planText, resourceOf }: WordsOptions,
): string | undefined {
  if (event.type === 'user_message' && stderr.isTTY) {
    const attached = broughtBy(event).map(resourceWords)
    return [...attached, ...wholeMentions(event.data)].map((words) => `  ${words}\n`).join('')
  }
  if (event.type === 'resource_ingested' || (stderr.isTTY && isRoutine(event))) {
    return `hawser: ${resourceNews(event, resourceOf)}\n`
  }
  if (event.type === 'project_instructions' && stderr.isTTY)
    return `hawser: ${loadedWords(event.data)}\n`
  if (event.type === 'skill_activation' && stderr.isTTY)
    return `hawser: ${activationWords(event.data)}\n`
  if (event.type === 'skill_context_hydration' && stderr.isTTY)
    return `hawser: ${hydrationLine(event.data)}\n`
  if (event.type === 'plan_updated' && stderr.isTTY) return planText(event.data)
  // The plan itself was printed.
  if (event.type === 'tool_result' && isPlan(event.data)) return undefined
  const call = event.type === 'tool_result' ? calls.get(event.data.call_id) : undefined
  if (event.type === 'tool_result' && stderr.isTTY && call !== undefined)
    return resultText(event.data, call)
  // Refused parts of the message are printed in any case, and the end of the Turn says what is cut off.
  if (event.type === 'user_message' || event.type === 'turn_ended') return undefined
  return eventNotices(event, resourceOf)
    .map(
      ({ text }) => `hawser: ${event.type === 'notice' ? visibleText(text) : visibleLine(text)}\n`,
    )
    .join('')
}

function isPlan({ name, outcome }: EventData<'tool_result'>): boolean {
  return name === 'update_plan' && outcome === 'ok'
}

function refusals(event: WholeEvent): string | undefined {
  if (event.type !== 'user_message') return undefined
  const { attachment_errors = [], resources = [] } = event.data
  const refused = [
    ...attachment_errors.map(refusalWords),
    ...resources
      .filter((one) => one.kind === 'link' && one.not_copied !== undefined)
      .map((one) => `✗ ${resourceWords(one)}`),
  ]
  const all = [...refused, ...missingParts(event.data)]
  return all.length === 0 ? undefined : all.map((words) => `${words}\n`).join('')
}

function activityOf(event: WholeEvent): string | undefined {
  if (event.type === 'provider_request') return 'waiting for the model'
  if (event.type === 'tool_call') return `running ${visibleText(event.data.name)}`
  if (event.type !== 'permission_decision' || event.data.decision === 'denied') return undefined
  return `running ${visibleText(event.data.subject)}`
}
