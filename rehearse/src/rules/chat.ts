import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import { isJsonObject, parseJson } from '../../../src/encoding/json.ts'
import { firstOf, notRehearsed, wrong, type WireRefusal } from './refusal.ts'
import {
  brokenCommonRule,
  outside,
  tooLong,
  wrongChoice,
  wrongFunctions,
  wrongLimit,
  wrongName,
  type OfferedFunction,
} from './openai.ts'
import type { ValuePath } from './schema-problems.ts'

type Body = ChatCompletionCreateParamsStreaming
type Rule = (body: Body) => WireRefusal | undefined
type Assistant = Extract<ChatCompletionMessageParam, { readonly role: 'assistant' }>

/** The refusals of Chat Completions that go beyond its types. Pictures and documents are checked where they are read. */
export function brokenChatRule(body: Body, streams: boolean): WireRefusal | undefined {
  return firstOf([(params) => brokenCommonRule(params, streams), ...RULES], body)
}

export function offeredIn({ tools = [] }: Body): OfferedFunction[] {
  return tools.flatMap((tool, index) =>
    tool.type === 'function' ? [{ ...tool.function, at: ['tools', index, 'function'] }] : [],
  )
}

const MOST_STOPS = 4

const RULES: readonly Rule[] = [
  ({ messages }) =>
    messages.length === 0 ? wrong(['messages'], 'must not be empty', 'empty_array') : undefined,
  ({ max_tokens, max_completion_tokens }) =>
    max_tokens && max_completion_tokens
      ? wrong(['max_tokens'], 'cannot be combined with max_completion_tokens')
      : undefined,
  ({ max_tokens }) => wrongLimit(['max_tokens'], max_tokens, 1),
  ({ max_completion_tokens }) => wrongLimit(['max_completion_tokens'], max_completion_tokens, 1),
  ({ frequency_penalty }) => outside(['frequency_penalty'], frequency_penalty, -2, 2),
  ({ presence_penalty }) => outside(['presence_penalty'], presence_penalty, -2, 2),
  ({ stop }) =>
    Array.isArray(stop) && stop.length > MOST_STOPS
      ? wrong(['stop'], `must have at most ${MOST_STOPS} members`, 'array_above_max_length')
      : undefined,
  (body) => wrongFunctions(offeredIn(body), body.tools?.length ?? 0),
  withoutTools,
  notOffered,
  emptyContent,
  misspeltCalls,
  unmatchedResults,
]

/** Some fields require tools. */
function withoutTools(body: Body): WireRefusal | undefined {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = body
  if (tools?.length === 0) return wrong(['tools'], 'must not be empty', 'empty_array')
  const field = choice === undefined ? 'parallel_tool_calls' : 'tool_choice'
  if (tools === undefined && (choice !== undefined || parallel !== undefined)) {
    return wrong([field], 'requires tools')
  }
  const named =
    typeof choice === 'object' && 'function' in choice ? choice.function.name : undefined
  return wrongChoice(choice, named, offeredIn(body), tools?.length ?? 0)
}

/** Features that only the vendor's own models have. */
function notOffered(body: Body): WireRefusal | undefined {
  const { n, response_format, modalities, functions, function_call, logprobs } = body
  if (n !== undefined && n !== null && n !== 1)
    return notRehearsed(['n'], 'returns only one answer')
  if (response_format !== undefined && response_format.type !== 'text') {
    return notRehearsed(['response_format'], 'writes plain text only')
  }
  if (modalities?.includes('audio') === true)
    return notRehearsed(['modalities'], 'does not produce audio')
  if (functions !== undefined) return notRehearsed(['functions'], 'supports tools only')
  if (function_call !== undefined) return notRehearsed(['function_call'], 'supports tools only')
  return logprobs ? notRehearsed(['logprobs'], 'does not report probabilities') : undefined
}

/** Only an assistant message with tool calls, and a tool message, may be without text. */
function emptyContent({ messages }: Body): WireRefusal | undefined {
  for (const [index, message] of messages.entries()) {
    const at = ['messages', index, 'content']
    if (message.role === 'tool') continue
    const { content } = message
    if (content === null || content === undefined || content.length === 0) {
      const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
      if (calls.length > 0) continue
      return wrong(at, 'is required and must not be empty, unless there are tool_calls')
    }
    if (typeof content === 'string') continue
    const blank = content.findIndex((part) => part.type === 'text' && part.text === '')
    if (blank >= 0) return wrong([...at, blank, 'text'], 'must not be empty', 'empty_string')
  }
  return undefined
}

const LONGEST_CALL_ID = 40

function misspeltCalls({ messages }: Body): WireRefusal | undefined {
  const ids = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    const at = ['messages', index, 'tool_calls']
    if (message.tool_calls?.length === 0) return wrong(at, 'must not be empty', 'empty_array')
    for (const [place, call] of callsOf(message).entries()) {
      const refusal = misspelt([...at, place], call)
      if (refusal !== undefined) return refusal
      if (ids.has(call.id)) return wrong([...at, place, 'id'], 'call ids must be unique')
      ids.add(call.id)
    }
  }
  return undefined
}

function callsOf({ tool_calls: calls = [] }: Assistant) {
  return calls.flatMap((call) => (call.type === 'function' ? [call] : []))
}

function misspelt(
  at: ValuePath,
  call: ReturnType<typeof callsOf>[number],
): WireRefusal | undefined {
  const { id, function: called } = call
  if (id === '') return wrong([...at, 'id'], 'must not be empty', 'empty_string')
  const refusal =
    tooLong([...at, 'id'], id, LONGEST_CALL_ID) ??
    wrongName([...at, 'function', 'name'], called.name)
  if (refusal !== undefined || isJsonObject(parseJson(called.arguments))) return refusal
  return wrong([...at, 'function', 'arguments'], 'must be a JSON object')
}

/** The calls of an answer must be followed by all their results, and nothing else. */
function unmatchedResults({ messages }: Body): WireRefusal | undefined {
  let open = new Set<string>()
  let callsAt = -1
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (open.delete(message.tool_call_id)) continue
      const at = ['messages', index, 'role']
      return wrong(at, 'a tool message must follow the message with its tool_calls')
    }
    if (open.size > 0) return withoutResults(callsAt, open)
    if (message.role !== 'assistant') continue
    open = new Set(callsOf(message).map(({ id }) => id))
    callsAt = index
  }
  return open.size === 0 ? undefined : withoutResults(callsAt, open)
}

function withoutResults(index: number, open: ReadonlySet<string>): WireRefusal {
  const message = 'must be followed by a tool message for each of its tool_calls'
  return wrong(['messages', index], `${message}; missing: ${[...open].join(', ')}`)
}
