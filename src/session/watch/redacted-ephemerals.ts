import type { Redactor, RedactedStream } from '../../encoding/redaction.ts'
import type { EphemeralEvent, EventDraft } from '../../model/events/event.ts'

type Delta = EphemeralEvent<'text_delta' | 'reasoning_delta' | 'tool_progress'>

/**
 * Redacts live output. The deltas of one answer and the progress of one call are streams, because a key may be split
 * over any number of them. Held-back text is emitted before the Event that contains the whole.
 */
export class RedactedEphemerals {
  readonly #redactor: Redactor
  readonly #emit: (event: EphemeralEvent) => void
  readonly #streams = new Map<string, { stream: RedactedStream<string>; last: Delta }>()

  constructor(redactor: Redactor, emit: (event: EphemeralEvent) => void) {
    this.#redactor = redactor
    this.#emit = emit
  }

  publish(event: EphemeralEvent): void {
    if (this.#redactor.keys.length === 0) this.#emit(event)
    else if (isDelta(event)) this.#push(event)
    else this.#emit(this.#redactor.value(event))
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

  #push(delta: Delta): void {
    const name = streamOf(delta)
    const known = this.#streams.get(name)
    const stream = known?.stream ?? this.#redactor.textStream()
    this.#streams.set(name, { stream, last: delta })
    this.#show(delta, stream.push(delta.data.text))
  }

  #end(name: string): void {
    const ended = this.#streams.get(name)
    if (ended === undefined) return
    this.#streams.delete(name)
    this.#show(ended.last, ended.stream.end())
  }

  #show(delta: Delta, text: string): void {
    if (text !== '') this.#emit(withText(delta, text))
  }
}

function isDelta(event: EphemeralEvent): event is Delta {
  const { type } = event
  return type === 'text_delta' || type === 'reasoning_delta' || type === 'tool_progress'
}

function streamOf(delta: Delta): string {
  return delta.type === 'tool_progress' ? callStream(delta.data.call_id) : delta.type
}

function callStream(call_id: string): string {
  return `tool_progress ${call_id}`
}

function withText(delta: Delta, text: string): Delta {
  return delta.type === 'tool_progress'
    ? { ...delta, data: { ...delta.data, text } }
    : { ...delta, data: { ...delta.data, text } }
}
