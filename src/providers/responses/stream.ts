import type { ServerSentEvent } from '../../encoding/server-sent-events.ts'
import {
  CONTRADICTION,
  errorEvent,
  faultEvent,
  refusalEvent,
  type Answer,
  type AnswerReader,
} from '../answer-reader.ts'
import { streamAnswer, type ProviderOptions } from '../call.ts'
import { openaiSender } from '../openai-client.ts'
import { cutOf } from '../cut.ts'
import type { AnswerItem, Cut, Provider, ProviderEvent } from '../provider.ts'
import { ANSWER_TOO_LONG, AnswerLength } from '../answer-length.ts'
import { buildBody, encode } from './encode.ts'
import { Deliveries, type ResponsesTransport } from './deliveries.ts'
import { readEvent, type OutputItem, type ResponsesEvent, type VendorResponse } from './schema.ts'
import { usageOf } from './usage.ts'

/** A model behind OpenAI's Responses API or a compatible server. */
export function responsesProvider(options: ResponsesOptions): Provider {
  const stream = streamAnswer({
    send: openaiSender('responses', options),
    reader: responsesReader,
    options,
  })
  const { transport = 'http-sse' } = options
  const deliveries = new Deliveries({ options, transport, http: stream, reader: responsesReader })
  return {
    dialect: 'responses',
    encode,
    buildBody,
    stream,
    delivery: (request) => deliveries.delivery(request),
    leave: (session) => deliveries.leave(session),
  }
}

export interface ResponsesOptions extends ProviderOptions {
  /** HTTP by default. */
  readonly transport?: ResponsesTransport | undefined
}

/** Translates the events of one answer, by the type inside their data: over a socket they have no event name. */
export function responsesReader(): AnswerReader {
  return new ResponsesReader()
}

/** An item that has started and not ended. */
interface OpenItem {
  readonly type: string
  /** The content of its deltas. */
  text: string
}

type EndEvent = Extract<ResponsesEvent, { readonly response: VendorResponse }>

class ResponsesReader implements AnswerReader {
  #hasBegun = false
  #ended = false
  #number = -Infinity
  /** By output index, like `#whole`. */
  readonly #open = new Map<number, OpenItem>()
  readonly #whole = new Map<number, OutputItem>()
  /** The last output index that was emitted. */
  #place = -1
  /** The number of emitted items by key. */
  readonly #emittedItems = new Map<string, number>()
  readonly #calls = new Set<string>()
  #cutCalls = 0
  readonly #length = new AnswerLength()

  get progress(): number {
    return this.#length.length
  }

  take({ data }: Pick<ServerSentEvent, 'data'>): Answer {
    if (this.#ended) return []
    const read = readEvent(data)
    const events = read.ok ? this.#read(read.value, data.length) : [errorEvent(read)]
    this.#ended = events.some(({ type }) => type === 'done' || type === 'error')
    return events
  }

  #read(event: ResponsesEvent, length: number): Answer {
    return this.#length.fits(this.#heldOf(event, length))
      ? this.#understand(event)
      : ANSWER_TOO_LONG
  }

  /** How many characters of an event are kept: the content of a delta, the part of an item beyond its deltas, all of any other. */
  #heldOf(event: ResponsesEvent, length: number): number {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
      case 'response.function_call_arguments.delta':
        return event.delta.length
      case 'response.function_call_arguments.done':
      case 'response.output_item.done':
        return Math.max(0, length - (this.#open.get(event.output_index)?.text.length ?? 0))
      case 'response.created':
      case 'response.output_item.added':
      case 'response.reasoning_summary_part.added':
      case 'response.refusal.done':
        return length
      // Nothing of unknown events is kept, and the end repeats earlier content.
      case 'other':
      case 'error':
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return 0
    }
  }

  #understand(event: ResponsesEvent): Answer {
    if (event.type === 'other') return []
    // An error is reported whatever came before it: the reason of a failure matters more than the order of events.
    if (event.type === 'error') return [faultEvent(event, event.status)]
    if (event.type === 'response.failed') return this.#end(event)
    const { sequence_number: number } = event
    if (typeof number === 'number') {
      if (number <= this.#number) return CONTRADICTION
      this.#number = number
    }
    const first = !this.#hasBegun
    this.#hasBegun = true
    switch (event.type) {
      case 'response.created':
        return first ? [] : CONTRADICTION
      case 'response.output_item.added':
        return this.#add(event.output_index, event.item.type)
      case 'response.output_text.delta':
        return this.#write(event, 'message', 'text_delta')
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#write(event, 'reasoning', 'reasoning_delta')
      case 'response.reasoning_summary_part.added':
        if (event.summary_index === 0) return []
        return this.#write({ ...event, delta: '\n\n' }, 'reasoning', 'reasoning_delta')
      case 'response.function_call_arguments.delta':
        return this.#write(event, 'function_call')
      case 'response.function_call_arguments.done':
        return this.#checkArguments(event.output_index, event.arguments)
      case 'response.refusal.done':
        return [refusalEvent('refusal', { explanation: event.refusal })]
      case 'response.output_item.done':
        return this.#close(event.output_index, event.item)
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(event)
    }
  }

  #add(place: number, type: string): Answer {
    if (!this.#isNew(place)) return CONTRADICTION
    this.#open.set(place, { type, text: '' })
    return []
  }

  #isNew(place: number): boolean {
    return place > this.#place && !this.#open.has(place) && !this.#whole.has(place)
  }

  #write(
    { output_index, delta }: { readonly output_index: number; readonly delta: string },
    to: string,
    type?: 'text_delta' | 'reasoning_delta',
  ): Answer {
    const item = this.#open.get(output_index)
    if (item?.type !== to) return CONTRADICTION
    item.text += delta
    return type === undefined || delta === '' ? [] : [{ type, text: delta }]
  }

  /** Some servers send the arguments at once, without deltas. */
  #checkArguments(place: number, text: string): Answer {
    const item = this.#open.get(place)
    if (item?.type !== 'function_call') return CONTRADICTION
    if (item.text !== '' && item.text !== text) return CONTRADICTION
    item.text = text
    return []
  }

  /** An item may arrive without an announcement. Items are emitted in order, so a complete one may wait for an earlier one. */
  #close(place: number, item: OutputItem): Answer {
    const open = this.#open.get(place)
    if (open === undefined ? !this.#isNew(place) : contradicts(open, item)) return CONTRADICTION
    if (item.type === 'function_call') {
      if (this.#calls.has(item.call_id)) return CONTRADICTION
      this.#calls.add(item.call_id)
    }
    const refusal = refusalIn(item)
    if (refusal !== undefined) return [refusalEvent('refusal', { explanation: refusal })]
    this.#open.delete(place)
    this.#whole.set(place, item)
    return this.#open.size === 0 ? this.#emit() : []
  }

  #emit(): ProviderEvent[] {
    const whole = [...this.#whole].toSorted(([a], [b]) => a - b)
    this.#whole.clear()
    this.#place = whole.at(-1)?.[0] ?? this.#place
    return whole.flatMap(([, output]) => {
      if (isCut(output)) this.#cutCalls += 1
      const item = answerItem(output)
      if (item === undefined) return []
      this.#emittedItems.set(itemKey(item), (this.#emittedItems.get(itemKey(item)) ?? 0) + 1)
      return [{ type: 'item', item }]
    })
  }

  #end({ type, response }: EndEvent): Answer {
    const { status, error, output, incomplete_details: incomplete } = response
    if (type === 'response.failed' || status === 'failed' || status === 'cancelled') {
      return [faultEvent({ error })]
    }
    const cut = type === 'response.incomplete' || status === 'incomplete'
    if (cut && incomplete?.reason === 'content_filter') return [refusalEvent('content_filter', {})]
    if (this.#leftOpen(cut)) return CONTRADICTION
    const all = output ?? []
    // Some servers send their items only here.
    const late = this.#emittedNothing()
      ? all.flatMap((item, place) => this.#close(place, item))
      : []
    const wrong = late.find((event) => event.type === 'error')
    if (wrong !== undefined) return [wrong]
    const items = [...late, ...this.#emit()]
    if (!cut && (this.#cutCalls > 0 || !this.#emittedAll(all))) return CONTRADICTION
    const stop_reason = cut ? (incomplete?.reason ?? 'incomplete') : 'completed'
    const lost = this.#cutCalls + this.#openCalls()
    return [
      ...items,
      {
        type: 'done',
        stop_reason,
        ...cutOf(cut ? cutReason(stop_reason) : undefined, lost),
        usage: usageOf(response.usage ?? undefined),
        raw: rawOf(response),
      },
    ]
  }

  #openCalls(): number {
    return [...this.#open.values()].filter(({ type }) => type === 'function_call').length
  }

  /** If an answer was cut off, a call or reasoning may be left open; but text that was shown must have become an item. */
  #leftOpen(cut: boolean): boolean {
    const open = [...this.#open.values()]
    return open.some(({ type, text: written }) => !cut || (type === 'message' && written !== ''))
  }

  #emittedNothing(): boolean {
    return this.#place === -1 && this.#whole.size === 0 && this.#open.size === 0
  }

  #emittedAll(output: readonly OutputItem[]): boolean {
    const left = new Map(this.#emittedItems)
    for (const item of output.map(answerItem)) {
      if (item === undefined) continue
      const count = left.get(itemKey(item)) ?? 0
      if (count === 0) return false
      left.set(itemKey(item), count - 1)
    }
    return true
  }
}

/** `content_filter` is an error and handled earlier; the vendor's types have no other reason. */
function cutReason(stop_reason: string): Cut['reason'] {
  return stop_reason === 'max_output_tokens' ? 'output_limit' : 'unknown_reason'
}

/** The final item replaces its deltas, but it must not lose text, and a call must not change. */
function contradicts({ type, text: written }: OpenItem, item: OutputItem): boolean {
  if (type !== (item.type === 'other' ? item.of : item.type)) return true
  if (item.type === 'function_call') return written !== '' && written !== item.arguments
  return (
    item.type === 'message' &&
    written !== '' &&
    refusalIn(item) === undefined &&
    messageText(item) === ''
  )
}

/** The item to emit; undefined if it is empty, of another type, or a call that was cut off. */
function answerItem(item: OutputItem): AnswerItem | undefined {
  switch (item.type) {
    case 'message': {
      const text = messageText(item)
      const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
      return text === '' ? undefined : { kind: 'text', text, ...phase }
    }
    case 'reasoning':
      return { kind: 'reasoning', item }
    case 'function_call': {
      const { call_id, name, arguments: text } = item
      if (isCut(item)) return undefined
      return { kind: 'tool_call', call_id, name, arguments: text === '' ? '{}' : text }
    }
    case 'other':
      return undefined
  }
}

function messageText({ content }: Extract<OutputItem, { type: 'message' }>): string {
  return content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
}

function refusalIn(item: OutputItem): string | undefined {
  if (item.type !== 'message') return undefined
  return item.content.find((part) => part.type === 'refusal')?.refusal
}

function isCut(item: OutputItem): boolean {
  return item.type === 'function_call' && (item.status ?? 'completed') !== 'completed'
}

/** Only calls have ids that are the same in all events. */
function itemKey(item: AnswerItem): string {
  return item.kind === 'tool_call' ? `call ${item.call_id}` : item.kind
}

/** Longer strings are dropped. */
const RAW_LENGTH = 200

function rawOf({ id, model, service_tier, usage }: VendorResponse): Record<string, unknown> {
  const all = { id, model, service_tier, total_tokens: usage?.total_tokens }
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) =>
      typeof value === 'string' ? value.length <= RAW_LENGTH : typeof value === 'number',
    ),
  )
}
