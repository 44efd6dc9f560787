import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { isJsonObject } from '../../../src/encoding/json.ts'
import type { ModelFacts } from '../../../src/model/model-facts.ts'
import { firstOf, notRehearsed, wrong, type WireRefusal } from './refusal.ts'
import type { ValuePath } from './schema-problems.ts'

type Body = MessageCreateParamsStreaming
type Rule = (body: Body) => WireRefusal | undefined

/** The refusals of Messages that go beyond its types. Pictures and documents are checked where they are read. */
export function brokenMessagesRule(body: Body, facts: ModelFacts): WireRefusal | undefined {
  return firstOf([...RULES, (params) => tooLong(params, facts)], body)
}

/** A block of a message, and its place. A string counts as a text block. */
export interface PlacedBlock {
  readonly at: ValuePath
  readonly block: ContentBlockParam
}

export function blocksOf({ content }: Body['messages'][number], index: number): PlacedBlock[] {
  const at = ['messages', index, 'content']
  if (typeof content === 'string') return [{ at, block: { type: 'text', text: content } }]
  return content.map((block, place) => ({ at: [...at, place], block }))
}

const RULES: readonly Rule[] = [
  ({ max_tokens }) =>
    Number.isInteger(max_tokens) && max_tokens >= 1
      ? undefined
      : wrong(['max_tokens'], 'must be a whole number of at least 1'),
  ({ model }) => (model === '' ? wrong(['model'], 'must not be empty') : undefined),
  ({ messages }) =>
    messages.length === 0 ? wrong(['messages'], 'at least one message is required') : undefined,
  misplacedRole,
  emptyContent,
  misplacedBlock,
  blankText,
  unsignedThinking,
  misspeltCall,
  wrongTools,
  wrongToolChoice,
  wrongThinking,
  wrongCacheMarks,
  unmatchedResults,
  ({ stop_sequences = [] }) => {
    const blank = stop_sequences.findIndex((text) => text.trim() === '')
    return blank < 0
      ? undefined
      : wrong(['stop_sequences', blank], 'must contain more than whitespace')
  },
  ({ output_config }) =>
    output_config?.format
      ? notRehearsed(['output_config', 'format'], 'writes plain text only')
      : undefined,
]

function tooLong(
  { max_tokens, model }: Body,
  { output_tokens }: ModelFacts,
): WireRefusal | undefined {
  if (output_tokens === undefined || max_tokens <= output_tokens) return undefined
  return wrong(['max_tokens'], `${max_tokens} > ${output_tokens}, the maximum for ${model}`)
}

/**
 * Adjacent messages of one role count as one. A late system message must follow a user message and precede an assistant
 * message.
 */
function misplacedRole({ messages }: Body): WireRefusal | undefined {
  for (const [index, { role }] of messages.entries()) {
    const at = ['messages', index, 'role']
    const before = messages.slice(0, index).findLast((one) => one.role !== 'system')
    const after = messages.slice(index + 1).find((one) => one.role !== 'system')
    if (role === 'assistant' && before === undefined) {
      return wrong(at, 'the first message must have the role user')
    }
    if (role !== 'system') continue
    const follows = index > 0 && before?.role === 'user'
    const precedes = after === undefined || after.role === 'assistant'
    if (!follows || !precedes) {
      const place = 'after a user message, and at the end or before an assistant message'
      return wrong(at, `a system message is only allowed ${place}`)
    }
  }
  const last = messages.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'assistant') return undefined
  const why =
    'this model does not support a prefilled answer: the last message must have the role user'
  return wrong(['messages', messages.length - 1, 'role'], why)
}

function emptyContent({ messages }: Body): WireRefusal | undefined {
  const empty = messages.findIndex(({ content }) => content.length === 0)
  return empty < 0
    ? undefined
    : wrong(['messages', empty, 'content'], 'the content of a message must not be empty')
}

const OF_A_USER: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_result',
  'container_upload',
])
const OF_A_MODEL_NEVER: ReadonlySet<string> = new Set([
  'image',
  'document',
  'search_result',
  'tool_result',
  'container_upload',
])

function misplacedBlock({ messages }: Body): WireRefusal | undefined {
  for (const [index, message] of messages.entries()) {
    for (const { at, block } of blocksOf(message, index)) {
      const fits =
        message.role === 'assistant' ? !OF_A_MODEL_NEVER.has(block.type) : OF_A_USER.has(block.type)
      if (!fits) return wrong(at, `a ${message.role} message cannot contain a ${block.type} block`)
    }
  }
  return undefined
}

function blankText({ system, messages }: Body): WireRefusal | undefined {
  const blocks = [...systemBlocks(system), ...messages.flatMap(blocksOf)]
  const texts = [...blocks, ...blocks.flatMap(insideResult)]
  const blank = texts.find(({ block }) => block.type === 'text' && block.text.trim() === '')
  return blank && wrong(blank.at, 'a text block must contain more than whitespace')
}

function systemBlocks(system: Body['system']): PlacedBlock[] {
  if (system === undefined || typeof system === 'string') return []
  return system.map((block, index) => ({ at: ['system', index], block }))
}

/** The blocks inside a tool result that may also occur in a message. */
function insideResult({ at, block }: PlacedBlock): PlacedBlock[] {
  if (block.type !== 'tool_result' || !Array.isArray(block.content)) return []
  return block.content.flatMap((inner, index) =>
    inner.type === 'text' || inner.type === 'image' || inner.type === 'document'
      ? [{ at: [...at, 'tool_result', 'content', index], block: inner }]
      : [],
  )
}

function unsignedThinking({ messages }: Body): WireRefusal | undefined {
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message, index)
    const unsigned = blocks.find(({ block }) => block.type === 'thinking' && !block.signature)
    if (unsigned !== undefined) return wrong([...unsigned.at, 'signature'], 'is not valid')
    const last = blocks.at(-1)
    if (last !== undefined && last.block.type.endsWith('thinking')) {
      return wrong(last.at, 'thinking must not be the last block of a message')
    }
  }
  return undefined
}

const NAME = /^[A-Za-z0-9_-]{1,128}$/

function misspeltCall({ messages }: Body): WireRefusal | undefined {
  const ids = new Set<string>()
  for (const { at, block } of messages.flatMap(blocksOf)) {
    if (block.type !== 'tool_use') continue
    if (!NAME.test(block.id)) return wrong([...at, 'tool_use', 'id'], 'must match [a-zA-Z0-9_-]+')
    if (ids.has(block.id)) return wrong([...at, 'tool_use', 'id'], '`tool_use` ids must be unique')
    ids.add(block.id)
    if (!NAME.test(block.name))
      return wrong([...at, 'tool_use', 'name'], `must match ${NAME.source}`)
    if (!isJsonObject(block.input)) return wrong([...at, 'tool_use', 'input'], 'must be an object')
  }
  return undefined
}

function wrongTools({ tools = [] }: Body): WireRefusal | undefined {
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    if (!('name' in tool)) continue
    const at = ['tools', index, 'name']
    if (!NAME.test(tool.name)) return wrong(at, `must match ${NAME.source}`)
    if (names.has(tool.name)) return wrong(at, 'tool names must be unique')
    names.add(tool.name)
  }
  return undefined
}

function wrongToolChoice({ tools = [], tool_choice }: Body): WireRefusal | undefined {
  if (tool_choice === undefined) return undefined
  if (tools.length === 0) return wrong(['tool_choice'], 'requires tools')
  if (tool_choice.type !== 'tool') return undefined
  const known = tools.some((tool) => 'name' in tool && tool.name === tool_choice.name)
  return known ? undefined : wrong(['tool_choice', 'name'], 'is not the name of a tool')
}

const SMALLEST_BUDGET = 1024

function wrongThinking({ thinking, max_tokens, tool_choice }: Body): WireRefusal | undefined {
  if (thinking?.type !== 'enabled') return undefined
  const at = ['thinking', 'budget_tokens']
  const { budget_tokens: budget } = thinking
  if (budget < SMALLEST_BUDGET) return wrong(at, `must be at least ${SMALLEST_BUDGET}`)
  if (budget >= max_tokens) return wrong(at, 'must be less than max_tokens')
  if (tool_choice?.type !== 'any' && tool_choice?.type !== 'tool') return undefined
  return wrong(['tool_choice'], 'cannot force a call while thinking is enabled')
}

const MOST_MARKS = 4

/** The places of the marks, in cache order. A mark with a longer ttl must come first. */
function wrongCacheMarks({
  tools = [],
  system,
  messages,
  cache_control,
}: Body): WireRefusal | undefined {
  const blocks = [...systemBlocks(system), ...messages.flatMap(blocksOf)]
  const marks = [
    ...tools.map((tool, index) => ({ at: ['tools', index], mark: markOf(tool) })),
    ...blocks
      .flatMap((one) => [...insideResult(one), one])
      .map(({ at, block }) => ({ at, mark: markOf(block) })),
    { at: [], mark: cache_control ?? undefined },
  ].filter(({ mark }) => mark !== undefined)
  if (marks.length > MOST_MARKS) {
    const message = `at most ${MOST_MARKS} blocks may have cache_control; there are ${marks.length}`
    return { status: 400, message }
  }
  const short = marks.findIndex(({ mark }) => mark?.ttl !== '1h')
  const late = marks.find(({ mark }, index) => mark?.ttl === '1h' && short >= 0 && index > short)
  return (
    late && wrong([...late.at, 'cache_control', 'ttl'], 'a ttl of 1h must not follow one of 5m')
  )
}

export function markOf(block: object): { readonly ttl?: '5m' | '1h' } | undefined {
  const mark: unknown = Reflect.get(block, 'cache_control')
  if (!isJsonObject(mark)) return undefined
  return mark['ttl'] === '1h' ? { ttl: '1h' } : {}
}

/** The next message must start with the results, one for each call. */
function unmatchedResults({ messages }: Body): WireRefusal | undefined {
  const open = new Map<string, ValuePath>()
  for (const [index, message] of messages.entries()) {
    for (const { at, block } of blocksOf(message, index)) {
      if (block.type === 'tool_use') open.set(block.id, at)
      if (block.type === 'tool_result' && !open.delete(block.tool_use_id)) {
        return withoutCall(at, block)
      }
      if (message.role === 'user' && block.type !== 'tool_result' && open.size > 0) {
        return withoutResult(open)
      }
    }
    if (open.size > 0 && message.role === 'user' && isOver(messages, index)) {
      return withoutResult(open)
    }
  }
  return undefined
}

/** Whether the message ends here: adjacent messages of one role count as one. */
function isOver(messages: Body['messages'], index: number): boolean {
  return messages.slice(index + 1).find(({ role }) => role !== 'system')?.role !== 'user'
}

function withoutResult(open: ReadonlyMap<string, ValuePath>): WireRefusal {
  const [at = []] = open.values()
  const message = 'each `tool_use` must have its `tool_result` in the next message, at its start'
  return wrong(at.slice(0, 2), `${message}; missing: ${[...open.keys()].join(', ')}`)
}

function withoutCall(at: ValuePath, { tool_use_id }: ToolResultBlockParam): WireRefusal {
  const message = 'each `tool_result` must belong to a `tool_use` of the message before'
  return wrong(at, `${message}; none has the id ${tool_use_id}`)
}
