import { parseJson } from '../../src/encoding/json.ts'
import { piecesOf, type ModelAnswer, type ServedAnswer } from './dialect.ts'

/** The answer as Anthropic's Messages sends it. */
export function messagesAnswer(answer: ModelAnswer): ServedAnswer {
  const { model, text, calls, end, newId } = answer
  const blocks = [
    ...(text === '' ? [] : [textBlock(text)]),
    ...calls.map((call) => callBlock(call, newId('toolu'))),
  ]
  const begun = {
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usageOf(answer), output_tokens: 1 },
  }
  const stop = {
    stop_reason: stopReason(answer),
    stop_sequence: typeof end === 'string' ? null : end.stop,
  }
  return {
    events: [
      { type: 'message_start', message: begun },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { container: null, stop_details: null, ...stop },
        usage: deltaUsage(answer),
      },
      { type: 'message_stop' },
    ],
    whole: {
      ...begun,
      ...stop,
      content: blocks.map(({ whole }) => whole),
      usage: usageOf(answer),
    },
  }
}

function stopReason({ end, calls }: ModelAnswer): string {
  if (end === 'limit') return 'max_tokens'
  if (typeof end !== 'string') return 'stop_sequence'
  return calls.length > 0 ? 'tool_use' : 'end_turn'
}

function textBlock(text: string) {
  const block = { type: 'text', citations: null }
  return {
    start: { ...block, text: '' },
    whole: { ...block, text },
    deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
  }
}

function callBlock({ name, arguments: json }: ModelAnswer['calls'][number], id: string) {
  const block = { type: 'tool_use', id, name, caller: { type: 'direct' } }
  return {
    start: { ...block, input: {} },
    // Arguments that the limit cut off are not valid JSON.
    whole: { ...block, input: parseJson(json) ?? {} },
    deltas: ['', ...piecesOf(json)].map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    })),
  }
}

/** `input_tokens` excludes tokens that were read from the cache or written to it. */
function counts({ usage: { input, cached_read, cache_write } }: ModelAnswer) {
  return {
    input_tokens: input - cached_read - cache_write,
    cache_creation_input_tokens: cache_write,
    cache_read_input_tokens: cached_read,
    server_tool_use: null,
  }
}

function usageOf(answer: ModelAnswer) {
  const { cache_write, output } = answer.usage
  return {
    ...counts(answer),
    cache_creation: { ephemeral_5m_input_tokens: cache_write, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: 0 },
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  }
}

function deltaUsage(answer: ModelAnswer) {
  return {
    ...counts(answer),
    output_tokens: answer.usage.output,
    output_tokens_details: { thinking_tokens: 0 },
  }
}
