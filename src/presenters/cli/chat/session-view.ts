import type { EphemeralEvent, WholeEvent } from '../../../model/events/event.ts'
import type { Line } from '../text/cell-width.ts'
import { MarkdownStream } from '../text/markdown.ts'
import type { ResourceOf } from '../../../history/session-resources.ts'
import { visibleText } from '../text/visible-text.ts'
import { aside, sentences } from '../screen/rows.ts'
import { callTitle } from '../screen/tool-rows.ts'
import { BROKEN_OFF, translate } from './translate.ts'

/**
 * The view of a live Session: finished rows, returned once, and rows that may still change. The finished rows of an
 * answer are the same whether it was streamed or read from the Log.
 */
export class SessionView {
  readonly #resourceOf: ResourceOf
  #columns: number
  #answer: { text: string; stream: MarkdownStream; begun: boolean } | undefined
  #running = new Map<string, { readonly title: string; progress: string; notice: string }>()
  #steering: string[] = []
  #status = ''

  constructor(columns: number, resourceOf: ResourceOf = () => undefined) {
    this.#columns = columns
    this.#resourceOf = resourceOf
  }

  /** Takes a durable Event. `events` are those of its Turn up to and including it. */
  take(event: WholeEvent, events: readonly WholeEvent[]): Line[] {
    this.#note(event)
    if (event.type === 'assistant_message') return this.#answered(event, events)
    const rows = translate(event, events, this.#columns, this.#resourceOf)
    return event.type === 'turn_ended' ? [...this.#brokenOff(), ...rows] : rows
  }

  /** Takes a live notice. */
  notice(notice: EphemeralEvent): Line[] {
    switch (notice.type) {
      case 'text_delta':
        this.#status = 'answering'
        return this.#streamed(notice.data.text)
      case 'reasoning_delta':
        this.#status = 'thinking'
        return []
      case 'tool_progress': {
        const call = this.#running.get(notice.data.call_id)
        if (call === undefined) return []
        if (notice.data.notice === true) call.notice = visibleText(notice.data.text.trimEnd())
        else call.progress = lastLine(call.progress + notice.data.text)
        return []
      }
      case 'status':
        this.#status = notice.data.text
        return []
      case 'stream_restarted':
        return this.#brokenOff()
      case 'context_pressure': {
        // An Event says the same: a notice, or the compaction.
        return []
      }
      // The chat shows the question itself, and its decision is an Event.
      case 'permission_requested':
      case 'permission_settled':
        return []
    }
  }

  /** Text was added to the running Turn; it is shown here until it is in the Log. */
  steered(text: string): void {
    this.#steering.push(text)
  }

  /** As far as this process knows, nothing is running. */
  rest(): void {
    this.#running.clear()
    this.#status = ''
  }

  /** The rows of an answer that may still change. */
  open(): Line[] {
    if (this.#answer === undefined) return []
    const rows = this.#answer.stream.pending()
    return this.#answer.begun || rows.length === 0 ? rows : [[], ...rows]
  }

  /** What is running, one line each. */
  activity(): Line[] {
    const columns = this.#columns
    const calls = [...this.#running.values()].flatMap(({ title, progress, notice }) => [
      ...sentences(title, { columns, first: '… ' }).slice(0, 2),
      ...(notice === ''
        ? []
        : sentences(notice, { columns, first: '  ', style: { colour: 'yellow' } })),
      ...(progress === ''
        ? []
        : sentences(progress, { columns, first: '  ', style: { dim: true } }).slice(0, 1)),
    ])
    const waiting = this.#steering.map(
      (text): Line => sentences(text, { columns, first: '↳ steering: ', rest: '  ' })[0] ?? [],
    )
    const status = calls.length > 0 || this.#status === '' ? [] : [aside(`… ${this.#status}`)]
    return [...calls, ...status, ...waiting]
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

  #note(event: WholeEvent): void {
    if (event.type === 'provider_request') this.#status = 'waiting for the model'
    if (event.type === 'tool_result') this.#running.delete(event.data.call_id)
    if (event.type === 'shell_result') this.#running.delete(event.data.command_id)
    if (event.type === 'shell_command') {
      const title = `! ${event.data.command.split('\n')[0] ?? ''}`
      this.#running.set(event.data.command_id, { title, progress: '', notice: '' })
    }
    if (event.type === 'tool_call') {
      this.#running.set(event.data.call_id, {
        title: callTitle(event.data),
        progress: '',
        notice: '',
      })
    }
    if (event.type === 'user_message' && event.data.steer === true) {
      this.#steering = without(this.#steering, event.data.text)
    }
    if (event.type === 'turn_ended') this.rest()
  }

  #streamed(text: string): Line[] {
    this.#answer ??= { text: '', stream: new MarkdownStream(this.#columns), begun: false }
    const answer = this.#answer
    answer.text += text
    return this.#begun(answer.stream.push(text))
  }

  #answered(event: WholeEvent<'assistant_message'>, events: readonly WholeEvent[]): Line[] {
    const { text, partial } = event.data
    const seen = this.#answer?.text
    if (seen === undefined || seen === '') return translate(event, events, this.#columns)
    if (!text.startsWith(seen)) {
      return [...this.#brokenOff(), ...translate(event, events, this.#columns)]
    }
    const rest = this.#streamed(text.slice(seen.length))
    return [...rest, ...this.#end(), ...(partial === true ? [BROKEN_OFF] : [])]
  }

  #end(): Line[] {
    const rows = this.#begun(this.#answer?.stream.end() ?? [])
    this.#answer = undefined
    return rows
  }

  #brokenOff(): Line[] {
    return this.#answer === undefined ? [] : [...this.#end(), BROKEN_OFF]
  }

  /** Separates an answer from what is above it. */
  #begun(rows: readonly Line[]): Line[] {
    if (rows.length === 0 || this.#answer === undefined || this.#answer.begun) return [...rows]
    this.#answer.begun = true
    return [[], ...rows]
  }
}

/** More is never shown, and output may be endless. */
const LONGEST_PROGRESS = 500

function lastLine(text: string): string {
  const lines = visibleText(text).split('\n')
  const last = lines.findLast((line) => line.trim() !== '') ?? ''
  const isOpen = lines.at(-1) === last
  return last.slice(-LONGEST_PROGRESS) + (isOpen ? '' : '\n')
}

function without(texts: readonly string[], text: string): string[] {
  const at = texts.indexOf(text)
  return texts.filter((_, index) => index !== at)
}
