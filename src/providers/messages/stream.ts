import { isJsonObject, parseJson } from '../../encoding/json.ts'
import type { ServerSentEvent } from '../../encoding/server-sent-events.ts'
import { failed } from '../../model/errors.ts'
import {
  CONTRADICTION,
  errorEvent,
  faultEvent,
  rawFacts,
  refusalEvent,
  type Answer,
  type AnswerReader,
} from '../answer-reader.ts'
import { anthropicSender } from '../anthropic-client.ts'
import { streamAnswer, type ProviderOptions } from '../call.ts'
import { cutOf } from '../cut.ts'
import type { AnswerItem, Cut, Provider, ProviderEvent } from '../provider.ts'
import { ANSWER_TOO_LONG, AnswerLength } from '../answer-length.ts'
import { buildBody, encode } from './encode.ts'
import {
  readEvent,
  type VendorBlock,
  type Delta,
  type MessagesEvent,
  type StopDetails,
  type VendorMessage,
} from './schema.ts'
import { laterUsage, usageOf, type MessagesUsage } from './usage.ts'

/** A model behind Anthropic's Messages API or a compatible server. */
export function messagesProvider(options: ProviderOptions): Provider {
  const stream = streamAnswer({
    send: anthropicSender(options),
    reader: messagesReader,
    options,
  })
  return { dialect: 'messages', encode, buildBody, stream }
}

/** Translates the events of one answer, by the type inside their data. */
export function messagesReader(): AnswerReader {
  return new MessagesReader()
}

/** A block that has started and not ended. */
interface OpenBlock {
  readonly place: number
  readonly block: VendorBlock
  /** The content of its deltas: text, thinking, or arguments. */
  text: string
  signature: string
}

/** An item that is emitted at the end of the answer, unless the end cuts it off. */
interface HeldItem {
  readonly place: number
  readonly item: AnswerItem
  readonly whole: boolean
}

class MessagesReader implements AnswerReader {
  #ended = false
  #message: VendorMessage | undefined
  /** Blocks do not overlap. */
  #open: OpenBlock | undefined
  /** The index of the last block that started. */
  #place = -1
  readonly #calls = new Set<string>()
  /** Whether there were blocks of tools that the vendor runs itself; they cannot be sent back. */
  #strangers = false
  #emittedAny = false
  readonly #heldItems: HeldItem[] = []
  readonly #length = new AnswerLength()
  #stopReason: string | undefined
  #usage: MessagesUsage = {}

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

  #read(event: MessagesEvent, length: number): Answer {
    return this.#length.fits(heldOf(event, length)) ? this.#understand(event) : ANSWER_TOO_LONG
  }

  #understand(event: MessagesEvent): Answer {
    if (event.type === 'other') return []
    // An error is reported whatever came before it: the reason of a failure matters more than the order of events.
    if (event.type === 'error') return [faultEvent(event)]
    if ((this.#message === undefined) !== (event.type === 'message_start')) return CONTRADICTION
    switch (event.type) {
      case 'message_start':
        this.#message = event.message
        this.#count(event.message.usage)
        return []
      case 'content_block_start':
        return this.#start(event.index, event.content_block)
      case 'content_block_delta':
        return this.#write(event.index, event.delta)
      case 'content_block_stop':
        return this.#close(event.index)
      case 'message_delta':
        this.#count(event.usage)
        return this.#stop(event.delta.stop_reason ?? undefined, event.delta.stop_details ?? {})
      case 'message_stop':
        return this.#end()
    }
  }

  #count(usage: MessagesUsage | null | undefined): void {
    this.#usage = laterUsage(this.#usage, usage ?? {})
  }

  #start(place: number, block: VendorBlock): Answer {
    const inOrder = this.#open === undefined && place > this.#place
    if (!inOrder || this.#stopReason !== undefined) return CONTRADICTION
    if (block.type === 'tool_use') {
      if (this.#calls.has(block.id)) return CONTRADICTION
      this.#calls.add(block.id)
    }
    this.#place = place
    this.#open = { place, block, text: '', signature: '' }
    // Usually empty, but some servers start a block with content.
    switch (block.type) {
      case 'text':
        return this.#write(place, { type: 'text_delta', text: block.text })
      case 'thinking':
        this.#open.signature = block.signature ?? ''
        return this.#write(place, { type: 'thinking_delta', thinking: block.thinking })
      case 'redacted_thinking':
      case 'tool_use':
      case 'other':
        return []
    }
  }

  #write(place: number, delta: Delta): Answer {
    const open = this.#open
    if (open?.place !== place) return CONTRADICTION
    // Tools that the vendor runs itself, and citations.
    if (open.block.type === 'other' || delta.type === 'other') return []
    if (open.block.type !== BLOCK_OF[delta.type]) return CONTRADICTION
    switch (delta.type) {
      case 'text_delta':
        open.text += delta.text
        return delta.text === '' ? [] : [{ type: 'text_delta', text: delta.text }]
      case 'thinking_delta':
        open.text += delta.thinking
        return delta.thinking === '' ? [] : [{ type: 'reasoning_delta', text: delta.thinking }]
      case 'signature_delta':
        open.signature = delta.signature
        return []
      case 'input_json_delta':
        open.text += delta.partial_json
        return []
    }
  }

  /**
   * An answer that is cut off still closes its last block. So a call with incomplete JSON is held until the stop reason is
   * known, and so is every item after it, because items are emitted in order.
   */
  #close(place: number): Answer {
    const open = this.#open
    if (open?.place !== place) return CONTRADICTION
    this.#open = undefined
    const item = itemOf(open)
    this.#strangers ||= open.block.type === 'other'
    if (item === undefined) return []
    this.#emittedAny = true
    const whole = item.kind !== 'tool_call' || isWhole(open)
    if (whole && this.#heldItems.length === 0) return [{ type: 'item', item }]
    this.#heldItems.push({ place, item, whole })
    return []
  }

  #stop(reason: string | undefined, { category, explanation }: StopDetails): Answer {
    if (this.#open !== undefined) return CONTRADICTION
    if (reason === undefined) return []
    if (this.#stopReason !== undefined && this.#stopReason !== reason) return CONTRADICTION
    this.#stopReason = reason
    if (reason === 'refusal') return [refusalEvent('refusal', { category, explanation })]
    return reason === 'model_context_window_exceeded' ? [overflowError()] : []
  }

  #end(): Answer {
    const stop_reason = this.#stopReason
    if (this.#open !== undefined || stop_reason === undefined) return CONTRADICTION
    const end = ENDS.get(stop_reason) ?? UNKNOWN_END
    if (end.isPaused === true && (this.#strangers || !this.#emittedAny)) return [pausedElsewhere()]
    const items = this.#heldItems.filter(
      ({ place, whole }) => whole || !end.mayCut || place < this.#place,
    )
    const lost = this.#heldItems.length - items.length
    const missing = end.calls === true && this.#calls.size === 0 ? 1 : 0
    const { id, model } = this.#message ?? {}
    const raw = rawFacts({ id, model }, this.#usage, COUNTED)
    return [
      ...items.map(({ item }) => ({ type: 'item', item }) as const),
      {
        type: 'done',
        stop_reason,
        ...cutOf(end.reason, lost + missing),
        ...(end.isPaused === true ? { isPaused: true } : {}),
        usage: usageOf(this.#usage),
        raw,
      },
    ]
  }
}

/** How many characters of an event are kept: the content of a delta, and all of any other event. */
function heldOf(event: MessagesEvent, length: number): number {
  switch (event.type) {
    case 'other':
    case 'error':
      return 0
    case 'content_block_delta':
      return writtenIn(event.delta).length
    case 'message_start':
    case 'content_block_start':
    case 'content_block_stop':
    case 'message_delta':
    case 'message_stop':
      return length
  }
}

function writtenIn(delta: Delta): string {
  switch (delta.type) {
    case 'text_delta':
      return delta.text
    case 'thinking_delta':
      return delta.thinking
    case 'signature_delta':
      return delta.signature
    case 'input_json_delta':
      return delta.partial_json
    case 'other':
      return ''
  }
}

const BLOCK_OF = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
} as const

interface End {
  /** The last call may have been cut off. */
  readonly mayCut: boolean
  readonly reason?: Cut['reason']
  /** The answer must contain calls. */
  readonly calls?: true
  readonly isPaused?: true
}

/** Every stop reason of the vendor's types, except the errors `refusal` and `model_context_window_exceeded`, handled earlier. */
const ENDS: ReadonlyMap<string, End> = new Map([
  ['end_turn', { mayCut: false }],
  ['tool_use', { mayCut: false, calls: true }],
  ['pause_turn', { mayCut: false, isPaused: true }],
  ['stop_sequence', { mayCut: true }],
  ['max_tokens', { mayCut: true, reason: 'output_limit' }],
])
const UNKNOWN_END: End = { mayCut: true, reason: 'unknown_reason' }

/** The item of a block; undefined if it is empty or of another type. */
function itemOf({ block, text: written, signature }: OpenBlock): AnswerItem | undefined {
  switch (block.type) {
    case 'text':
      return written === '' ? undefined : { kind: 'text', text: written }
    case 'thinking': {
      const item = { type: block.type, thinking: written, signature }
      return written === '' && signature === '' ? undefined : { kind: 'reasoning', item }
    }
    case 'redacted_thinking':
      return { kind: 'reasoning', item: block }
    case 'tool_use': {
      const { id, name, input } = block
      const begun = isJsonObject(input) ? JSON.stringify(input) : '{}'
      return { kind: 'tool_call', call_id: id, name, arguments: written || begun }
    }
    case 'other':
      return undefined
  }
}

/** No proper prefix of a JSON object is itself a JSON object. */
function isWhole({ block, text: written }: OpenBlock): boolean {
  if (block.type !== 'tool_use') return true
  const input = written === '' ? block.input : parseJson(written)
  return isJsonObject(input) && (written !== '' || Object.keys(input).length > 0)
}

const COUNTED: ReadonlySet<string> = new Set([
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'thinking_tokens',
])

/** The vendor continues a paused answer only if it is sent back complete. */
function pausedElsewhere(): ProviderEvent {
  const text = 'The provider paused the answer at a point from which Hawser cannot continue it.'
  return errorEvent(failed('invalid_response', text, { reason: 'pause_turn' }))
}

function overflowError(): ProviderEvent {
  return errorEvent(
    failed('context_overflow', 'The answer exceeds the context window of the model.'),
  )
}
