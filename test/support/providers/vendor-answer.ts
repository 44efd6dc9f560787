import type { CallUsage } from '../../../src/providers/provider.ts'
import { eventErrors, type VendorDialect } from './vendor-schemas.ts'

/** An answer of a model, independent of the vendor. Its parts are sent in this order; absent ones are omitted. */
export interface VendorAnswer {
  /** Chat Completions cannot express it: there it counts only in the usage. */
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly VendorCall[]
  readonly usage?: Partial<CallUsage>
  /** The vendor's reason why the answer was truncated: `max_tokens`, `max_output_tokens`, `length`, … */
  readonly stop?: string
}

export interface VendorCall {
  readonly id: string
  readonly name: string
  /** As the model wrote them, complete or not. */
  readonly arguments: string
}

export type VendorEvent = Readonly<Record<string, unknown>>

const MODEL = 'model-of-a-vendor'
const CREATED = 1_769_860_800
/** The number of pieces of a part that is long enough. */
const PIECES = 3

/** The bytes of an answer as the vendor streams them. */
export function sseOf(dialect: VendorDialect, answer: VendorAnswer): Buffer {
  const frames = eventsOf(dialect, answer).map((event) => {
    const name = dialect === 'chat' ? '' : `event: ${String(event['type'])}\n`
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  return Buffer.from([...frames, ...(dialect === 'chat' ? ['data: [DONE]\n\n'] : [])].join(''))
}

/** The events of an answer. Throws if one does not match the vendor's types, for example because of an unknown `stop`. */
export function eventsOf(dialect: VendorDialect, answer: VendorAnswer): VendorEvent[] {
  const events = { messages, responses, chat }[dialect](answer)
  const wrong = events.flatMap((event) => eventErrors(dialect, event))
  if (wrong.length > 0) throw new Error(`invalid event of ${dialect}: ${wrong.join('; ')}`)
  return events
}

function messages({ reasoning, text, calls = [], usage, stop }: VendorAnswer): VendorEvent[] {
  const { input, cached_read, cache_write, output, reasoning: thought } = usageOf(usage)
  const counts = {
    input_tokens: input - cached_read - cache_write,
    cache_creation_input_tokens: cache_write,
    cache_read_input_tokens: cached_read,
    server_tool_use: null,
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [],
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason: null,
    stop_sequence: null,
    usage: {
      ...counts,
      cache_creation: { ephemeral_5m_input_tokens: cache_write, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: null,
      inference_geo: null,
      service_tier: 'standard',
      speed: null,
    },
  }
  const blocks = [
    ...(reasoning === undefined
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              ...pieces(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
              { type: 'signature_delta', signature: 'c2lnbmVk' },
            ],
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            start: { type: 'text', text: '', citations: null },
            deltas: pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]),
    ...calls.map(({ id, name, arguments: json }) => ({
      start: { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } },
      deltas: ['', ...pieces(json)].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      })),
    })),
  ]
  const delta = {
    container: null,
    stop_details: null,
    stop_reason: stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
  }
  const total = {
    ...counts,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thought },
  }
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((each) => ({ type: 'content_block_delta', index, delta: each })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta, usage: total },
    { type: 'message_stop' },
  ]
}

function responses({ reasoning, text, calls = [], usage, stop }: VendorAnswer): VendorEvent[] {
  const items = [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning)]),
    ...(text === undefined ? [] : [messageItem(text, stop)]),
    ...calls.map((call, index) => callItem(call, index, stop)),
  ]
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: CREATED,
    model: MODEL,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output: [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
  }
  const { input, cached_read, cache_write, output, reasoning: thought } = usageOf(usage)
  const ended = {
    ...response,
    status: stop === undefined ? 'completed' : 'incomplete',
    incomplete_details: stop === undefined ? null : { reason: stop },
    output: items.map(({ whole }) => whole),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached_read, cache_write_tokens: cache_write },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: thought },
      total_tokens: input + output,
    },
  }
  const events = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...items.flatMap(({ begun, whole, between }, output_index) => [
      { type: 'response.output_item.added', output_index, item: begun },
      ...between.map((event) => ({ ...event, output_index, item_id: whole.id })),
      { type: 'response.output_item.done', output_index, item: whole },
    ]),
    { type: `response.${ended.status}`, response: ended },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function reasoningItem(text: string) {
  const begun = { type: 'reasoning', id: 'rs_1', summary: [] }
  const part = (written: string) => ({ type: 'summary_text', text: written })
  const events = [
    { type: 'response.reasoning_summary_part.added', part: part('') },
    ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', delta })),
    { type: 'response.reasoning_summary_text.done', text },
    { type: 'response.reasoning_summary_part.done', part: part(text) },
  ]
  return {
    begun,
    whole: { ...begun, summary: [part(text)], encrypted_content: 'c2VhbGVk' },
    between: events.map((event) => ({ ...event, summary_index: 0 })),
  }
}

function messageItem(text: string, stop: string | undefined) {
  const begun = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
  const part = (written: string) => ({ type: 'output_text', text: written, annotations: [] })
  const events = [
    { type: 'response.content_part.added', part: part('') },
    ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', delta, logprobs: [] })),
    { type: 'response.output_text.done', text, logprobs: [] },
    { type: 'response.content_part.done', part: part(text) },
  ]
  return {
    begun: { ...begun, status: 'in_progress' },
    whole: { ...begun, content: [part(text)], status: statusOf(stop) },
    between: events.map((event) => ({ ...event, content_index: 0 })),
  }
}

function callItem(
  { id, name, arguments: json }: VendorCall,
  index: number,
  stop: string | undefined,
) {
  const begun = { type: 'function_call', id: `fc_${index + 1}`, call_id: id, name }
  return {
    begun: { ...begun, arguments: '', status: 'in_progress' },
    whole: { ...begun, arguments: json, status: statusOf(stop) },
    between: [
      ...pieces(json).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', name, arguments: json },
    ],
  }
}

function statusOf(stop: string | undefined): string {
  return stop === undefined ? 'completed' : 'incomplete'
}

function chat({ text, calls = [], usage, stop }: VendorAnswer): VendorEvent[] {
  const { input, cached_read, cache_write, output, reasoning } = usageOf(usage)
  const chunk = {
    id: 'chatcmpl_1',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: MODEL,
  }
  const deltas: VendorEvent[] = [
    { role: 'assistant', content: calls.length > 0 && text === undefined ? null : '' },
    ...pieces(text ?? '').map((content) => ({ content })),
    ...calls.flatMap(({ id, name, arguments: json }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...pieces(json).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ]
  const choice = (delta: VendorEvent, finish_reason: string | null) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason, logprobs: null }],
    usage: null,
  })
  const total = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached_read, cache_write_tokens: cache_write },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  return [
    ...deltas.map((delta) => choice(delta, null)),
    choice({}, stop ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    { ...chunk, choices: [], usage: total },
  ]
}

function usageOf(given: Partial<CallUsage> = {}): CallUsage {
  return { input: 20, cached_read: 0, cache_write: 0, output: 10, reasoning: 0, ...given }
}

/** Splits a text into pieces that are not empty and do not split a character. */
function pieces(text: string): string[] {
  const characters = Array.from(text)
  const size = Math.ceil(characters.length / PIECES)
  return Array.from({ length: PIECES }, (_, i) =>
    characters.slice(i * size, (i + 1) * size).join(''),
  ).filter((piece) => piece !== '')
}
