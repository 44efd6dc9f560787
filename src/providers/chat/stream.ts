import { sha256 } from '../../encoding/hash.ts'
import { canonicalJson, isJsonObject, parseJson } from '../../encoding/json.ts'
import type { ServerSentEvent } from '../../encoding/server-sent-events.ts'
import { failed, type ErrorKind } from '../../model/errors.ts'
import {
  CONTRADICTION,
  errorEvent,
  faultEvent,
  rawFacts,
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
import {
  readEvent,
  type ChatEvent,
  type VendorCallDelta,
  type VendorChunk,
  type VendorDelta,
} from './schema.ts'
import { usageOf, type ChatUsage } from './usage.ts'

/** A model behind OpenAI's Chat Completions API or a compatible server. */
export function chatProvider(options: ProviderOptions): Provider {
  const stream = streamAnswer({
    send: openaiSender('chat', options),
    reader: chatReader,
    options,
  })
  return { dialect: 'chat', encode, buildBody, stream }
}

/**
 * Translates the events of one answer. Items are complete when the finish reason arrives; the answer ends with the usage
 * figures or `[DONE]`, whichever comes first. Reasoning is shown but not kept.
 */
export function chatReader(): AnswerReader {
  return new ChatReader()
}

/** A call as far as its deltas have arrived. */
interface OpenCall {
  readonly index: number
  id: string
  name: string
  arguments: string
}

class ChatReader implements AnswerReader {
  #ended = false
  #text = ''
  #refusal = ''
  readonly #calls: OpenCall[] = []
  /** The last call that began at each index. */
  readonly #open = new Map<number, OpenCall>()
  #stopReason: string | undefined
  #lostCalls = 0
  /** The first chunk with an id, or the last chunk. */
  #first: VendorChunk | undefined
  #usage: ChatUsage = {}
  readonly #length = new AnswerLength()

  get progress(): number {
    return this.#length.length
  }

  take({ data }: Pick<ServerSentEvent, 'data'>): Answer {
    if (this.#ended) return []
    const read = readEvent(data)
    const events = read.ok ? this.#understand(read.value) : [errorEvent(read)]
    this.#ended = events.some(isEnd)
    return events
  }

  #understand(event: ChatEvent): Answer {
    switch (event.type) {
      case 'fault':
        return [faultEvent(event.value)]
      case 'end':
        return this.#stopReason === undefined ? CUT_OFF : [this.#done(this.#stopReason)]
      case 'chunk':
        return this.#readChunk(event)
    }
  }

  #readChunk(chunk: VendorChunk): Answer {
    // Some servers start with a chunk without an id.
    if (!this.#first?.id) this.#first = chunk
    const events: ProviderEvent[] = []
    for (const { index, delta, finish_reason } of chunk.choices ?? []) {
      // Only one choice was requested.
      if (index !== 0) continue
      for (const event of [...this.#write(delta), ...this.#stop(finish_reason)]) {
        events.push(event)
        if (event.type === 'error') return events
      }
    }
    if (!chunk.usage) return events
    this.#usage = chunk.usage
    return this.#stopReason === undefined ? events : [...events, this.#done(this.#stopReason)]
  }

  #write(delta: VendorDelta | null | undefined): Answer {
    if (!delta) return []
    const { content, refusal } = delta
    const calls = delta.tool_calls ?? []
    const reasoning = delta.reasoning_content || delta.reasoning
    // Some servers send empty deltas after the end of the text.
    const silent = content === '' && refusal === '' && reasoning === '' && calls.length === 0
    if (silent) return []
    if (this.#stopReason !== undefined) return CONTRADICTION
    const pieces = [content, refusal, reasoning, ...calls.flatMap((call) => this.#piecesOf(call))]
    if (!this.#length.fits(pieces.join('').length)) return ANSWER_TOO_LONG
    this.#text += content
    this.#refusal += refusal
    if (!calls.every((call) => this.#collect(call))) return CONTRADICTION
    return [
      ...(reasoning === '' ? [] : [{ type: 'reasoning_delta', text: reasoning } as const]),
      ...(content === '' ? [] : [{ type: 'text_delta', text: content } as const]),
    ]
  }

  /** The pieces of a delta that are kept. A possible new call counts at least as much as the longest name. */
  #piecesOf({ index, id, function: delta }: VendorCallDelta): string[] {
    const { name, arguments: text } = delta ?? { name: '', arguments: '' }
    const begins = name !== '' || !this.#open.has(index)
    return [id, begins ? name.padEnd(NAME_LENGTH) : name, text]
  }

  /** False if a delta starts another call before the current one is complete, or changes the identity of a call. */
  #collect({ index, id, function: delta }: VendorCallDelta): boolean {
    const { name, arguments: text } = delta ?? { name: '', arguments: '' }
    const open = this.#open.get(index)
    if (open === undefined || isAnother(open, id, name)) {
      const sameId = id !== '' && id === open?.id
      if (open !== undefined && (sameId || !isWhole(open.arguments))) return false
      const call = { index, id, name, arguments: text }
      this.#calls.push(call)
      this.#open.set(index, call)
      return true
    }
    open.id ||= id
    open.name ||= name
    open.arguments += text
    return true
  }

  #stop(reason: string): Answer {
    if (reason === '') return []
    if (this.#stopReason !== undefined) return reason === this.#stopReason ? [] : CONTRADICTION
    this.#stopReason = reason
    if (this.#refusal !== '') return [refusalEvent('refusal', { explanation: this.#refusal })]
    const kind = STOPPED_BY.get(reason.toLowerCase())
    if (kind !== undefined) return [errorEvent(failed(kind, STOPPED[kind], { reason }))]
    const { whole, calls: announced } = endOf(reason)
    // An unknown reason may have cut off the call that the model was writing.
    const calls = whole ? this.#calls : []
    const missing = announced === true && this.#calls.length === 0 ? 1 : 0
    this.#lostCalls = this.#calls.length - calls.length + missing
    if (calls.some(({ name }) => name === '')) return CONTRADICTION
    const items = calls
      .toSorted((a, b) => a.index - b.index)
      .map((call, place) => this.#item(call, place))
    const text = this.#text === '' ? [] : [{ kind: 'text', text: this.#text } as const]
    return [...text, ...items].map((item) => ({ type: 'item', item }))
  }

  /** Some servers send calls without ids. The generated id depends only on the answer. */
  #item({ id, name, arguments: text }: OpenCall, place: number): AnswerItem {
    const made = () => sha256(canonicalJson([this.#first?.id, place, name, text])).slice(0, 16)
    const call_id = id === '' ? `call_${made()}` : id
    return { kind: 'tool_call', call_id, name, arguments: text === '' ? '{}' : text }
  }

  #done(stop_reason: string): ProviderEvent {
    const { id, model, service_tier } = this.#first ?? {}
    const raw = rawFacts({ id, model, service_tier }, this.#usage, COUNTED)
    const cut = cutOf(endOf(stop_reason).reason, this.#lostCalls)
    return { type: 'done', stop_reason, ...cut, usage: usageOf(this.#usage), raw }
  }
}

const NAME_LENGTH = 64

/**
 * Whether a delta starts another call at the index of an open one. Many servers send every call with index 0, so only name and
 * id distinguish them; others give every delta of a call a new id, but send the name once.
 */
function isAnother(open: OpenCall, id: string, name: string): boolean {
  if (name === '' || open.name === '') return false
  return name !== open.name || (id !== '' && open.id !== '' && id !== open.id)
}

/** No proper prefix of a JSON object is itself a JSON object. */
function isWhole(text: string): boolean {
  return text === '' || isJsonObject(parseJson(text))
}

interface End {
  readonly whole: boolean
  readonly reason?: Cut['reason']
  /** The answer must contain calls. */
  readonly calls?: true
}

function endOf(reason: string): End {
  return ENDS.get(reason.toLowerCase()) ?? { whole: false, reason: 'unknown_reason' }
}

/** The vendor's finish reasons, then those of compatible servers. `STOPPED_BY` has those that are errors. */
const ENDS: ReadonlyMap<string, End> = new Map([
  ['stop', { whole: true }],
  ['tool_calls', { whole: true, calls: true }],
  ['function_call', { whole: true, calls: true }],
  ['length', { whole: false, reason: 'output_limit' }],
  ['eos', { whole: true }],
  ['eos_token', { whole: true }],
  ['end_turn', { whole: true }],
  ['stop_sequence', { whole: true }],
  ['tool_use', { whole: true, calls: true }],
  ['max_tokens', { whole: false, reason: 'output_limit' }],
])

/** Finish reasons that are errors. All but the first are those of compatible servers. */
const STOPPED_BY: ReadonlyMap<string, keyof typeof STOPPED> = new Map([
  ['content_filter', 'refused'],
  ['sensitive', 'refused'],
  ['model_length', 'context_overflow'],
  ['model_context_window_exceeded', 'context_overflow'],
  ['insufficient_system_resource', 'overloaded'],
  ['network_error', 'overloaded'],
  ['error', 'invalid_response'],
])

const STOPPED = {
  refused: 'The model refused to answer.',
  context_overflow: 'The answer exceeds the context window of the model.',
  overloaded: 'The server stopped in the middle of the answer.',
  invalid_response: 'The server reported an error without a reason.',
} as const satisfies Partial<Record<ErrorKind, string>>

const COUNTED: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'prompt_cache_hit_tokens',
  'completion_tokens',
  'reasoning_tokens',
])

function isEnd({ type }: ProviderEvent): boolean {
  return type === 'done' || type === 'error'
}

const CUT_OFF: Answer = [
  errorEvent(failed('invalid_response', 'The response ended without a finish reason.')),
]
