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
import { fenced } from '../../encoding/words/labels.ts'
import { resultText } from '../../encoding/words/results.ts'
import {
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

/**
 * Parameters, tools, system blocks, then content. A content segment is a whole input item, except for a part of a user item,
 * which is a content part of a message; a system block is text inside a string. Pure.
 */
export function encode(items: readonly ConversationItem[], surface: Surface): Segment[] {
  const replayed = replayedReasoning(items.filter(goesBack), 'responses', surface.model)
  return [...fixedOf(surface), ...replayed.flatMap((item) => segmentsOf(item, surface))]
}

/** The body. Its input comes last, so a body that grows keeps its beginning. This dialect has no cache marks. Pure. */
export function buildBody(
  segments: readonly Segment[],
  { cacheKey, spent }: Pick<BodyOptions, 'cacheKey' | 'spent'>,
): Buffer {
  const found = segments.findIndex(({ role }) => !OF_THE_SURFACE.has(role))
  const start = found === -1 ? segments.length : found
  const fixed = (role: SegmentRole) => segments.slice(0, start).filter((one) => one.role === role)
  const key = Buffer.from(`"prompt_cache_key":${canonicalJson(fittingKey(cacheKey))}`)
  const body = new Body(bufferFor(mostBytes(segments) + key.length, spent))
  body.put(OPEN_BODY)
  for (const one of fixed('params')) {
    body.putSegment(one)
    body.put(COMMA)
  }
  body.put(key)
  body.list(OPEN_INSTRUCTIONS, fixed('system'), BLANK_LINE, CLOSE_INSTRUCTIONS)
  body.list(OPEN_TOOLS, fixed('tool'), COMMA, CLOSE_TOOLS)
  body.put(OPEN_INPUT)
  putInput(body, segments.slice(start))
  body.put(CLOSE_BODY)
  return body.whole()
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
  const content = segments.slice(from)
  const opening = between(undefined, content[0])
  const rest = inputLength(content) - opening.length + CLOSE_BODY.length
  return [
    buildBody(surface, bodyOptions).subarray(0, -CLOSE_BODY.length),
    opening,
    body.subarray(-rest),
  ]
}

const OF_THE_SURFACE: ReadonlySet<SegmentRole> = new Set(['params', 'tool', 'system'])

const OPEN_BODY = Buffer.from('{')
const COMMA = Buffer.from(',')
const OPEN_INSTRUCTIONS = Buffer.from(',"instructions":"')
const BLANK_LINE = Buffer.from('\\n\\n')
const CLOSE_INSTRUCTIONS = Buffer.from('"')
const OPEN_TOOLS = Buffer.from(',"tools":[')
const CLOSE_TOOLS = Buffer.from(']')
const OPEN_INPUT = Buffer.from(',"input":[')
const CLOSE_BODY = Buffer.from(']}')
const OPEN_MESSAGE = Buffer.from('{"type":"message","role":"user","content":[')
const CLOSE_MESSAGE = Buffer.from(']}')
const NOTHING = Buffer.alloc(0)

function putInput(body: Body, content: readonly Segment[]): void {
  let before: Segment | undefined
  for (const now of content) {
    body.put(between(before, now))
    body.putSegment(now)
    before = now
  }
  body.put(between(before, undefined))
}

function inputLength(content: readonly Segment[]): number {
  let length = 0
  let before: Segment | undefined
  for (const now of content) {
    length += between(before, now).length + now.length
    before = now
  }
  return length + between(before, undefined).length
}

/**
 * The bytes between two input segments, before the first, or after the last. The parts of one user Event form one message.
 * Messages never grow: later parts form a message of their own.
 */
function between(before: Segment | undefined, now: Segment | undefined): Buffer {
  const closes = before?.role === 'user'
  const opens = now?.role === 'user'
  if (before === undefined) return opens ? OPEN_MESSAGE : NOTHING
  if (now === undefined) return closes ? CLOSE_MESSAGE : NOTHING
  if (closes && opens && before.seq === now.seq) return COMMA
  if (closes) return opens ? CLOSE_AND_OPEN : CLOSE_AND_GO_ON
  return opens ? GO_ON_AND_OPEN : COMMA
}

const CLOSE_AND_OPEN = Buffer.concat([CLOSE_MESSAGE, COMMA, OPEN_MESSAGE])
const CLOSE_AND_GO_ON = Buffer.concat([CLOSE_MESSAGE, COMMA])
const GO_ON_AND_OPEN = Buffer.concat([COMMA, OPEN_MESSAGE])

/** Upper bounds for the bytes around all lists, and around one segment. */
const AROUND_BODY = 128
const AROUND_SEGMENT = 64

function mostBytes(segments: readonly Segment[]): number {
  let most = AROUND_BODY
  for (const { length } of segments) most += length + AROUND_SEGMENT
  return most
}

/** A buffer into which everything is copied once. */
class Body {
  readonly #buffer: Buffer
  #end = 0

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  put(bytes: Buffer): void {
    if (bytes.length === 1) this.#buffer[this.#end] = bytes[0] ?? 0
    else this.#buffer.set(bytes, this.#end)
    this.#end += bytes.length
  }

  putSegment(one: Segment): void {
    this.#end = put(one, this.#buffer, this.#end)
  }

  /** Writes nothing for an empty list. */
  list(open: Buffer, all: readonly Segment[], joint: Buffer, close: Buffer): void {
    for (const [index, one] of all.entries()) {
      this.put(index === 0 ? open : joint)
      this.putSegment(one)
    }
    if (all.length > 0) this.put(close)
  }

  whole(): Buffer {
    return bodyIn(this.#buffer, this.#end)
  }
}

/** Encoded once per surface: it comes before every item encoded under that surface. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const fixed = [
    segment('params', paramsOf(surface)),
    ...surface.tools.map((tool) => segment('tool', toolOf(tool))),
    ...surface.system.filter(hasWords).map((text) => segment('system', insideString(text))),
  ]
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

function segmentsOf(item: ConversationItem, { params }: Surface): Segment[] {
  switch (item.kind) {
    case 'user':
      return ofParts(item, (part) => fileContent(part, params) ?? textContent(part))
    case 'developer':
      return ofParts(item, (part) => written(developerMessage(partText(part), params)))
    case 'assistant':
      return ofParts(item, (part) => written(assistantMessage(partText(part), item.phase)))
    case 'reasoning':
      return [segment('reasoning', canonicalJson(item.item), item.seq)]
    case 'tool_call': {
      const { call_id, name, arguments: text } = item
      const call = { call_id: callId(call_id), name: callName(name), arguments: text || '{}' }
      return [segment('tool_call', written({ type: 'function_call', ...call }), item.seq)]
    }
    case 'tool_result': {
      const result = { call_id: callId(item.call_id), output: resultText(item) }
      return [
        segment('tool_result', written({ type: 'function_call_output', ...result }), item.seq),
      ]
    }
  }
}

type ItemWithParts = Extract<ConversationItem, { readonly parts: readonly Part[] }>

/** One segment per part, except blank parts. */
function ofParts(
  { kind, seq, parts }: ItemWithParts,
  encoded: (part: Part) => string | EmbeddedFile,
): Segment[] {
  return parts.flatMap((part) => (isBlank(part) ? [] : [segment(kind, encoded(part), seq, part)]))
}

/** Images and documents, if the model accepts them. */
function fileContent(part: Part, { images, files }: SurfaceParams): EmbeddedFile | undefined {
  if (part.type === 'text' || part.bytes === undefined || part.bytes.length === 0) return undefined
  const { bytes, media_type, handle = '@file' } = part
  const url = `data:${media_type};base64,${BASE64}`
  if (isImage(media_type) && images !== false) {
    return embedBase64(bytes, written({ type: 'input_image', detail: 'auto', image_url: url }))
  }
  if (media_type === 'application/pdf' && files !== false) {
    const filename = `${handle.replace(/^@/, '')}.pdf`
    return embedBase64(bytes, written({ type: 'input_file', filename, file_data: url }))
  }
  return undefined
}

function textContent(part: Part): string | EmbeddedFile {
  return embedPartText(part, (text) => written({ type: 'input_text', text }))
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

function written(content: ResponseInputContent | ResponseInputItem): string {
  return wellFormedJson(content)
}
