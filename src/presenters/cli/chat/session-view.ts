import type { Clock } from '../../../host/clock.ts'
import type { EphemeralEvent, WholeEvent } from '../../../model/events/event.ts'
import type { Line } from '../text/cell-width.ts'
import { MarkdownStream } from '../text/markdown.ts'
import type { ResourceOf } from '../../../history/session-resources.ts'
import { planRows } from '../screen/plan-rows.ts'
import { reasoningText } from '../../../history/reasoning-text.ts'
import { BROKEN_OFF, thinkingRows, translate } from './translate.ts'
import { TurnActivity, type ActivityFacts } from './turn-activity.ts'

/**
 * The view of a live Session: finished rows, returned once, and rows that may still change. The finished rows of an
 * answer are the same whether it was streamed or read from the Log.
 */
export class SessionView {
  readonly #resourceOf: ResourceOf
  #columns: number
  #answer: { text: string; stream: MarkdownStream; hasBegun: boolean } | undefined
  readonly #activity: TurnActivity
  /** The thinking that arrived since the last text, and what of this call was returned before its Event. */
  #thinking = ''
  #thought = ''

  constructor(
    columns: number,
    clock: Pick<Clock, 'monotonicMs'>,
    resourceOf: ResourceOf = () => undefined,
  ) {
    this.#columns = columns
    this.#resourceOf = resourceOf
    this.#activity = new TurnActivity(clock)
  }

  /** Takes a durable Event. `events` are those of its Turn up to and including it. */
  take(event: WholeEvent, events: readonly WholeEvent[]): Line[] {
    const { plan } = this.#activity.facts
    this.#activity.take(event)
    if (event.type === 'assistant_message') return this.#answerRows(event, events)
    if (event.type === 'reasoning' && this.#wasShown(reasoningText(event.data.item))) return []
    if (event.type === 'provider_request') this.#forgetThinking()
    const rows = translate(event, events, this.#columns, this.#resourceOf)
    if (event.type !== 'turn_ended') return rows
    // Until now, the live region showed the plan.
    const planned = planRows(plan, this.#columns)
    return [...this.#brokenOff(), ...(planned.length === 0 ? [] : [[], ...planned]), ...rows]
  }

  /** Takes a live notice. */
  notice(notice: EphemeralEvent): Line[] {
    this.#activity.notice(notice)
    switch (notice.type) {
      case 'text_delta':
        return [...this.#thoughtUp(), ...this.#streamText(notice.data.text)]
      case 'stream_restarted':
        this.#forgetThinking()
        return this.#brokenOff()
      case 'reasoning_delta':
        this.#thinking += notice.data.text
        return []
      // The live region shows what is running; an Event reports pressure; the chat shows the question itself.
      case 'tool_progress':
      case 'status':
      case 'context_pressure':
      case 'permission_requested':
      case 'permission_settled':
        return []
      default:
        return notice satisfies never
    }
  }

  /** What is running. */
  get activity(): ActivityFacts {
    return this.#activity.facts
  }

  /** Text was added to the running Turn; it is shown here until it is in the Log. */
  addSteering(text: string): void {
    this.#activity.addSteering(text)
  }

  /** The text returned to the input before it was recorded. */
  forgetSteering(text: string): void {
    this.#activity.forgetSteering(text)
  }

  /** As far as this process knows, nothing is running. */
  rest(): void {
    this.#activity.rest()
  }

  /** The rows of an answer that may still change. */
  open(): Line[] {
    if (this.#answer === undefined) return []
    const rows = this.#answer.stream.pending()
    return this.#answer.hasBegun || rows.length === 0 ? rows : [[], ...rows]
  }

  /** Rows that were returned stay unchanged; later ones use the new width. */
  resize(columns: number): void {
    this.#columns = columns
    if (this.#answer === undefined) return
    const stream = new MarkdownStream(columns)
    // Which part of a text is final does not depend on the width, so these rows were already returned.
    stream.push(this.#answer.text)
    this.#answer = { ...this.#answer, stream }
  }

  /** Thinking precedes the answer that it led to, although both are recorded when the answer is complete. */
  #thoughtUp(): Line[] {
    const text = this.#thinking
    if (text === '') return []
    this.#thinking = ''
    this.#thought += text
    return thinkingRows(text, this.#columns)
  }

  /** Whether the thinking of an Event was returned while it arrived; a vendor may separate its parts differently. */
  #wasShown(text: string): boolean {
    this.#thinking = ''
    return text !== '' && withoutSpaces(this.#thought).includes(withoutSpaces(text))
  }

  #forgetThinking(): void {
    this.#thinking = ''
    this.#thought = ''
  }

  #streamText(text: string): Line[] {
    this.#answer ??= { text: '', stream: new MarkdownStream(this.#columns), hasBegun: false }
    const answer = this.#answer
    answer.text += text
    return this.#beginAnswer(answer.stream.push(text))
  }

  #answerRows(event: WholeEvent<'assistant_message'>, events: readonly WholeEvent[]): Line[] {
    const { text, partial } = event.data
    const seen = this.#answer?.text
    if (seen === undefined || seen === '') return translate(event, events, this.#columns)
    if (!text.startsWith(seen)) {
      return [...this.#brokenOff(), ...translate(event, events, this.#columns)]
    }
    const rest = this.#streamText(text.slice(seen.length))
    return [...rest, ...this.#end(), ...(partial === true ? [BROKEN_OFF] : [])]
  }

  #end(): Line[] {
    const rows = this.#beginAnswer(this.#answer?.stream.end() ?? [])
    this.#answer = undefined
    return rows
  }

  #brokenOff(): Line[] {
    return this.#answer === undefined ? [] : [...this.#end(), BROKEN_OFF]
  }

  /** Separates an answer from what is above it. */
  #beginAnswer(rows: readonly Line[]): Line[] {
    if (rows.length === 0 || this.#answer === undefined || this.#answer.hasBegun) return [...rows]
    this.#answer.hasBegun = true
    return [[], ...rows]
  }
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/g, '')
}
