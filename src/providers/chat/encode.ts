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
import type { BodyOptions, SpentBody } from '../provider.ts'
import { fenced } from '../../encoding/words/labels.ts'
import { resultText } from '../../encoding/words/results.ts'
import {
  argumentsObject,
  BASE64,
  fittingKey,
  hasWords,
  isBlank,
  isImage,
  put,
  embedPartText,
  segment,
  embedBase64,
  partText,
  type EmbeddedFile,
} from '../segment-bytes.ts'

/** Parameters, tools, system blocks, then items. An item's bytes depend on itself and the surface only. Pure. */
export function encode(items: readonly ConversationItem[], surface: Surface): Segment[] {
  return [...fixedOf(surface), ...textsFirst(items).flatMap((item) => segmentsOf(item, surface))]
}

/**
 * The body. The parts of one user item form one message. Text of the model from one Event forms one message, and the last
 * message of an answer carries its tool calls. This dialect has no cache marks. Pure.
 */
export function buildBody(
  segments: readonly Segment[],
  { cacheKey, spent }: Pick<BodyOptions, 'cacheKey' | 'spent'>,
): Buffer {
  const params = segments.filter(({ role }) => role === 'params')
  const tools = segments.filter(({ role }) => role === 'tool')
  const messages = segments.slice(params.length + tools.length)
  const keyed = params.some(({ bytes }) => bytes.includes(KEY_WANTED))
  const pieces = [
    Buffer.from('{'),
    ...params,
    Buffer.from(keyed ? `,"prompt_cache_key":${canonicalJson(fittingKey(cacheKey))}` : ''),
    ...(tools.length === 0 ? [] : [Buffer.from(',"tools":['), ...listed(tools), Buffer.from(']')]),
    Buffer.from(',"messages":['),
    ...listed(messages),
    Buffer.from(']}'),
  ]
  return joined(pieces, spent)
}

/** A server accepts a cache key exactly if it accepts `store`, which is then in the parameters. No text in them can contain this. */
const KEY_WANTED = '"store":false'

/** What separates two members depends on those two only, so a list that grows keeps its beginning. */
function listed(segments: readonly Segment[]): Piece[] {
  const pieces: Piece[] = []
  let before: Segment | undefined
  for (const now of segments) {
    if (before !== undefined && sameMessage(before, now)) {
      pieces.push(before.role === now.role ? COMMA : CALLS)
    } else {
      if (before !== undefined) pieces.push(CLOSING[before.role] ?? COMMA)
      const opening = OPENING[now.role]
      if (opening !== undefined) pieces.push(opening)
    }
    pieces.push(now)
    before = now
  }
  if (before !== undefined) pieces.push((CLOSING[before.role] ?? COMMA).subarray(0, -1))
  return pieces
}

/** A segment, or the bytes between two segments. */
type Piece = Buffer | Segment

/** Writes everything once, into one buffer. */
function joined(pieces: readonly Piece[], spent: SpentBody | undefined): Buffer {
  let length = 0
  for (const piece of pieces) length += piece.length
  const body = bufferFor(length, spent)
  let at = 0
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) at += piece.copy(body, at)
    else at = put(piece, body, at)
  }
  return bodyIn(body, at)
}

function sameMessage(before: Segment, after: Segment): boolean {
  if (after.role === 'user') return before.role === 'user' && before.seq === after.seq
  return after.role === 'tool_call' && (before.role === 'tool_call' || before.role === 'assistant')
}

type Brackets = Readonly<Partial<Record<SegmentRole, Buffer>>>

const COMMA = Buffer.from(',')
const CALLS = Buffer.from(',"tool_calls":[')
const OPENING: Brackets = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":'),
  tool_call: Buffer.from('{"role":"assistant","content":null,"tool_calls":['),
}
/** Includes the comma before the next member; it is cut after the last one. */
const CLOSING: Brackets = {
  user: Buffer.from(']},'),
  assistant: Buffer.from('},'),
  tool_call: Buffer.from(']},'),
}

/** Encoded once per surface: it comes before every item encoded under that surface. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const fixed = [
    segment('params', paramsOf(surface)),
    ...surface.tools.map((tool) => segment('tool', toolOf(tool))),
    ...surface.system
      .filter(hasWords)
      .map((text) => segment('system', written(systemMessage(text, surface.params)))),
  ]
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

function segmentsOf(item: ConversationItem, { params }: Surface): Segment[] {
  switch (item.kind) {
    case 'user':
      return ofParts(item, (part) => fileContent(part, params) ?? textContent(part))
    case 'developer':
      return ofParts(item, (part) => written(lateMessage(partText(part), params)))
    case 'assistant':
      return answerText(item)
    case 'reasoning':
      // The dialect has no format for reasoning: it is never recorded here and never sent back.
      return []
    case 'tool_call': {
      const called = { name: callName(item.name), arguments: argumentsObject(item.arguments) }
      const call = written({ id: callId(item.call_id), type: 'function', function: called })
      return [segment('tool_call', call, item.seq)]
    }
    case 'tool_result': {
      const result = { tool_call_id: callId(item.call_id), content: resultText(item) }
      return [segment('tool_result', written({ role: 'tool', ...result }), item.seq)]
    }
  }
}

type ItemWithParts = Extract<ConversationItem, { kind: 'user' | 'developer' }>

/** One segment per part, except blank parts. */
function ofParts(
  { kind, seq, parts }: ItemWithParts,
  encoded: (part: Part) => string | EmbeddedFile,
): Segment[] {
  return parts.flatMap((part) => (isBlank(part) ? [] : [segment(kind, encoded(part), seq, part)]))
}

/** Text from one Event is never retired in part, so it is one segment: the content of its message. */
function answerText({ parts, seq }: Extract<ConversationItem, { kind: 'assistant' }>): Segment[] {
  const shown = parts.filter((part) => !isBlank(part))
  const [first, ...more] = shown.map((part) => ({ type: 'text', text: partText(part) }) as const)
  if (first === undefined) return []
  const content = more.length === 0 ? canonicalJson(first.text) : wellFormedJson([first, ...more])
  return [segment('assistant', content, seq)]
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
    return embedBase64(bytes, written({ type: 'image_url', image_url: { url } }))
  }
  if (media_type === 'application/pdf' && files === true) {
    const filename = `${handle.replace(/^@/, '')}.pdf`
    return embedBase64(bytes, written({ type: 'file', file: { filename, file_data: url } }))
  }
  return undefined
}

function textContent(part: Part): string | EmbeddedFile {
  return embedPartText(part, (text) => written({ type: 'text', text }))
}

function written(
  one:
    | ChatCompletionMessageParam
    | ChatCompletionContentPart
    | ChatCompletionMessageFunctionToolCall,
): string {
  return wellFormedJson(one)
}
