import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import { canonicalJson, isJsonObject } from '../../../encoding/json.ts'
import type { RehearsalSegment } from '../schema.ts'
import { cacheBlock, tokensIn } from './cache-blocks.ts'
import { refused, type Read, type RequestReading } from './dialect.ts'
import { MediaList } from './media-list.ts'
import { checkLeniently } from './rules/leniency.ts'
import { messagesTold } from './messages-answer.ts'
import { misshapen, wrong, type WireRefusal } from './rules/refusal.ts'
import { requestCheck, streaming, wantsStream } from './rules/request-schemas.ts'
import { blocksOf, brokenMessagesRule, markOf, type PlacedBlock } from './rules/messages.ts'
import type { Place } from './rules/schema-problems.ts'
import {
  filePart,
  person,
  resultOf,
  spoken,
  toolSegment,
  withHandles,
  type SaidPart,
} from './words.ts'

type Body = MessageCreateParamsStreaming

/** Understands a request of Anthropic's Messages, or says why the vendor would refuse it. */
export async function readMessages(
  body: unknown,
  { factsOf, leniency }: RequestReading,
): Promise<Read> {
  const checked = checkLeniently(await requestCheck.messages(), leniency, streaming(body))
  if (!checked.ok) return refused(misshapen(checked.problems))
  const asked = checked.value
  const streams = wantsStream(body)
  const facts = factsOf(asked.model)
  const broken = brokenMessagesRule(asked, facts)
  if (broken !== undefined) return refused(broken)
  const media = new MediaList(facts)
  const request = { dialect: 'rehearsal', segments: segmentsOf(asked, media) } as const
  if (media.refusal !== undefined) return refused(media.refusal)
  const { model, max_tokens: limit, stop_sequences: stops = [], tool_choice } = asked
  const alone = tool_choice !== undefined && 'disable_parallel_tool_use' in tool_choice
  const parallel = !(alone && tool_choice.disable_parallel_tool_use)
  const cache = { key: '', ...cacheOrder(asked) }
  const told = messagesTold
  return {
    ok: true,
    asked: { model, streams, request, cache, media: media.media, limit, stops, parallel, told },
  }
}

/** How many tokens a request would be, or why it is refused. It is not answered, so nobody says how long an answer may be. */
export async function countMessages(
  body: unknown,
  reading: RequestReading,
): Promise<number | WireRefusal> {
  const [unknown] = isJsonObject(body) ? NOT_COUNTED.filter((name) => name in body) : []
  if (unknown !== undefined) return wrong([unknown], 'is not known there', 'unknown_parameter')
  const whole = isJsonObject(body) ? { ...body, max_tokens: 1 } : body
  const read = await readMessages(whole, reading)
  return read.ok ? tokensIn(read.asked.cache.blocks) : read.refusal
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
  const said = messages.flatMap((message, index) => {
    if (message.role === 'system') {
      return blocksOf(message, index).map(({ block }) => developer(textIn(block)))
    }
    return blocksOf(message, index).flatMap((placed) =>
      message.role === 'user' ? heard(placed, names, media) : answered(placed.block, names),
    )
  })
  return [
    { role: 'params', model, contract_version: '', ...choice, ...effort },
    ...tools.flatMap((tool) =>
      'input_schema' in tool ? [toolSegment({ ...tool, parameters: tool.input_schema })] : [],
    ),
    ...instructions.map((text): RehearsalSegment => ({ role: 'system', text })),
    ...withHandles(said),
  ]
}

function developer(text: string): RehearsalSegment {
  return { role: 'developer', parts: [{ type: 'text', text }] }
}

function textIn(block: ContentBlockParam): string {
  return block.type === 'text' ? block.text : ''
}

/** What a person, or a tool, said. */
function heard(
  { at, block }: PlacedBlock,
  names: ReadonlyMap<string, string>,
  media: MediaList,
): RehearsalSegment[] {
  if (block.type === 'text') return [spoken(block.text)]
  if (block.type === 'tool_result') {
    return resultSegments(at, block, names.get(block.tool_use_id) ?? '', media)
  }
  if (block.type !== 'image' && block.type !== 'document') {
    return [person({ type: 'other', of: block.type })]
  }
  const part = shown(at, block, media)
  return part === undefined ? [] : [person(part)]
}

function answered(block: ContentBlockParam, names: Map<string, string>): RehearsalSegment[] {
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

/** Its text; what else it shows stands behind it, as a person would show it. */
function resultSegments(
  at: Place,
  { tool_use_id: call_id, content = '', is_error }: ToolResultBlockParam,
  name: string,
  media: MediaList,
): RehearsalSegment[] {
  const call = { call_id, name }
  if (typeof content === 'string') return [resultOf(call, content, is_error)]
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const files = content.flatMap((block, index) => {
    if (block.type !== 'image' && block.type !== 'document') return []
    return shown([...at, 'tool_result', 'content', index], block, media) ?? []
  })
  return [resultOf(call, text, is_error), ...(files.length === 0 ? [] : [person(...files)])]
}

function shown(
  at: Place,
  block: ImageBlockParam | DocumentBlockParam,
  media: MediaList,
): SaidPart | undefined {
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

/** Tools, system blocks, what else changes how a model reads, then content; and after how many of them marks stand. */
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

/** A mark inside the result of a tool counts as one behind it. */
function isMarked(block: object): boolean {
  const inner: unknown = Reflect.get(block, 'block') ?? block
  if (!isJsonObject(inner)) return false
  const nested: unknown = inner['content']
  return (
    markOf(inner) !== undefined ||
    (Array.isArray(nested) && nested.some((one) => isJsonObject(one) && isMarked(one)))
  )
}
