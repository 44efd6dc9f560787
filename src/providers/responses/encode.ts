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
import { bodyIn, roomFor } from '../body-room.ts'
import { callId, callName } from '../call-name.ts'
import type { Framing, Outgoing } from '../provider.ts'
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
  saying,
  segment,
  showing,
  wordsOf,
  type ShownFile,
} from '../segment-bytes.ts'

/**
 * Parameters, tools, system blocks, then content. A segment of content is a whole item of the input, but for a part of what a
 * person said, which is content of a message; a system block is text inside a string. Pure.
 */
export function encode(items: readonly ConversationItem[], surface: Surface): Segment[] {
  const replayed = replayedReasoning(items.filter(goesBack), 'responses', surface.model)
  return [...fixedOf(surface), ...replayed.flatMap((item) => segmentsOf(item, surface))]
}

/** The body. Its input stands last, so that a body which grows begins like the one before. This dialect has no cache marks. Pure. */
export function frame(
  segments: readonly Segment[],
  { cacheKey, spent }: Pick<Framing, 'cacheKey' | 'spent'>,
): Buffer {
  const found = segments.findIndex(({ role }) => !OF_THE_SURFACE.has(role))
  const start = found === -1 ? segments.length : found
  const fixed = (role: SegmentRole) => segments.slice(0, start).filter((one) => one.role === role)
  const key = Buffer.from(`"prompt_cache_key":${canonicalJson(fittingKey(cacheKey))}`)
  const body = new Body(roomFor(mostBytes(segments) + key.length, spent))
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
 * The body of the surface and of what comes from the segment at `from` on. In pieces, the last of which is the end of `body`, in
 * which all segments stand: that is not copied.
 */
export function frameFrom(
  from: number,
  { body, segments, framing }: Pick<Outgoing, 'body' | 'segments' | 'framing'>,
): Buffer[] {
  const surface = segments.filter(({ role }) => OF_THE_SURFACE.has(role))
  const content = segments.slice(from)
  const opening = between(undefined, content[0])
  const rest = inputLength(content) - opening.length + CLOSE_BODY.length
  return [frame(surface, framing).subarray(0, -CLOSE_BODY.length), opening, body.subarray(-rest)]
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
 * What stands between two segments of the input, before the first, or behind the last. What a person said at once is one message,
 * and no message ever grows: what was said later stands in one of its own.
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

/** More than stands around all lists, and more than stands around a segment. */
const AROUND_BODY = 128
const AROUND_SEGMENT = 64

function mostBytes(segments: readonly Segment[]): number {
  let most = AROUND_BODY
  for (const { length } of segments) most += length + AROUND_SEGMENT
  return most
}

/** One piece of memory, into which everything is copied once. */
class Body {
  readonly #room: Buffer
  #end = 0

  constructor(room: Buffer) {
    this.#room = room
  }

  put(bytes: Buffer): void {
    if (bytes.length === 1) this.#room[this.#end] = bytes[0] ?? 0
    else this.#room.set(bytes, this.#end)
    this.#end += bytes.length
  }

  putSegment(one: Segment): void {
    this.#end = put(one, this.#room, this.#end)
  }

  /** Nothing at all where there is nothing to list. */
  list(open: Buffer, all: readonly Segment[], joint: Buffer, close: Buffer): void {
    for (const [index, one] of all.entries()) {
      this.put(index === 0 ? open : joint)
      this.putSegment(one)
    }
    if (all.length > 0) this.put(close)
  }

  whole(): Buffer {
    return bodyIn(this.#room, this.#end)
  }
}

/** Encoded once a surface: it stands before every item that is ever encoded under it. */
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
  // It comes back encrypted, because the vendor is asked to store nothing.
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
  const told: Omit<FunctionTool, 'parameters' | 'strict'> = { type: 'function', name, description }
  const members = wellFormedJson(told).slice(0, -1)
  return `${members},"parameters":${canonicalJson(parameters)},"strict":false}`
}

function insideString(text: string): string {
  return canonicalJson(text).slice(1, -1)
}

/**
 * Blank text is refused, and so is reasoning that holds nothing but its id: the vendor stored nothing to find by it. Both are
 * left out before it is known what reasoning stands before.
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
      return ofParts(item, (part) => written(developerMessage(wordsOf(part), params)))
    case 'assistant':
      return ofParts(item, (part) => written(assistantMessage(wordsOf(part), item.phase)))
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

type Said = Extract<ConversationItem, { readonly parts: readonly Part[] }>

/** One segment a part, but for blank ones. */
function ofParts({ kind, seq, parts }: Said, said: (part: Part) => string | ShownFile): Segment[] {
  return parts.flatMap((part) => (isBlank(part) ? [] : [segment(kind, said(part), seq, part)]))
}

/** Pixels, and documents, where the model takes them as such. */
function fileContent(part: Part, { images, files }: SurfaceParams): ShownFile | undefined {
  if (part.type === 'text' || part.bytes === undefined || part.bytes.length === 0) return undefined
  const { bytes, media_type, handle = '@file' } = part
  const url = `data:${media_type};base64,${BASE64}`
  if (isImage(media_type) && images !== false) {
    return showing(bytes, written({ type: 'input_image', detail: 'auto', image_url: url }))
  }
  if (media_type === 'application/pdf' && files !== false) {
    const filename = `${handle.replace(/^@/, '')}.pdf`
    return showing(bytes, written({ type: 'input_file', filename, file_data: url }))
  }
  return undefined
}

function textContent(part: Part): string | ShownFile {
  return saying(part, (text) => written({ type: 'input_text', text }))
}

function developerMessage(text: string, { late_role }: SurfaceParams): EasyInputMessage {
  if (late_role === 'user') return { type: 'message', role: 'user', content: fenced(text) }
  const role = late_role === 'system' ? 'system' : 'developer'
  return { type: 'message', role, content: text }
}

function assistantMessage(content: string, phase: string | undefined): EasyInputMessage {
  // Any other name is refused.
  if (phase !== 'commentary' && phase !== 'final_answer') {
    return { type: 'message', role: 'assistant', content }
  }
  return { type: 'message', role: 'assistant', content, phase }
}

function written(content: ResponseInputContent | ResponseInputItem): string {
  return wellFormedJson(content)
}
