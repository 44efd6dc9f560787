import type {
  ChatCompletionContentPart,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import { canonicalJson, wellFormedJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Segment, SegmentRole } from '../../model/segment.ts'
import type { Surface, SurfaceParams, ToolSchema } from '../../model/surface.ts'
import { bodyIn, roomFor } from '../body-room.ts'
import { callId, callName } from '../call-name.ts'
import type { Framing, SpentBody } from '../provider.ts'
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
  saying,
  segment,
  showing,
  wordsOf,
  type ShownFile,
} from '../segment-bytes.ts'

/** Parameters, tools, system blocks, then items. An item's bytes depend on itself and the surface only. Pure. */
export function encode(items: readonly ConversationItem[], surface: Surface): Segment[] {
  return [...fixedOf(surface), ...textsFirst(items).flatMap((item) => segmentsOf(item, surface))]
}

/**
 * The body. Parts of one user item are one message. What a model said in one Event is one message, and the last such message
 * of an answer carries the answer's calls. This dialect has no cache marks. Pure.
 */
export function frame(
  segments: readonly Segment[],
  { cacheKey, spent }: Pick<Framing, 'cacheKey' | 'spent'>,
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

/** A server takes a cache key exactly if it takes `store`, of which the parameters tell. No text in them can hold this. */
const KEY_WANTED = '"store":false'

/** What stands between two members is decided by the two alone, so that a list which grows begins like the one before. */
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

/** What stands between segments, or one of them. */
type Piece = Buffer | Segment

/** One piece of memory, into which everything is written once. */
function joined(pieces: readonly Piece[], spent: SpentBody | undefined): Buffer {
  let length = 0
  for (const piece of pieces) length += piece.length
  const body = roomFor(length, spent)
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
/** With the comma before the next member, which the last one is without. */
const CLOSING: Brackets = {
  user: Buffer.from(']},'),
  assistant: Buffer.from('},'),
  tool_call: Buffer.from(']},'),
}

/** Encoded once a surface: it stands before every item that is ever encoded under it. */
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

/** How long an answer may be is left to the server: not every server takes the same name for it. */
function paramsOf({ model, tools, params }: Surface): string {
  const { tool_choice, cache_key } = params
  // Some models take tools in this dialect only when they do not reason.
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
  const told = wellFormedJson({ name, description }).slice(0, -1)
  return `{"type":"function","function":${told},"parameters":${canonicalJson(parameters)}}}`
}

/**
 * The texts of an answer before its calls: the results of calls must follow the message of the calls at once. Results stand
 * behind the calls of every answer, so what none of them interrupts is one answer, or was said before one.
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
      return ofParts(item, (part) => written(lateMessage(wordsOf(part), params)))
    case 'assistant':
      return answerText(item)
    case 'reasoning':
      // The dialect has no form for it, so none goes back and none is ever recorded in it.
      return []
    case 'tool_call': {
      const told = { name: callName(item.name), arguments: argumentsObject(item.arguments) }
      const call = written({ id: callId(item.call_id), type: 'function', function: told })
      return [segment('tool_call', call, item.seq)]
    }
    case 'tool_result': {
      const result = { tool_call_id: callId(item.call_id), content: resultText(item) }
      return [segment('tool_result', written({ role: 'tool', ...result }), item.seq)]
    }
  }
}

type Said = Extract<ConversationItem, { kind: 'user' | 'developer' }>

/** One segment a part, and none for a part that is blank. */
function ofParts({ kind, seq, parts }: Said, said: (part: Part) => string | ShownFile): Segment[] {
  return parts.flatMap((part) => (isBlank(part) ? [] : [segment(kind, said(part), seq, part)]))
}

/** What was said in one Event is never retired in part, and so is one segment: the content of its message. */
function answerText({ parts, seq }: Extract<ConversationItem, { kind: 'assistant' }>): Segment[] {
  const said = parts.filter((part) => !isBlank(part))
  const [first, ...more] = said.map((part) => ({ type: 'text', text: wordsOf(part) }) as const)
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

/** Pixels, and documents, where the model takes them as such. Where nobody knows, images are tried; few servers take files. */
function fileContent(part: Part, { images, files }: SurfaceParams): ShownFile | undefined {
  if (part.type === 'text' || part.bytes === undefined || part.bytes.length === 0) return undefined
  const { bytes, media_type, handle = '@file' } = part
  const url = `data:${media_type};base64,${BASE64}`
  if (isImage(media_type) && images !== false) {
    return showing(bytes, written({ type: 'image_url', image_url: { url } }))
  }
  if (media_type === 'application/pdf' && files === true) {
    const filename = `${handle.replace(/^@/, '')}.pdf`
    return showing(bytes, written({ type: 'file', file: { filename, file_data: url } }))
  }
  return undefined
}

function textContent(part: Part): string | ShownFile {
  return saying(part, (text) => written({ type: 'text', text }))
}

function written(
  one:
    | ChatCompletionMessageParam
    | ChatCompletionContentPart
    | ChatCompletionMessageFunctionToolCall,
): string {
  return wellFormedJson(one)
}
