import { piecesOf, type ModelAnswer, type ServedAnswer } from './dialect.ts'

/** The answer as OpenAI's Chat Completions sends it. Events carry usage only if the request asked for it. */
export function chatAnswer(answer: ModelAnswer, includeUsage: boolean): ServedAnswer {
  const { model, createdAt: created, text, newId } = answer
  const calls = answer.calls.map(({ name, arguments: json }) => ({ id: newId('call'), name, json }))
  const head = { id: newId('chatcmpl'), created, model }
  const chunk = { ...head, object: 'chat.completion.chunk' }
  const finish_reason = finishReason(answer)
  const choice = (delta: object, reason: string | null) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
    ...(includeUsage ? { usage: null } : {}),
  })
  const deltas = [
    { role: 'assistant', content: text === '' && calls.length > 0 ? null : '', refusal: null },
    ...piecesOf(text).map((content) => ({ content })),
    ...calls.flatMap(({ id, name, json }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...piecesOf(json).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ]
  const usage = usageOf(answer)
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, json }) => ({
            id,
            type: 'function',
            function: { name, arguments: json },
          })),
        }),
  }
  return {
    events: [
      ...deltas.map((delta) => choice(delta, null)),
      choice({}, finish_reason),
      ...(includeUsage ? [{ ...chunk, choices: [], usage }] : []),
    ],
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason, logprobs: null }],
      usage,
    },
  }
}

function finishReason({ end, calls }: ModelAnswer): string {
  if (end === 'limit') return 'length'
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

function usageOf({ usage: { input, cached_read, cache_write, output } }: ModelAnswer) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached_read, cache_write_tokens: cache_write },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}
