import type { ContentBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { hasWordsIn } from '../../encoding/json-text.ts'
import { canonicalJson, isJsonObject, wellFormedJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Mark, Segment, SegmentRole } from '../../model/segment.ts'
import type { Surface, SurfaceParams, ToolSchema } from '../../model/surface.ts'
import { bodyIn, bufferFor } from '../body-buffer.ts'
import { callId, callName } from '../call-name.ts'
import type { BodyOptions } from '../provider.ts'
import { replayedReasoning } from '../replayed-reasoning.ts'
import { BEFORE_NOT_SHOWN, fenced, NO_ANSWER } from '../../prompt/words/labels.ts'
import { resultText } from '../../prompt/words/results.ts'
import {
  argumentsObject,
  BASE64,
  hasWords,
  isBlank,
  isImage,
  block,
  embedText,
  embedPartText,
  embedBase64,
  partText,
  placeSegments,
  placedItems,
  placedLength,
  putAll,
  stringBlock,
  type SegmentBlock,
  type EmbeddedFile,
  type SegmentPlace,
  isText,
} from '../segment-bytes.ts'

/** Parameters, tools, system blocks, then one segment per content block. A block depends on its item and on what precedes it. Pure. */
export function encode(
  items: readonly ConversationItem[],
  surface: Surface,
  behind?: Segment,
): Segment[] {
  const fixed = fixedOf(surface)
  const sent = items.every(goesBack) ? items : items.filter(goesBack)
  const replayed = replayedReasoning(sent, 'messages', surface.model)
  const segments = placedItems(replayed, behind ?? fixed.at(-1), between, (item, before) =>
    blocksOf(item, surface, before),
  )
  return [...fixed, ...segments]
}

/** The body: segments behind their brackets, with cache marks at the end of marked blocks. Pure. */
export function buildBody(
  segments: readonly Segment[],
  { marks, spentBody }: Pick<BodyOptions, 'marks' | 'spentBody'>,
): Buffer {
  const marked = markedBlocks(segments, marks)
  const last = segments.at(-1)
  const end = Buffer.from(jointOf(last && BODY_PARTS[last.role], undefined))
  const length = placedLength(segments) + marked.size * (MARK.length - 1) + end.length
  const body = bufferFor(length, spentBody)
  let at = 0
  let next = 0
  for (const index of marked) {
    at = putAll(segments.slice(next, index + 1), body, at)
    // The mark overwrites the closing brace of the block and includes one itself.
    at += MARK.copy(body, at - 1) - 1
    next = index + 1
  }
  at = putAll(segments.slice(next), body, at)
  return bodyIn(body, at + end.copy(body, at))
}

const MARK = Buffer.from(',"cache_control":{"type":"ephemeral"}}')

/** The indexes of the marked blocks, in order. A mark on a block that cannot carry one moves to the nearest earlier block that can. */
function markedBlocks(segments: readonly Segment[], marks: readonly Mark[]): ReadonlySet<number> {
  const carriers = marks.map(({ after }) => {
    let index = Math.min(after, segments.length) - 1
    while (MARKLESS.has(segments[index]?.role)) index -= 1
    return index
  })
  return new Set(carriers.filter((index) => index >= 0).toSorted((a, b) => a - b))
}

const MARKLESS: ReadonlySet<SegmentRole | undefined> = new Set(['params', 'reasoning'])

/** Where a segment belongs: a member of the body, one of its lists, or a message. Adjacent segments in one place share its brackets. */
type BodyPart = 'params' | 'tools' | 'system' | 'person' | 'model' | 'harness'

const BODY_PARTS: Readonly<Record<SegmentRole, BodyPart>> = {
  params: 'params',
  tool: 'tools',
  system: 'system',
  developer: 'harness',
  user: 'person',
  assistant: 'model',
  reasoning: 'model',
  tool_call: 'model',
  tool_result: 'person',
}

/** Looked up, because there are few: all segments share them. */
function between(before: SegmentPlace | undefined, now: SegmentPlace): string {
  const after = JOINTS.get(before?.role) ?? new Map<SegmentRole, string>()
  const known = after.get(now.role)
  if (known !== undefined) return known
  const joint = jointOf(before && BODY_PARTS[before.role], BODY_PARTS[now.role])
  JOINTS.set(before?.role, after.set(now.role, joint))
  return joint
}

const JOINTS = new Map<SegmentRole | undefined, Map<SegmentRole, string>>()

const BRACKETS: Readonly<Record<BodyPart, readonly [open: string, close: string]>> = {
  params: ['', ''],
  tools: [',"tools":[', ']'],
  system: [',"system":[', ']'],
  person: ['{"role":"user","content":[', ']}'],
  model: ['{"role":"assistant","content":[', ']}'],
  harness: ['{"role":"system","content":[', ']}'],
}

/** The vendor rejects a conversation that starts with an assistant message. */
const BEGINNING = `${BRACKETS.person[0]}${textBlock(BEFORE_NOT_SHOWN)}${BRACKETS.person[1]},`

/** The vendor rejects a system message before a user message, and a message that was sent must not change. */
const UNANSWERED = `${BRACKETS.model[0]}${textBlock(NO_ANSWER)}${BRACKETS.model[1]},`

const MESSAGES: ReadonlySet<BodyPart | undefined> = new Set<BodyPart>([
  'person',
  'model',
  'harness',
])

/** The bytes between two places, before the first, or after the last. */
function jointOf(before: BodyPart | undefined, after: BodyPart | undefined): string {
  if (before !== undefined && before === after) return ','
  const close = before === undefined ? '{' : BRACKETS[before][1]
  const open = after === undefined ? ']}' : BRACKETS[after][0]
  if (MESSAGES.has(before)) {
    if (after === undefined) return close + open
    return `${close},${before === 'harness' && after === 'person' ? UNANSWERED : ''}${open}`
  }
  if (after !== undefined && !MESSAGES.has(after)) return close + open
  return `${close},"messages":[${after === 'model' ? BEGINNING : ''}${open}`
}

/** Encoded once per surface: it comes before every item encoded under that surface. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const blocks = [
    block('params', paramsOf(surface)),
    ...surface.tools.map((tool) => block('tool', toolOf(tool))),
    ...surface.system.filter(hasWords).map((text) => block('system', textBlock(text))),
  ]
  const fixed = placeSegments(blocks, undefined, between)
  FIXED.set(surface, fixed)
  return fixed
}

const FIXED = new WeakMap<Surface, readonly Segment[]>()

/** Members of the body, without its braces. */
function paramsOf({ model, tools, params: { limits, tool_choice, effort } }: Surface): string {
  const max_tokens = limits['output_tokens'] ?? DEFAULT_OUTPUT_TOKENS
  const choice = tools.length === 0 ? {} : { tool_choice: { type: tool_choice } }
  const thinking =
    effort === undefined
      ? {}
      : { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } }
  return wellFormedJson({ model, max_tokens, stream: true, ...choice, ...thinking }).slice(1, -1)
}

/** The vendor requires a limit. */
const DEFAULT_OUTPUT_TOKENS = 4096

function toolOf({ name, description, parameters }: ToolSchema): string {
  return `${openJson({ name, description })},"input_schema":${canonicalJson(parameters)}}`
}

/** The vendor rejects blank text, and thinking without a signature, such as that of an answer that was cut off. */
function goesBack(item: ConversationItem): boolean {
  if (item.kind === 'assistant') return !item.parts.every(isBlank)
  if (item.kind !== 'reasoning') return true
  if (!isJsonObject(item.item)) return false
  const { type, signature } = item.item
  return type === 'redacted_thinking' || (type === 'thinking' && Boolean(signature))
}

function blocksOf(
  item: ConversationItem,
  { params }: Surface,
  behind: SegmentRole | undefined,
): SegmentBlock[] {
  const { seq } = item
  switch (item.kind) {
    case 'user':
      // A list of one: only a block can carry a cache mark.
      if (item.form === 'string') return stringBlock(item, textBlock)
      return ofParts(item, 'user', (part) => fileBlock(part, params) ?? wordsBlock(part))
    case 'developer':
      return params.late_role === 'system' && takesSystemMessage(item, behind)
        ? ofParts(item, 'developer', wordsBlock)
        : ofParts(item, 'user', fencedBlock)
    case 'assistant':
      return ofParts(item, 'assistant', wordsBlock)
    case 'reasoning':
      return [block('reasoning', canonicalJson(item.item), seq)]
    case 'tool_call': {
      const id = callId(item.call_id)
      const name = callName(item.name)
      const used = `${openJson({ type: 'tool_use', id, name })},"input":${argumentsObject(item.arguments)}}`
      return [block('tool_call', used, seq)]
    }
    case 'tool_result': {
      const tool_use_id = callId(item.call_id)
      const result = { type: 'tool_result', tool_use_id, content: resultContent(item) } as const
      const failed = item.outcome !== 'ok'
      return [block('tool_result', blockJson(failed ? { ...result, is_error: true } : result), seq)]
    }
  }
}

/**
 * The vendor accepts a system message after a user message, and before an assistant message or at the end. Where it does not, a
 * fenced block of a user message says the same.
 */
function takesSystemMessage(item: DeveloperItem, behind: SegmentRole | undefined): boolean {
  if (item.between === true || behind === undefined) return false
  return behind === 'developer' || BODY_PARTS[behind] === 'person'
}

type DeveloperItem = Extract<ConversationItem, { kind: 'developer' }>
type ItemWithParts = Extract<ConversationItem, { kind: 'user' | 'developer' | 'assistant' }>

/** One segment per part, except blank parts. */
function ofParts(
  { seq, parts }: ItemWithParts,
  role: SegmentRole,
  blockOf: (part: Part) => string | EmbeddedFile | undefined,
): SegmentBlock[] {
  return parts.flatMap((part) => {
    const content = blockOf(part)
    return content === undefined ? [] : [block(role, content, seq, part)]
  })
}

/** Images and documents, if the model accepts them. */
function fileBlock(
  part: Part,
  { images, files }: SurfaceParams,
): string | EmbeddedFile | undefined {
  if (part.type === 'text' || part.bytes === undefined || part.bytes.length === 0) return undefined
  const { media_type, handle, bytes } = part
  const title = handle === undefined ? {} : { title: handle }
  if (isText(media_type)) {
    if (handle === undefined || !hasWordsIn(bytes)) return undefined
    const text = { type: 'text', media_type: 'text/plain' } as const
    return embedText(bytes, (data) =>
      blockJson({ type: 'document', source: { ...text, data }, ...title }),
    )
  }
  if (media_type === 'application/pdf' && files !== false) {
    const source = { type: 'base64', media_type, data: BASE64 } as const
    return embedBase64(bytes, blockJson({ type: 'document', source, ...title }))
  }
  if (isImage(media_type) && images !== false) {
    const source = { type: 'base64', media_type, data: BASE64 } as const
    // Without this, the vendor scales a large image down silently.
    const transformations = { oversized_image: 'error' } as const
    return embedBase64(bytes, blockJson({ type: 'image', source, transformations }))
  }
  return undefined
}

function wordsBlock(part: Part): string | EmbeddedFile | undefined {
  return isBlank(part) ? undefined : embedPartText(part, textBlock)
}

function fencedBlock(part: Part): string | undefined {
  return isBlank(part) ? undefined : textBlock(fenced(partText(part)))
}

function resultContent(item: Extract<ConversationItem, { kind: 'tool_result' }>): string {
  const text = resultText(item)
  return hasWords(text) ? text : resultText({ ...item, output: '' })
}

function textBlock(text: string): string {
  return blockJson({ type: 'text', text })
}

function blockJson(one: ContentBlockParam): string {
  return wellFormedJson(one)
}

/** An object without its closing brace, to append a member that is JSON already. */
function openJson(members: object): string {
  return wellFormedJson(members).slice(0, -1)
}
