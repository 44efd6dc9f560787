import type {
  ResponseCreateParamsStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { firstOf, notRehearsed, wrong, type WireRefusal } from './refusal.ts'
import {
  brokenCommonRule,
  tooLong,
  wrongChoice,
  wrongFunctions,
  wrongLimit,
  wrongName,
  type OfferedFunction,
} from './openai.ts'
import type { ValuePath } from './schema-problems.ts'

type Body = ResponseCreateParamsStreaming
type Rule = (body: Body) => WireRefusal | undefined

/** An item of the input and its place; an item of an earlier response has no place. */
export interface PlacedItem {
  readonly at?: ValuePath
  readonly item: ResponseInputItem
}

/** The refusals of Responses that go beyond its types and do not depend on earlier responses. */
export function brokenResponsesRule(body: Body, streams: boolean): WireRefusal | undefined {
  return firstOf([(params) => brokenCommonRule(params, streams), ...RULES], body)
}

/** The refusals that depend on all items, including those of earlier responses. */
export function brokenInputRule(items: readonly PlacedItem[]): WireRefusal | undefined {
  return firstOf(INPUT_RULES, items)
}

export function functionsOf({ tools = [] }: Body): OfferedFunction[] {
  return tools.flatMap((tool, index) =>
    tool.type === 'function' ? [{ ...tool, at: ['tools', index] }] : [],
  )
}

const SHORTEST_ANSWER = 16

const RULES: readonly Rule[] = [
  ({ input, previous_response_id, prompt, conversation }) =>
    input === undefined && !previous_response_id && !prompt && !conversation
      ? wrong(['input'], 'is required', 'missing_required_parameter')
      : undefined,
  ({ input, previous_response_id }) =>
    input?.length === 0 && !previous_response_id
      ? wrong(['input'], 'must not be empty', 'empty_array')
      : undefined,
  ({ max_output_tokens }) => wrongLimit(['max_output_tokens'], max_output_tokens, SHORTEST_ANSWER),
  (body) => wrongFunctions(functionsOf(body), body.tools?.length ?? 0),
  (body) => {
    const { tool_choice: choice, tools = [] } = body
    const named = typeof choice === 'object' && choice.type === 'function' ? choice.name : undefined
    return wrongChoice(choice, named, functionsOf(body), tools.length)
  },
  ({ previous_response_id, conversation }) =>
    previous_response_id && conversation
      ? wrong(['previous_response_id'], 'cannot be combined with conversation')
      : undefined,
  ({ background }) =>
    background ? notRehearsed(['background'], 'does not answer in the background') : undefined,
  ({ conversation }) =>
    conversation ? notRehearsed(['conversation'], 'does not store conversations') : undefined,
  ({ prompt }) => (prompt ? notRehearsed(['prompt'], 'does not store prompts') : undefined),
  ({ text }) =>
    text?.format && text.format.type !== 'text'
      ? notRehearsed(['text', 'format'], 'writes plain text only')
      : undefined,
]

const INPUT_RULES: readonly ((items: readonly PlacedItem[]) => WireRefusal | undefined)[] = [
  misspeltId,
  emptyMessage,
  unmatchedCalls,
  loneReasoning,
]

const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  reasoning: 'rs',
}

function misspeltId(items: readonly PlacedItem[]): WireRefusal | undefined {
  for (const { at = [], item } of items) {
    if (item.type === 'item_reference') {
      return notRehearsed([...at, 'id'], 'needs items with their content, not by id')
    }
    const id = 'id' in item ? item.id : undefined
    const prefix = ID_PREFIXES[item.type ?? 'message']
    if (typeof id === 'string' && prefix !== undefined && !id.startsWith(prefix)) {
      return wrong([...at, 'id'], `must start with ${prefix}`)
    }
  }
  return undefined
}

function emptyMessage(items: readonly PlacedItem[]): WireRefusal | undefined {
  for (const { at = [], item } of items) {
    if (!('role' in item) || !('content' in item)) continue
    const place = [...at, 'content']
    const { content, role } = item
    if (content.length === 0) return wrong(place, 'must not be empty', 'empty_array')
    if (typeof content === 'string') {
      if (content.trim() === '') return wrong(place, 'must contain more than whitespace')
      continue
    }
    for (const [index, part] of content.entries()) {
      const isAnswer = part.type === 'output_text' || part.type === 'refusal'
      if (isAnswer !== (role === 'assistant')) {
        return wrong([...place, index, 'type'], `${part.type} is not allowed in a ${role} message`)
      }
      if ('text' in part && part.text.trim() === '') {
        return wrong([...place, index, 'text'], 'must contain more than whitespace')
      }
    }
  }
  return undefined
}

const LONGEST_CALL_ID = 64

/** Every call must be followed by one result, and every result must follow its call. */
function unmatchedCalls(items: readonly PlacedItem[]): WireRefusal | undefined {
  const known = new Set<string>()
  const open = new Set<string>()
  for (const { at = [], item } of items) {
    if (item.type !== 'function_call' && item.type !== 'function_call_output') continue
    const { call_id } = item
    const place = [...at, 'call_id']
    const long = tooLong(place, call_id, LONGEST_CALL_ID)
    if (long !== undefined) return long
    if (call_id === '') return wrong(place, 'must not be empty', 'empty_string')
    if (item.type === 'function_call') {
      const name = wrongName([...at, 'name'], item.name)
      if (name !== undefined) return name
      if (known.has(call_id)) return ofInput(`two calls have the call_id ${call_id}`)
      known.add(call_id)
      open.add(call_id)
    } else if (!open.delete(call_id)) {
      return ofInput(`there is no call for the function call output with call_id ${call_id}`)
    }
  }
  const [waiting] = open
  return waiting === undefined
    ? undefined
    : ofInput(`there is no output for the function call ${waiting}`)
}

/** This vendor's errors about the whole input have no code. */
function ofInput(message: string): WireRefusal {
  return { status: 400, message, at: ['input'] }
}

const ANSWERS: ReadonlySet<string> = new Set(['reasoning', 'function_call', 'custom_tool_call'])

/** A reasoning item must be followed by the output it belongs to, and must have its encrypted content. */
function loneReasoning(items: readonly PlacedItem[]): WireRefusal | undefined {
  for (const [index, { at = [], item }] of items.entries()) {
    if (item.type !== 'reasoning') continue
    const next = items[index + 1]?.item
    const isAnswer =
      next !== undefined &&
      (('role' in next && next.role === 'assistant') || ANSWERS.has(next.type ?? ''))
    if (!isAnswer) {
      return ofInput(`the reasoning item ${item.id} is not followed by an output item`)
    }
    if (!item.encrypted_content && !item.content?.length) {
      return wrong([...at, 'id'], `the item ${item.id} is not stored and has no encrypted_content`)
    }
  }
  return undefined
}
