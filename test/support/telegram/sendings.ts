import type { DoubleChat, ShownMessage } from './double-chat.ts'
import { wrongDocument, wrongPhoto, wrongRich, wrongText } from './message-rules.ts'

/** A call that shows something in a chat. */
export interface Sending {
  readonly method:
    | 'sendMessage'
    | 'sendRichMessage'
    | 'sendPhoto'
    | 'sendDocument'
    | 'sendChatAction'
    | 'sendMessageDraft'
  readonly args: Readonly<Record<string, unknown>>
  /** Of the process that sends it. */
  readonly era: number
}

interface Reply {
  readonly code: number
  readonly result?: unknown
  readonly description?: string
}

/** Judges a message by the rules of the Bot API, and shows it in the chat. */
export function sendInto(chat: DoubleChat, { method, args, era }: Sending): Reply {
  if (chat.isBlocked) return { code: 403, description: 'Forbidden: bot was blocked by the user' }
  // Formatting by Markdown or HTML would be decided by the model.
  if ('parse_mode' in args) chat.violations.push(`${method} with parse_mode`)
  const thread = args['message_thread_id']
  if (thread !== undefined && !chat.topics.includes(Number(thread)))
    return refused('Bad Request: message thread not found')
  if (method === 'sendChatAction') {
    chat.typing += 1
    return { code: 200, result: true }
  }
  if (method === 'sendMessageDraft') return draft(chat, args)
  const shown = contentOf(method, args)
  if ('description' in shown) {
    chat.refusals.push(shown.description)
    return refused(shown.description)
  }
  return { code: 200, result: chat.show({ ...shown, ...repliedTo(args), ...topicOf(args), era }) }
}

function draft(chat: DoubleChat, args: Sending['args']): Reply {
  if (chat.id < 0) return refused('Bad Request: drafts are for private chats')
  const wrong = wrongText(args['text'] ?? '', args['entities'], { least: 0, most: 4_096 })
  if (wrong !== undefined) return refused(wrong)
  const { text = '' } = args
  chat.drafts.push(typeof text === 'string' ? text : '')
  return { code: 200, result: true }
}

function refused(description: string): Reply {
  return { code: 400, description }
}

type Content = Omit<ShownMessage, 'message_id' | 'from'>

function contentOf(
  method: 'sendMessage' | 'sendRichMessage' | 'sendPhoto' | 'sendDocument',
  args: Sending['args'],
): Content | { readonly description: string } {
  if (method === 'sendMessage') {
    const { text, entities, link_preview_options: preview } = args
    const wrong = wrongText(text, entities, { least: 1, most: 4_096 })
    if (wrong !== undefined) return { description: wrong }
    return { kind: 'text', text: String(text), entities: entities as [], preview: !isOff(preview) }
  }
  if (method === 'sendRichMessage') {
    const { rich_message } = args
    const isText = typeof rich_message === 'object' && rich_message !== null
    if (isText && ('html' in rich_message || 'markdown' in rich_message))
      return { description: 'Bad Request: only blocks are expected here' }
    const wrong = wrongRich(rich_message)
    if (wrong !== undefined) return { description: wrong }
    const { blocks } = rich_message as { blocks: [] }
    return { kind: 'rich', text: JSON.stringify(blocks), blocks }
  }
  const kind = method === 'sendPhoto' ? 'photo' : 'document'
  const bytes = args[kind]
  if (!Buffer.isBuffer(bytes)) return { description: 'Bad Request: no file in the request' }
  const { caption = '', caption_entities } = args
  const wrong =
    (kind === 'photo' ? wrongPhoto(bytes) : wrongDocument(bytes)) ??
    wrongText(caption, caption_entities, { least: 0, most: 1_024 })
  if (wrong !== undefined) return { description: wrong }
  return { kind, text: String(caption), entities: caption_entities as [], bytes }
}

function isOff(preview: unknown): boolean {
  return typeof preview === 'object' && preview !== null && 'is_disabled' in preview
}

function repliedTo({ reply_parameters: reply }: Sending['args']): { replyTo?: number } {
  if (typeof reply !== 'object' || reply === null || !('message_id' in reply)) return {}
  return { replyTo: Number(reply.message_id) }
}

function topicOf({ message_thread_id: topic }: Sending['args']): { topic?: number } {
  return topic === undefined ? {} : { topic: Number(topic) }
}
