import type {
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import type { RehearsalSegment } from '../../src/providers/rehearsal/schema.ts'
import { cacheBlock } from './cache-blocks.ts'
import { refusedRead, type Read, type RequestReading } from './dialect.ts'
import { MediaList } from './media-list.ts'
import { checkLeniently } from './rules/leniency.ts'
import { misshapen, wrong } from './rules/refusal.ts'
import { requestCheck, streaming, wantsStream } from './rules/request-schemas.ts'
import type { ResponseMemory } from './response-store.ts'
import { responsesAnswer } from './responses-answer.ts'
import { fullName, namespacedTools } from './namespaces.ts'
import {
  brokenInputRule,
  brokenResponsesRule,
  functionsOf,
  type PlacedItem,
} from './rules/responses.ts'
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

type Body = ResponseCreateParamsStreaming

/** Parses a request of OpenAI's Responses, or returns the refusal that the vendor would send. */
export async function readResponses(
  body: unknown,
  { factsOf, leniency }: RequestReading,
  memory: ResponseMemory,
): Promise<Read> {
  const checked = checkLeniently(await requestCheck.responses(), leniency, streaming(body))
  if (!checked.ok) return refusedRead(misshapen(checked.problems))
  const params = checked.value
  const streams = wantsStream(body)
  const broken = brokenResponsesRule(params, streams)
  if (broken !== undefined) return refusedRead(broken)
  const previous = params.previous_response_id ?? undefined
  const earlier = previous === undefined ? [] : memory.itemsOf(previous)
  if (earlier === undefined) {
    const message = `there is no previous response with the id ${previous}`
    return refusedRead(wrong(['previous_response_id'], message, 'previous_response_not_found'))
  }
  const news = itemsOf(params.input)
  const all = [...earlier.map((item): PlacedItem => ({ item })), ...news]
  const brokenInput = brokenInputRule(all)
  if (brokenInput !== undefined) return refusedRead(brokenInput)
  const { model = '' } = params
  const media = new MediaList(factsOf(model))
  const request = { dialect: 'rehearsal', segments: segmentsOf(params, all, media) } as const
  if (media.refusal !== undefined) return refusedRead(media.refusal)
  return {
    ok: true,
    request: {
      model,
      streams,
      request,
      cache: { key: params.prompt_cache_key ?? '', blocks: blocksOf(params, all), marks: 'every' },
      media: media.media,
      limit: params.max_output_tokens ?? undefined,
      stops: [],
      parallel: params.parallel_tool_calls !== false,
      render: (answer) => {
        const rendered = responsesAnswer(answer, params)
        const items = [...news.map(({ item }) => item), ...rendered.output]
        memory.keep(rendered.id, { items, previous, store: params.store !== false })
        return rendered
      },
    },
  }
}

function itemsOf(input: Body['input'] = []): PlacedItem[] {
  if (typeof input === 'string') {
    return [{ at: ['input'], item: { type: 'message', role: 'user', content: input } }]
  }
  return input.map((item, index) => ({ at: ['input', index], item }))
}

function segmentsOf(
  body: Body,
  items: readonly PlacedItem[],
  media: MediaList,
): RehearsalSegment[] {
  const { model = '', instructions, reasoning } = body
  const effort = reasoning?.effort ? { effort: reasoning.effort } : {}
  const tool_choice = typeof body.tool_choice === 'string' ? body.tool_choice : 'auto'
  const names = new Map<string, string>()
  return [
    { role: 'params', model, contract_version: '', tool_choice, ...effort },
    ...functionsOf(body).map(toolSegment),
    ...namespacedTools(body),
    ...(instructions ? [{ role: 'system', text: instructions } as const] : []),
    ...withHandles(items.flatMap(({ at = [], item }) => itemSegments(at, item, names, media))),
  ]
}

function itemSegments(
  at: ValuePath,
  item: ResponseInputItem,
  names: Map<string, string>,
  media: MediaList,
): RehearsalSegment[] {
  if ('role' in item && 'content' in item) return messageSegments(at, item, media)
  if (item.type === 'function_call') {
    const { call_id, arguments: text } = item
    const name = fullName(item)
    names.set(call_id, name)
    return [{ role: 'tool_call', call_id, name, arguments: text }]
  }
  if (item.type === 'function_call_output') {
    const { call_id, output } = item
    const call = { call_id, name: names.get(call_id) ?? '' }
    if (typeof output === 'string') return [resultOf(call, output)]
    const text = output.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
    const files = output.flatMap((part, index) =>
      part.type === 'input_text' ? [] : (mediaPart([...at, 'output', index], part, media) ?? []),
    )
    return [resultOf(call, text.join('\n')), ...(files.length === 0 ? [] : [userSegment(...files)])]
  }
  if (item.type === 'reasoning') return [{ role: 'reasoning', item }]
  return [{ role: 'other', of: item.type ?? 'message' }]
}

type MessageItem = Extract<ResponseInputItem, { readonly role: string; readonly content: unknown }>

function messageSegments(at: ValuePath, { role, content }: MessageItem, media: MediaList) {
  const parts =
    typeof content === 'string' ? [{ type: 'input_text' as const, text: content }] : content
  return parts.flatMap((part, index): RehearsalSegment[] => {
    const text = part.type === 'input_text' || part.type === 'output_text' ? part.text : undefined
    if (role === 'assistant') {
      return [{ role, parts: [{ type: 'text', text: text ?? '' }] }]
    }
    if (role !== 'user') return [{ role: 'developer', parts: [{ type: 'text', text: text ?? '' }] }]
    if (text !== undefined) return [userText(text)]
    if (part.type !== 'input_image' && part.type !== 'input_file') return []
    const file = mediaPart([...at, 'content', index], part, media)
    return file === undefined ? [] : [userSegment(file)]
  })
}

type MediaContent = Exclude<ResponseInputContent, { readonly type: 'input_text' }>
interface Picture {
  readonly type: 'input_image'
  readonly image_url?: string | null
  readonly file_id?: string | null
}
interface Document {
  readonly type: 'input_file'
  readonly filename?: string | null
  readonly file_data?: string | null
  readonly file_id?: string | null
  readonly file_url?: string | null
}

function mediaPart(
  at: ValuePath,
  part: MediaContent | Picture | Document,
  media: MediaList,
): UserPart | undefined {
  if (part.type === 'input_image') {
    if (part.file_id) return media.elsewhere([...at, 'file_id'])
    if (!part.image_url) {
      const message = 'an image is required'
      return media.refuse(wrong([...at, 'image_url'], message, 'missing_required_parameter'))
    }
    const image = media.imageUrl([...at, 'image_url'], part.image_url)
    return image && filePart(image.bytes, image.media_type)
  }
  if (part.file_id || part.file_url) return media.elsewhere(at)
  if (!part.file_data || !part.filename) {
    const name = part.file_data ? 'filename' : 'file_data'
    const message = 'is required'
    return media.refuse(wrong([...at, name], message, 'missing_required_parameter'))
  }
  const file = media.fileUrl([...at, 'file_data'], part.file_data)
  return file && filePart(file.bytes, file.media_type, part.filename)
}

/**
 * Tools, instructions, then items, with messages split into parts: a prefix that ends before a part stays cached when the
 * part changes.
 */
function blocksOf({ tools = [], instructions }: Body, items: readonly PlacedItem[]): Buffer[] {
  return [...tools, { instructions }, ...items.flatMap(({ item }) => readOf(item))].map(cacheBlock)
}

/** An item that the client sends back counts the same as one that the server remembers. */
function readOf(item: ResponseInputItem): object[] {
  if (!('role' in item) || !('content' in item)) return [withoutId(item)]
  const { role, content } = item
  if (typeof content === 'string') return [{ role, text: content }]
  return content.map((part) => ('text' in part ? { role, text: part.text } : { role, part }))
}

function withoutId(item: object): object {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !NOT_READ.has(name)))
}

const NOT_READ: ReadonlySet<string> = new Set(['id', 'status'])
