import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { RehearsalSegment } from '../../src/providers/rehearsal/schema.ts'
import { cacheBlock } from './cache-blocks.ts'
import { chatAnswer } from './chat-answer.ts'
import { refusedRead, type Read, type RequestReading } from './dialect.ts'
import { MediaList } from './media-list.ts'
import { checkLeniently } from './rules/leniency.ts'
import { misshapen, notRehearsed, wrong } from './rules/refusal.ts'
import { requestCheck, streaming, wantsStream } from './rules/request-schemas.ts'
import { brokenChatRule, offeredIn } from './rules/chat.ts'
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

type Body = ChatCompletionCreateParamsStreaming

/** Parses a request of OpenAI's Chat Completions, or returns the refusal that the vendor would send. */
export async function readChat(
  body: unknown,
  { factsOf, leniency }: RequestReading,
): Promise<Read> {
  const checked = checkLeniently(await requestCheck.chat(), leniency, streaming(body))
  if (!checked.ok) return refusedRead(misshapen(checked.problems))
  const params = checked.value
  const streams = wantsStream(body)
  const broken = brokenChatRule(params, streams)
  if (broken !== undefined) return refusedRead(broken)
  const { model, stop } = params
  const media = new MediaList(factsOf(model))
  const request = { dialect: 'rehearsal', segments: segmentsOf(params, media) } as const
  if (media.refusal !== undefined) return refusedRead(media.refusal)
  const includeUsage = params.stream_options?.include_usage === true
  return {
    ok: true,
    request: {
      model,
      streams,
      request,
      cache: { key: params.prompt_cache_key ?? '', blocks: blocksOf(params), marks: 'every' },
      media: media.media,
      limit: params.max_completion_tokens ?? params.max_tokens ?? undefined,
      stops: [stop ?? []].flat(),
      parallel: params.parallel_tool_calls !== false,
      render: (answer) => chatAnswer(answer, includeUsage),
    },
  }
}

function segmentsOf(body: Body, media: MediaList): RehearsalSegment[] {
  const { model, messages, reasoning_effort } = body
  const effort = reasoning_effort ? { effort: reasoning_effort } : {}
  const tool_choice = typeof body.tool_choice === 'string' ? body.tool_choice : 'auto'
  const names = new Map<string, string>()
  const found = messages.findIndex(({ role }) => !OF_THE_START.has(role))
  const start = found < 0 ? messages.length : found
  return [
    { role: 'params', model, contract_version: '', tool_choice, ...effort },
    ...offeredIn(body).map(toolSegment),
    ...withHandles(
      messages.flatMap((message, index): RehearsalSegment[] =>
        index < start
          ? [{ role: 'system', text: wordsIn(message.content) }]
          : messageSegments(['messages', index], message, names, media),
      ),
    ),
  ]
}

const OF_THE_START: ReadonlySet<string> = new Set(['system', 'developer'])

function messageSegments(
  at: ValuePath,
  message: ChatCompletionMessageParam,
  names: Map<string, string>,
  media: MediaList,
): RehearsalSegment[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return [{ role: 'developer', parts: [{ type: 'text', text: wordsIn(message.content) }] }]
    case 'user':
      if (typeof message.content === 'string') return [userText(message.content)]
      return message.content.flatMap((part, index) =>
        userSegments([...at, 'content', index], part, media),
      )
    case 'assistant':
      return assistantSegments(message, names)
    case 'tool': {
      const { tool_call_id: call_id, content } = message
      return [resultOf({ call_id, name: names.get(call_id) ?? '' }, wordsIn(content))]
    }
    case 'function':
      return [{ role: 'other', of: message.role }]
  }
}

function wordsIn(content: ChatCompletionMessageParam['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function assistantSegments(
  { content, tool_calls = [] }: Extract<ChatCompletionMessageParam, { role: 'assistant' }>,
  names: Map<string, string>,
): RehearsalSegment[] {
  const text = wordsIn(content)
  const calls = tool_calls.flatMap((call): RehearsalSegment[] => {
    if (call.type !== 'function') return []
    const { name, arguments: json } = call.function
    names.set(call.id, name)
    return [{ role: 'tool_call', call_id: call.id, name, arguments: json }]
  })
  return [
    ...(text === ''
      ? []
      : [{ role: 'assistant' as const, parts: [{ type: 'text' as const, text }] }]),
    ...calls,
  ]
}

function userSegments(
  at: ValuePath,
  part: ChatCompletionContentPart,
  media: MediaList,
): RehearsalSegment[] {
  if (part.type === 'text') return [userText(part.text)]
  const file = mediaPart(at, part, media)
  return file === undefined ? [] : [userSegment(file)]
}

type MediaContent = Exclude<ChatCompletionContentPart, { readonly type: 'text' }>

function mediaPart(at: ValuePath, part: MediaContent, media: MediaList): UserPart | undefined {
  if (part.type === 'input_audio') {
    return media.refuse(notRehearsed([...at, 'input_audio'], 'does not accept audio'))
  }
  if (part.type === 'image_url') {
    const image = media.imageUrl([...at, 'image_url', 'url'], part.image_url.url)
    return image && filePart(image.bytes, image.media_type)
  }
  const { file_id, file_data, filename } = part.file
  if (file_id !== undefined) return media.elsewhere([...at, 'file', 'file_id'])
  if (file_data === undefined || filename === undefined) {
    const name = file_data === undefined ? 'file_data' : 'filename'
    const message = 'is required'
    return media.refuse(wrong([...at, 'file', name], message, 'missing_required_parameter'))
  }
  const file = media.fileUrl([...at, 'file', 'file_data'], file_data)
  return file && filePart(file.bytes, file.media_type, filename)
}

/** Tools, then messages, split into parts: a prefix that ends before a part stays cached when the part changes. */
function blocksOf({ tools = [], messages }: Body): Buffer[] {
  const read = messages.flatMap((message): object[] =>
    message.role === 'user' && typeof message.content !== 'string'
      ? message.content.map((part) => ({ role: message.role, part }))
      : [message],
  )
  return [...tools, ...read].map(cacheBlock)
}
