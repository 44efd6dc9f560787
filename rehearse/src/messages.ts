import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { canonicalJson, isJsonObject } from '../../src/encoding/json.ts'
import type { RehearsalSegment } from '../../src/providers/rehearsal/schema.ts'
import { cacheBlock, tokensIn } from './cache-blocks.ts'
import { refusedRead, type Read, type RequestReading } from './dialect.ts'
import { MediaList } from './media-list.ts'
import { checkLeniently } from './rules/leniency.ts'
import { messagesAnswer } from './messages-answer.ts'
import { misshapen, wrong, type WireRefusal } from './rules/refusal.ts'
import { requestCheck, streaming, wantsStream } from './rules/request-schemas.ts'
import { blocksOf, brokenMessagesRule, markOf, type PlacedBlock } from './rules/messages.ts'
import type { ValuePath } from './rules/schema-problems.ts'
import {
  filePart,
  userSegment,
  resultOf,
  userText,
  toolSegment,
  withHandles,
  type UserPart,
} from './words.ts'

type Body = MessageCreateParamsStreaming

/** Parses a request of Anthropic's Messages, or returns the refusal that the vendor would send. */
export async function readMessages(
  body: unknown,
  { factsOf, leniency }: RequestReading,
): Promise<Read> {
  const checked = checkLeniently(await requestCheck.messages(), leniency, streaming(body))
  if (!checked.ok) return refusedRead(misshapen(checked.problems))
  const params = checked.value
  const streams = wantsStream(body)
  const facts = factsOf(params.model)
  const broken = brokenMessagesRule(params, facts)
  if (broken !== undefined) return refusedRead(broken)
  const media = new MediaList(facts)
  const request = { dialect: 'rehearsal', segments: segmentsOf(params, media) } as const
  if (media.refusal !== undefined) return refusedRead(media.refusal)
  const { model, max_tokens: limit, stop_sequences: stops = [], tool_choice } = params
  const alone = tool_choice !== undefined && 'disable_parallel_tool_use' in tool_choice
  const parallel = !(alone && tool_choice.disable_parallel_tool_use)
  const cache = { key: '', ...cacheOrder(params) }
  const render = messagesAnswer
  return {
    ok: true,
    request: { model, streams, request, cache, media: media.media, limit, stops, parallel, render },
  }
}

/** Counts the tokens of a request, or returns a refusal. The request has no `max_tokens`, because it gets no answer. */
export async function countMessages(
  body: unknown,
  reading: RequestReading,
): Promise<number | WireRefusal> {
  const [unknown] = isJsonObject(body) ? NOT_COUNTED.filter((name) => name in body) : []
  if (unknown !== undefined) return wrong([unknown], 'is not a known field', 'unknown_parameter')
  const whole = isJsonObject(body) ? { ...body, max_tokens: 1 } : body
  const read = await readMessages(whole, reading)
  return read.ok ? tokensIn(read.request.cache.blocks) : read.refusal
}

const NOT_COUNTED = [
  'max_tokens',
  'stream',
  'metadata',
  'service_tier',
  'stop_sequences',
  'container',
  'inference_geo',
  'diagnostics',
] as const

function segmentsOf(
  { model, tools = [], tool_choice, system, messages, output_config }: Body,
  media: MediaList,
): RehearsalSegment[] {
  const effort = output_config?.effort ? { effort: output_config.effort } : {}
  const choice = { tool_choice: tool_choice?.type ?? 'auto' }
  const instructions = typeof system === 'string' ? [system] : (system ?? []).map(textIn)
  const names = new Map<string, string>()
  const content = messages.flatMap((message, index) => {
    if (message.role === 'system') {
      return blocksOf(message, index).map(({ block }) => developer(textIn(block)))
    }
    return blocksOf(message, index).flatMap((placed) =>
      message.role === 'user'
        ? userSegments(placed, names, media)
        : assistantSegments(placed.block, names),
    )
  })
  return [
    { role: 'params', model, contract_version: '', ...choice, ...effort },
    ...tools.flatMap((tool) =>
      'input_schema' in tool ? [toolSegment({ ...tool, parameters: tool.input_schema })] : [],
    ),
    ...instructions.map((text): RehearsalSegment => ({ role: 'system', text })),
    ...withHandles(content),
  ]
}

function developer(text: string): RehearsalSegment {
  return { role: 'developer', parts: [{ type: 'text', text }] }
}

function textIn(block: ContentBlockParam): string {
  return block.type === 'text' ? block.text : ''
}

/** A block of a user message: text, a file, or the result of a tool. */
function userSegments(
  { at, block }: PlacedBlock,
  names: ReadonlyMap<string, string>,
  media: MediaList,
): RehearsalSegment[] {
  if (block.type === 'text') return [userText(block.text)]
  if (block.type === 'tool_result') {
    return resultSegments(at, block, names.get(block.tool_use_id) ?? '', media)
  }
  if (block.type !== 'image' && block.type !== 'document') {
    return [userSegment({ type: 'other', of: block.type })]
  }
  const part = mediaPart(at, block, media)
  return part === undefined ? [] : [userSegment(part)]
}

function assistantSegments(
  block: ContentBlockParam,
  names: Map<string, string>,
): RehearsalSegment[] {
  if (block.type === 'text') {
    return [{ role: 'assistant', parts: [{ type: 'text', text: block.text }] }]
  }
  if (block.type === 'tool_use') {
    const { id, name, input } = block
    names.set(id, name)
    return [{ role: 'tool_call', call_id: id, name, arguments: canonicalJson(input) }]
  }
  const isThought = block.type === 'thinking' || block.type === 'redacted_thinking'
  return [isThought ? { role: 'reasoning', item: block } : { role: 'other', of: block.type }]
}

/** The text of a result. Its files follow it as a user segment. */
function resultSegments(
  at: ValuePath,
  { tool_use_id: call_id, content = '', is_error }: ToolResultBlockParam,
  name: string,
  media: MediaList,
): RehearsalSegment[] {
  const call = { call_id, name }
  if (typeof content === 'string') return [resultOf(call, content, is_error)]
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const files = content.flatMap((block, index) => {
    if (block.type !== 'image' && block.type !== 'document') return []
    return mediaPart([...at, 'tool_result', 'content', index], block, media) ?? []
  })
  return [resultOf(call, text, is_error), ...(files.length === 0 ? [] : [userSegment(...files)])]
}

function mediaPart(
  at: ValuePath,
  block: ImageBlockParam | DocumentBlockParam,
  media: MediaList,
): UserPart | undefined {
  const { source } = block
  const where = [...at, block.type, 'source', source.type]
  const title = block.type === 'document' ? block.title : undefined
  switch (source.type) {
    case 'base64': {
      const { media_type, data } = source
      const place = [...where, 'data']
      const bytes =
        block.type === 'image'
          ? media.image(place, media_type, data)
          : media.file(place, media_type, data)
      return bytes && filePart(bytes, media_type, title)
    }
    case 'text':
      if (source.data.trim() === '') {
        return media.refuse(wrong([...where, 'data'], 'the document must not be empty'))
      }
      return filePart(Buffer.from(source.data), source.media_type, title)
    case 'content': {
      const text = typeof source.content === 'string' ? source.content : ''
      return filePart(Buffer.from(text), 'text/plain', title)
    }
    case 'url':
    case 'file':
      return media.elsewhere(where)
  }
}

/** Tools, system blocks, other parameters that the cache depends on, then content; and the positions of the cache marks. */
function cacheOrder({ tools = [], system, messages, tool_choice, thinking, cache_control }: Body) {
  const instructions =
    typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? [])
  const blocks = [
    ...tools,
    ...instructions,
    { tool_choice, thinking },
    ...messages.flatMap((message, index) =>
      blocksOf(message, index).map(({ block }) => ({ role: message.role, block })),
    ),
  ]
  const marks = blocks.flatMap((block, index) => (isMarked(block) ? [index + 1] : []))
  const last = cache_control ? [blocks.length] : []
  return { blocks: blocks.map(cacheBlock), marks: [...marks, ...last] }
}

/** A mark inside a tool result counts as a mark after it. */
function isMarked(block: object): boolean {
  const inner: unknown = Reflect.get(block, 'block') ?? block
  if (!isJsonObject(inner)) return false
  const nested: unknown = inner['content']
  return (
    markOf(inner) !== undefined ||
    (Array.isArray(nested) && nested.some((one) => isJsonObject(one) && isMarked(one)))
  )
}
