import type { Redactor, RedactedStream } from '../../encoding/redaction.ts'
import type { EphemeralEvent, EventDraft } from '../../model/events/event.ts'

type Delta = EphemeralEvent<'text_delta' | 'reasoning_delta' | 'tool_progress'>

/**
 * Redacts live output. The deltas of one answer and the progress of one call are streams, because a key may be split
 * over any number of them. Held-back text is emitted before the Event that contains the whole.
 */
export class RedactedNotices {
  readonly #redactor: Redactor
  readonly #emit: (notice: EphemeralEvent) => void
  readonly #streams = new Map<string, { stream: RedactedStream<string>; last: Delta }>()

  constructor(redactor: Redactor, emit: (notice: EphemeralEvent) => void) {
    this.#redactor = redactor
    this.#emit = emit
  }

  notice(notice: EphemeralEvent): void {
    if (this.#redactor.keys.length === 0) this.#emit(notice)
    else if (isDelta(notice)) this.#push(notice)
    else this.#emit(this.#redactor.value(notice))
  }

  /** Call this before `drafts` become Events: it ends the streams that they complete. */
  endWith(drafts: readonly EventDraft[]): void {
    for (const { type, data } of drafts) {
      if (type === 'tool_result') this.#end(callStream(data.call_id))
    }
    // Nothing is recorded while a model is streaming.
    this.#end('text_delta')
    this.#end('reasoning_delta')
  }

  #push(notice: Delta): void {
    const name = streamOf(notice)
    const known = this.#streams.get(name)
    const stream = known?.stream ?? this.#redactor.textStream()
    this.#streams.set(name, { stream, last: notice })
    this.#show(notice, stream.push(notice.data.text))
  }

  #end(name: string): void {
    const ended = this.#streams.get(name)
    if (ended === undefined) return
    this.#streams.delete(name)
    this.#show(ended.last, ended.stream.end())
  }

  #show(notice: Delta, text: string): void {
    if (text !== '') this.#emit(withText(notice, text))
  }
}

function isDelta(notice: EphemeralEvent): notice is Delta {
  const { type } = notice
  return type === 'text_delta' || type === 'reasoning_delta' || type === 'tool_progress'
}

function streamOf(notice: Delta): string {
  return notice.type === 'tool_progress' ? callStream(notice.data.call_id) : notice.type
}

function callStream(call_id: string): string {
  return `tool_progress ${call_id}`
}

function withText(notice: Delta, text: string): Delta {
  return notice.type === 'tool_progress'
    ? { ...notice, data: { ...notice.data, text } }
    : { ...notice, data: { ...notice.data, text } }
}
