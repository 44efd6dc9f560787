import type {
  ResponseCreateParamsStreaming,
  ResponseFunctionToolCall,
  ResponseOutputMessage,
  ResponseOutputText,
} from 'openai/resources/responses/responses'
import { piecesOf, type ModelAnswer, type ServedAnswer } from './dialect.ts'
import { toolNameOf } from './namespaces.ts'

type Body = ResponseCreateParamsStreaming

export interface ResponsesAnswer extends ServedAnswer {
  readonly id: string
  readonly output: readonly (ResponseOutputMessage | ResponseFunctionToolCall)[]
}

/** The answer as OpenAI's Responses sends it, with the fields that it repeats from the request. */
export function responsesAnswer(answer: ModelAnswer, body: Body): ResponsesAnswer {
  const { text, calls, end, newId } = answer
  const id = newId('resp')
  const status = end === 'limit' ? 'incomplete' : 'completed'
  const items = [
    ...(text === '' ? [] : [messageItem(text, newId('msg'), status)]),
    ...calls.map((call, index) => {
      // The limit can only cut off the last call.
      const whole = index < calls.length - 1 ? 'completed' : status
      const name = toolNameOf(call.name, body)
      return callItem(call.arguments, name, {
        id: newId('fc'),
        call_id: newId('call'),
        status: whole,
      })
    }),
  ]
  const output = items.map(({ whole }) => whole)
  const begun = { ...commonFields(answer, body), id, status: 'in_progress', output: [] }
  const ended = {
    ...begun,
    status,
    incomplete_details: end === 'limit' ? { reason: 'max_output_tokens' } : null,
    output,
    usage: usageOf(answer),
  }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(({ start, whole, between }, output_index) => [
      { type: 'response.output_item.added', output_index, item: start },
      ...between.map((event) => ({ ...event, output_index, item_id: whole.id })),
      { type: 'response.output_item.done', output_index, item: whole },
    ]),
    { type: `response.${status}`, response: ended },
  ]
  const numbered = events.map((event, sequence_number) => ({ ...event, sequence_number }))
  return { id, output, events: numbered, whole: ended }
}

function commonFields({ model, createdAt }: ModelAnswer, body: Body) {
  return {
    object: 'response',
    created_at: createdAt,
    model,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    ...(typeof body.prompt_cache_key === 'string'
      ? { prompt_cache_key: body.prompt_cache_key }
      : {}),
  }
}

type Status = 'completed' | 'incomplete'

function messageItem(text: string, id: string, status: Status) {
  const message = { type: 'message', id, role: 'assistant' } as const
  const whole: ResponseOutputMessage = { ...message, content: [part(text)], status }
  const between = [
    { type: 'response.content_part.added', part: part('') },
    ...piecesOf(text).map((delta) => ({
      type: 'response.output_text.delta',
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', text, logprobs: [] },
    { type: 'response.content_part.done', part: part(text) },
  ]
  return {
    start: { ...message, content: [], status: 'in_progress' },
    whole: { ...whole, id },
    between: between.map((event) => ({ ...event, content_index: 0 })),
  }
}

function part(text: string): ResponseOutputText {
  return { type: 'output_text', text, annotations: [] }
}

function callItem(
  json: string,
  { name, namespace }: ReturnType<typeof toolNameOf>,
  { id, call_id, status }: { id: string; call_id: string; status: Status },
) {
  const space = namespace === undefined ? {} : { namespace }
  const call = { type: 'function_call', id, call_id, name, ...space } as const
  const whole = { ...call, arguments: json, status }
  return {
    start: { ...call, arguments: '', status: 'in_progress' },
    whole,
    between: [
      ...piecesOf(json).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', name, arguments: json },
    ],
  }
}

function usageOf({ usage: { input, cached_read, cache_write, output } }: ModelAnswer) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached_read, cache_write_tokens: cache_write },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  }
}
