import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { RehearsalSegment } from '../schema.ts'
import { cacheBlock } from './cache-blocks.ts'
import { chatTold } from './chat-answer.ts'
import { refused, type Read, type RequestReading } from './dialect.ts'
import { MediaList } from './media-list.ts'
import { checkLeniently } from './rules/leniency.ts'
import { misshapen, notRehearsed, wrong } from './rules/refusal.ts'
import { requestCheck, streaming, wantsStream } from './rules/request-schemas.ts'
import { brokenChatRule, offeredIn } from './rules/chat.ts'
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

type Body = ChatCompletionCreateParamsStreaming

/** Understands a request of OpenAI's Chat Completions, or says why the vendor would refuse it. */
export async function readChat(
  body: unknown,
  { factsOf, leniency }: RequestReading,
): Promise<Read> {
  const checked = checkLeniently(await requestCheck.chat(), leniency, streaming(body))
  if (!checked.ok) return refused(misshapen(checked.problems))
  const asked = checked.value
  const streams = wantsStream(body)
  const broken = brokenChatRule(asked, streams)
  if (broken !== undefined) return refused(broken)
  const { model, stop } = asked
  const media = new MediaList(factsOf(model))
  const request = { dialect: 'rehearsal', segments: segmentsOf(asked, media) } as const
  if (media.refusal !== undefined) return refused(media.refusal)
  const usageTold = asked.stream_options?.include_usage === true
  return {
    ok: true,
    asked: {
      model,
      streams,
      request,
      cache: { key: asked.prompt_cache_key ?? '', blocks: blocksOf(asked), marks: 'every' },
      media: media.media,
      limit: asked.max_completion_tokens ?? asked.max_tokens ?? undefined,
      stops: [stop ?? []].flat(),
      parallel: asked.parallel_tool_calls !== false,
      told: (answer) => chatTold(answer, usageTold),
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
          : said(['messages', index], message, names, media),
      ),
    ),
  ]
}

const OF_THE_START: ReadonlySet<string> = new Set(['system', 'developer'])

function said(
  at: Place,
  message: ChatCompletionMessageParam,
  names: Map<string, string>,
  media: MediaList,
): RehearsalSegment[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return [{ role: 'developer', parts: [{ type: 'text', text: wordsIn(message.content) }] }]
    case 'user':
      if (typeof message.content === 'string') return [spoken(message.content)]
      return message.content.flatMap((part, index) => heard([...at, 'content', index], part, media))
    case 'assistant':
      return answered(message, names)
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

function answered(
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

function heard(at: Place, part: ChatCompletionContentPart, media: MediaList): RehearsalSegment[] {
  if (part.type === 'text') return [spoken(part.text)]
  const file = shown(at, part, media)
  return file === undefined ? [] : [person(file)]
}

type Shown = Exclude<ChatCompletionContentPart, { readonly type: 'text' }>

function shown(at: Place, part: Shown, media: MediaList): SaidPart | undefined {
  if (part.type === 'input_audio') {
    return media.refuse(notRehearsed([...at, 'input_audio'], 'does not listen'))
  }
  if (part.type === 'image_url') {
    const image = media.imageUrl([...at, 'image_url', 'url'], part.image_url.url)
    return image && filePart(image.bytes, image.media_type)
  }
  const { file_id, file_data, filename } = part.file
  if (file_id !== undefined) return media.elsewhere([...at, 'file', 'file_id'])
  if (file_data === undefined || filename === undefined) {
    const name = file_data === undefined ? 'file_data' : 'filename'
    const message = 'must be there, and is not'
    return media.refuse(wrong([...at, 'file', name], message, 'missing_required_parameter'))
  }
  const file = media.fileUrl([...at, 'file', 'file_data'], file_data)
  return file && filePart(file.bytes, file.media_type, filename)
}

/** Tools, then messages, and of each its parts: what a model read before a part is read again without it. */
function blocksOf({ tools = [], messages }: Body): Buffer[] {
  const read = messages.flatMap((message): object[] =>
    message.role === 'user' && typeof message.content !== 'string'
      ? message.content.map((part) => ({ role: message.role, part }))
      : [message],
  )
  return [...tools, ...read].map(cacheBlock)
}
