import type {
  EasyInputMessage,
  FunctionTool,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { canonicalJson, isJsonObject, wellFormedJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Segment, SegmentRole } from '../../model/segment.ts'
import type { Surface, SurfaceParams, ToolSchema } from '../../model/surface.ts'
import { bodyIn, bufferFor } from '../body-buffer.ts'
import { callId, callName } from '../call-name.ts'
import type { BodyOptions, OutgoingRequest } from '../provider.ts'
import { replayedReasoning } from '../replayed-reasoning.ts'
import { fenced } from '../../prompt/words/labels.ts'
import { resultText } from '../../prompt/words/results.ts'
import {
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

/**
 * Parameters, tools, system blocks, then content. A content segment is a whole input item, except for a part of a user item,
 * which is a content part of a message; a system block is text inside a string. Pure.
 */
export function encode(
  items: readonly ConversationItem[],
  surface: Surface,
  behind?: Segment,
): Segment[] {
  const fixed = fixedOf(surface)
  const replayed = replayedReasoning(items.filter(goesBack), 'responses', surface.model)
  const segments = placedItems(replayed, behind ?? fixed.at(-1), between, (item) =>
    blocksOf(item, surface),
  )
  return [...fixed, ...segments]
}

/**
 * The body: parameters, cache key, system blocks, tools, input. Its input comes last, so a body that grows keeps its beginning.
 * This dialect has no cache marks. Pure.
 */
export function buildBody(
  segments: readonly Segment[],
  { cacheKey, spentBody }: Pick<BodyOptions, 'cacheKey' | 'spentBody'>,
): Buffer {
  const found = segments.findIndex(({ role }) => !OF_THE_SURFACE.has(role))
  const start = found === -1 ? segments.length : found
  const fixed = (role: SegmentRole) => segments.slice(0, start).filter((one) => one.role === role)
  const surface = [
    '{',
    ...fixed('params'),
    `,"prompt_cache_key":${canonicalJson(fittingKey(cacheKey))}`,
    ...closeSegments(fixed('system'), '"'),
    ...closeSegments(fixed('tool'), ']'),
    ...(start === segments.length ? [OPEN_INPUT] : []),
  ].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const input = segments.slice(start)
  const end = Buffer.from(`${closing(input.at(-1))}${CLOSE_BODY}`)
  const length = surface.reduce((sum, piece) => sum + lengthOf(piece), 0)
  const body = bufferFor(length + placedLength(input) + end.length, spentBody)
  let at = 0
  for (const piece of surface)
    at = Buffer.isBuffer(piece) ? at + piece.copy(body, at) : putPlaced(piece, body, at)
  at = putAll(input, body, at)
  return bodyIn(body, at + end.copy(body, at))
}

/**
 * The body of the surface and of the segments from index `from` on, in pieces. The last piece is the end of `body`, which
 * contains all segments, and is not copied.
 */
export function buildBodyFrom(
  from: number,
  { body, segments, bodyOptions }: Pick<OutgoingRequest, 'body' | 'segments' | 'bodyOptions'>,
): Buffer[] {
  const surface = segments.filter(({ role }) => OF_THE_SURFACE.has(role))
  const [first, ...more] = segments.slice(from)
  const end = `${closing(segments.slice(from).at(-1))}${CLOSE_BODY}`
  const rest = (first?.length ?? 0) + placedLength(more) + end.length
  return [
    buildBody(surface, bodyOptions).subarray(0, -CLOSE_BODY.length),
    Buffer.from(first === undefined ? '' : opening(first)),
    body.subarray(-rest),
  ]
}

const OF_THE_SURFACE: ReadonlySet<SegmentRole> = new Set(['params', 'tool', 'system'])

const OPEN_INPUT = ',"input":['
const CLOSE_BODY = ']}'

/**
 * The parts of one user Event form one message. Messages never grow: later parts form a message of their own. The lists of the
 * surface are not in this order in the body, so each bracket only opens or continues its own list.
 */
function between(before: SegmentPlace | undefined, now: SegmentPlace): string {
  if (before === undefined) return ''
  if (now.role === 'tool') return before.role === 'tool' ? ',' : ',"tools":['
  if (now.role === 'system') return before.role === 'system' ? '\\n\\n' : ',"instructions":"'
  if (OF_THE_SURFACE.has(before.role)) return `${OPEN_INPUT}${opening(now)}`
  const same = isPart(before) && isPart(now) && before.seq === now.seq
  return same ? ',' : `${closing(before)},${opening(now)}`
}

function opening(first: SegmentPlace): string {
  return isPart(first) ? '{"type":"message","role":"user","content":[' : ''
}

/** What closes the message that ends with this segment. */
function closing(last: SegmentPlace | undefined): string {
  return last !== undefined && isPart(last) ? ']}' : ''
}

/** Every other segment of the input is a whole item. */
function isPart({ role, whole }: SegmentPlace): boolean {
  return role === 'user' && whole !== true
}

function closeSegments(all: readonly Segment[], close: string): (Segment | string)[] {
  return all.length === 0 ? [] : [...all, close]
}

function lengthOf(piece: Segment | Buffer): number {
  return Buffer.isBuffer(piece) ? piece.length : placedLength([piece])
}

/** Encoded once per surface: it comes before every item encoded under that surface. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const blocks = [
    block('params', paramsOf(surface)),
    ...surface.tools.map((tool) => block('tool', toolOf(tool))),
    ...surface.system.filter(hasWords).map((text) => block('system', insideString(text))),
  ]
  const fixed = placeSegments(blocks, undefined, between)
  FIXED.set(surface, fixed)
  return fixed
}

const FIXED = new WeakMap<Surface, readonly Segment[]>()

/** Members of the body, without its braces. */
function paramsOf({ model, tools, params }: Surface): string {
  const { tool_choice, effort } = params
  const choice = tools.length === 0 ? {} : { tool_choice, parallel_tool_calls: true }
  // Reasoning is returned encrypted, because the vendor is asked not to store it.
  const include = params.reasoning === true ? { include: ['reasoning.encrypted_content'] } : {}
  const reasoning = {
    ...(effort === undefined ? {} : { effort }),
    ...(params.reasoning === true ? { summary: 'auto' } : {}),
  }
  const thought = Object.keys(reasoning).length === 0 ? {} : { reasoning }
  const members = { model, stream: true, store: false, ...choice, ...include, ...thought }
  return wellFormedJson(members).slice(1, -1)
}

function toolOf({ name, description, parameters }: ToolSchema): string {
  const tool: Omit<FunctionTool, 'parameters' | 'strict'> = { type: 'function', name, description }
  const members = wellFormedJson(tool).slice(0, -1)
  return `${members},"parameters":${canonicalJson(parameters)},"strict":false}`
}

function insideString(text: string): string {
  return canonicalJson(text).slice(1, -1)
}

/**
 * The vendor rejects blank text, and reasoning with nothing but an id, because it stored nothing under that id. Both are removed
 * before checking what follows each reasoning item.
 */
function goesBack(item: ConversationItem): boolean {
  if (item.kind === 'assistant') return !item.parts.every(isBlank)
  if (item.kind !== 'reasoning') return true
  if (!isJsonObject(item.item)) return false
  const { encrypted_content: encrypted, content } = item.item
  return (
    (typeof encrypted === 'string' && encrypted !== '') ||
    (Array.isArray(content) && content.length > 0)
  )
}

function blocksOf(item: ConversationItem, { params }: Surface): SegmentBlock[] {
  switch (item.kind) {
    case 'user':
      if (item.form === 'string') return stringBlock(item, personsMessage)
      return partBlocks(item, (part) => fileContent(part, params) ?? textContent(part))
    case 'developer':
      return partBlocks(item, (part) => contentJson(developerMessage(partText(part), params)))
    case 'assistant':
      return partBlocks(item, (part) => contentJson(assistantMessage(partText(part), item.phase)))
    case 'reasoning':
      return [block('reasoning', canonicalJson(item.item), item.seq)]
    case 'tool_call': {
      const { call_id, name, arguments: text } = item
      const call = { call_id: callId(call_id), name: callName(name), arguments: text || '{}' }
      return [block('tool_call', contentJson({ type: 'function_call', ...call }), item.seq)]
    }
    case 'tool_result': {
      const result = { call_id: callId(item.call_id), output: resultText(item) }
      return [
        block('tool_result', contentJson({ type: 'function_call_output', ...result }), item.seq),
      ]
    }
  }
}

/** Images and documents, if the model accepts them. */
function fileContent(part: Part, { images, files }: SurfaceParams): EmbeddedFile | undefined {
  if (part.type === 'text' || part.bytes === undefined || part.bytes.length === 0) return undefined
  const { bytes, media_type, handle = '@file' } = part
  const url = `data:${media_type};base64,${BASE64}`
  if (isImage(media_type) && images !== false) {
    return embedBase64(bytes, contentJson({ type: 'input_image', detail: 'auto', image_url: url }))
  }
  if (media_type === 'application/pdf' && files !== false) {
    const filename = `${handle.replace(/^@/, '')}.pdf`
    return embedBase64(bytes, contentJson({ type: 'input_file', filename, file_data: url }))
  }
  return undefined
}

function textContent(part: Part): string | EmbeddedFile {
  return embedPartText(part, (text) => contentJson({ type: 'input_text', text }))
}

function personsMessage(content: string): string {
  return contentJson({ type: 'message', role: 'user', content })
}

function developerMessage(text: string, { late_role }: SurfaceParams): EasyInputMessage {
  if (late_role === 'user') return { type: 'message', role: 'user', content: fenced(text) }
  const role = late_role === 'system' ? 'system' : 'developer'
  return { type: 'message', role, content: text }
}

function assistantMessage(content: string, phase: string | undefined): EasyInputMessage {
  // The vendor rejects other phases.
  if (phase !== 'commentary' && phase !== 'final_answer') {
    return { type: 'message', role: 'assistant', content }
  }
  return { type: 'message', role: 'assistant', content, phase }
}

function contentJson(content: ResponseInputContent | ResponseInputItem): string {
  return wellFormedJson(content)
}
