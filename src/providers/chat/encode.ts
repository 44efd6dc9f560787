import type {
  ChatCompletionContentPart,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import { canonicalJson, wellFormedJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Segment, SegmentRole } from '../../model/segment.ts'
import type { Surface, SurfaceParams, ToolSchema } from '../../model/surface.ts'
import { bodyIn, bufferFor } from '../body-buffer.ts'
import { callId, callName } from '../call-name.ts'
import type { BodyOptions } from '../provider.ts'
import { fenced } from '../../prompt/words/labels.ts'
import { resultText } from '../../prompt/words/results.ts'
import {
  argumentsObject,
  BASE64,
  fittingKey,
  hasWords,
  isBlank,
  isImage,
  block,
  embedPartText,
  embedBase64,
  partBlocks,
  partText,
  placeSegments,
  placedItems,
  placedLength,
  putAll,
  putPlaced,
  stringBlock,
  type SegmentBlock,
  type EmbeddedFile,
  type SegmentPlace,
} from '../segment-bytes.ts'

/** Parameters, tools, system blocks, then items. An item's bytes depend on itself and the surface only. Pure. */
export function encode(
  items: readonly ConversationItem[],
  surface: Surface,
  behind?: Segment,
): Segment[] {
  const fixed = fixedOf(surface)
  const segments = placedItems(textsFirst(items), behind ?? fixed.at(-1), between, (item) =>
    blocksOf(item, surface),
  )
  return [...fixed, ...segments]
}

/** The body: segments behind their brackets, with the cache key after the parameters. This dialect has no cache marks. Pure. */
export function buildBody(
  segments: readonly Segment[],
  { cacheKey, spentBody }: Pick<BodyOptions, 'cacheKey' | 'spentBody'>,
): Buffer {
  const [params, ...others] = segments
  const keyed = params?.bytes.includes(KEY_WANTED) === true
  const key = Buffer.from(keyed ? `,"prompt_cache_key":${canonicalJson(fittingKey(cacheKey))}` : '')
  const end = Buffer.from(closing(segments.at(-1)))
  const length = OPEN_BODY.length + placedLength(segments) + key.length + end.length
  const body = bufferFor(length, spentBody)
  let at = OPEN_BODY.copy(body)
  if (params !== undefined) at = putPlaced(params, body, at)
  at += key.copy(body, at)
  at = putAll(others, body, at)
  at += end.copy(body, at)
  return bodyIn(body, at)
}

const OPEN_BODY = Buffer.from('{')

/** A server accepts a cache key exactly if it accepts `store`, which is then in the parameters. No text in them can contain this. */
const KEY_WANTED = '"store":false'

/**
 * The parts of one user item form one message. Text of the model from one Event forms one message, and the last message of an
 * answer carries its tool calls.
 */
function between(before: SegmentPlace | undefined, now: SegmentPlace): string {
  if (before === undefined) return ''
  if (now.role === 'tool') return before.role === 'tool' ? ',' : ',"tools":['
  if (before.role === 'params' || before.role === 'tool') {
    return `${closingOf(before)},"messages":[${openingOf(now)}`
  }
  if (!sameMessage(before, now)) {
    return `${closingOf(before)},${openingOf(now)}`
  }
  return before.role === now.role ? ',' : ',"tool_calls":['
}

/** What follows the last segment. */
function closing(last: SegmentPlace | undefined): string {
  const closed = last === undefined ? '' : closingOf(last)
  const messages = last === undefined || last.role === 'params' || last.role === 'tool'
  return `${closed}${messages ? ',"messages":[' : ''}]}`
}

function sameMessage(before: SegmentPlace, after: SegmentPlace): boolean {
  if (before.whole === true || after.whole === true) return false
  if (after.role === 'user') return before.role === 'user' && before.seq === after.seq
  return after.role === 'tool_call' && (before.role === 'tool_call' || before.role === 'assistant')
}

function openingOf({ role, whole }: SegmentPlace): string {
  return whole === true ? WHOLE_OPENING : (OPENING[role] ?? '')
}

function closingOf({ role, whole }: SegmentPlace): string {
  return whole === true ? WHOLE_CLOSING : (CLOSING[role] ?? '')
}

/** Around the plain string of a person. */
const WHOLE_OPENING = '{"role":"user","content":'
const WHOLE_CLOSING = '}'

type Brackets = Readonly<Partial<Record<SegmentRole, string>>>

const OPENING: Brackets = {
  user: '{"role":"user","content":[',
  assistant: '{"role":"assistant","content":',
  tool_call: '{"role":"assistant","content":null,"tool_calls":[',
}

const CLOSING: Brackets = {
  tool: ']',
  user: ']}',
  assistant: '}',
  tool_call: ']}',
}

/** Encoded once per surface: it comes before every item encoded under that surface. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const blocks = [
    block('params', paramsOf(surface)),
    ...surface.tools.map((tool) => block('tool', toolOf(tool))),
    ...surface.system
      .filter(hasWords)
      .map((text) => block('system', partJson(systemMessage(text, surface.params)))),
  ]
  const fixed = placeSegments(blocks, undefined, between)
  FIXED.set(surface, fixed)
  return fixed
}

const FIXED = new WeakMap<Surface, readonly Segment[]>()

/** Sets no output limit: compatible servers disagree on the name of the parameter. */
function paramsOf({ model, tools, params }: Surface): string {
  const { tool_choice, cache_key } = params
  // Some models accept tools in this dialect only with reasoning off.
  const effort = params.effort ?? (params.reasoning === false ? 'none' : undefined)
  const members = wellFormedJson({
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length === 0 ? {} : { tool_choice }),
    ...(cache_key === true ? { store: false } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
  })
  return members.slice(1, -1)
}

function toolOf({ name, description, parameters }: ToolSchema): string {
  const members = wellFormedJson({ name, description }).slice(0, -1)
  return `{"type":"function","function":${members},"parameters":${canonicalJson(parameters)}}}`
}

/**
 * Moves the texts of an answer before its calls, because tool results must directly follow the message with the calls. Results
 * follow the calls of every answer, so items without a result between them belong to one answer or precede it.
 */
function textsFirst(items: readonly ConversationItem[]): ConversationItem[] {
  const ordered: ConversationItem[] = []
  let calls: ConversationItem[] = []
  for (const item of items) {
    if (item.kind === 'tool_call') {
      calls.push(item)
      continue
    }
    if (item.kind !== 'assistant' && item.kind !== 'reasoning') {
      for (const call of calls) ordered.push(call)
      calls = []
    }
    ordered.push(item)
  }
  return [...ordered, ...calls]
}

function blocksOf(item: ConversationItem, { params }: Surface): SegmentBlock[] {
  switch (item.kind) {
    case 'user':
      if (item.form === 'string') return stringBlock(item, canonicalJson)
      return partBlocks(item, (part) => fileContent(part, params) ?? textContent(part))
    case 'developer':
      return partBlocks(item, (part) => partJson(lateMessage(partText(part), params)))
    case 'assistant':
      return answerText(item)
    case 'reasoning':
      // The dialect has no format for reasoning: it is never recorded here and never sent back.
      return []
    case 'tool_call': {
      const called = { name: callName(item.name), arguments: argumentsObject(item.arguments) }
      const call = partJson({ id: callId(item.call_id), type: 'function', function: called })
      return [block('tool_call', call, item.seq)]
    }
    case 'tool_result': {
      const result = { tool_call_id: callId(item.call_id), content: resultText(item) }
      return [block('tool_result', partJson({ role: 'tool', ...result }), item.seq)]
    }
  }
}

/** Text from one Event is never retired in part, so it is one segment: the content of its message. */
function answerText({
  parts,
  seq,
}: Extract<ConversationItem, { kind: 'assistant' }>): SegmentBlock[] {
  const shown = parts.filter((part) => !isBlank(part))
  const [first, ...more] = shown.map((part) => ({ type: 'text', text: partText(part) }) as const)
  if (first === undefined) return []
  const content = more.length === 0 ? canonicalJson(first.text) : wellFormedJson([first, ...more])
  return [block('assistant', content, seq)]
}

function systemMessage(content: string, { late_role }: SurfaceParams): ChatCompletionMessageParam {
  return { role: late_role === 'developer' ? 'developer' : 'system', content }
}

function lateMessage(text: string, params: SurfaceParams): ChatCompletionMessageParam {
  if (params.late_role !== 'user') return systemMessage(text, params)
  return { role: 'user', content: [{ type: 'text', text: fenced(text) }] }
}

/** Images and documents, if the model accepts them. If that is unknown, images are sent and files are not: few servers accept files. */
function fileContent(part: Part, { images, files }: SurfaceParams): EmbeddedFile | undefined {
  if (part.type === 'text' || part.bytes === undefined || part.bytes.length === 0) return undefined
  const { bytes, media_type, handle = '@file' } = part
  const url = `data:${media_type};base64,${BASE64}`
  if (isImage(media_type) && images !== false) {
    return embedBase64(bytes, partJson({ type: 'image_url', image_url: { url } }))
  }
  if (media_type === 'application/pdf' && files === true) {
    const filename = `${handle.replace(/^@/, '')}.pdf`
    return embedBase64(bytes, partJson({ type: 'file', file: { filename, file_data: url } }))
  }
  return undefined
}

function textContent(part: Part): string | EmbeddedFile {
  return embedPartText(part, (text) => partJson({ type: 'text', text }))
}

function partJson(
  one:
    | ChatCompletionMessageParam
    | ChatCompletionContentPart
    | ChatCompletionMessageFunctionToolCall,
): string {
  return wellFormedJson(one)
}
