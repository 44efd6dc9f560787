import { shorten } from '../../encoding/quote.ts'
import type { BegunConversation, PairedChat } from '../../host/telegram/chat-register.ts'
import { LIMITS } from '../../model/limits.ts'
import { shownLine } from './formatted-text.ts'
import {
  OTHER_CONTENT,
  type Me,
  type Message,
  type MessageEntity,
  type QuotedMessage,
} from './protocol.ts'
import { richWords } from './rich-words.ts'
import { WORDS } from './words.ts'

/** An image of a message, before it is downloaded. */
export interface IncomingImage {
  readonly fileId: string
  /** As Telegram says; may be absent or wrong. */
  readonly bytes?: number | undefined
  /** The type that a document was sent as. */
  readonly declaredType?: string | undefined
}

/** What a message, or an album as one message, is to the gateway. */
export type Incoming =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'command'; readonly command: ChatCommand; readonly rest: string }
  | { readonly kind: 'message'; readonly text: string; readonly images: readonly IncomingImage[] }

export const COMMANDS = ['new', 'cancel', 'status', 'help', 'start'] as const
export type ChatCommand = (typeof COMMANDS)[number]

/** What to do with a new message; with several, they are one album. Pure. */
export function incomingOf(messages: readonly Message[], me: Me): Incoming {
  const parts = messages.map(contentOf)
  const refused = parts.find((one) => one.kind === 'refused')
  if (refused !== undefined) return refused
  const images = parts.flatMap((one) => (one.kind === 'content' ? one.images : []))
  if (images.length > LIMITS.frame_images)
    return { kind: 'refused', why: WORDS.tooManyImages(images.length) }
  const [first] = messages
  if (first === undefined) return { kind: 'nothing' }
  const text = parts
    .flatMap((one) => (one.kind === 'content' && one.text !== '' ? [one.text] : []))
    .join('\n')
  if (images.length === 0) {
    const command = commandOf(first, me)
    if (command !== undefined) return { kind: 'command', ...command }
  }
  const own = withoutMention(text, me)
  if (own === '' && images.length === 0) return { kind: 'nothing' }
  return { kind: 'message', text: withQuote(first, own), images }
}

/** Whether a message is meant for the bot: always in a private chat, elsewhere if it mentions or replies to it. Pure. */
export function isForBot(message: Message, me: Me): boolean {
  if (message.chat.type === 'private') return true
  const { reply_to_message: reply, from, sender_chat } = message
  // Two bots that answer each other would never end. People can write as a chat, which has a bot in their place.
  if (from?.is_bot === true && sender_chat === undefined) return false
  // In a topic, every message that replies to nothing replies to the message that opened it.
  const isReply = reply?.from?.id === me.id && reply.message_id !== message.message_thread_id
  return isReply || mentionsIn(message).some((entity) => isMention(message, entity, me))
}

/** The topic of a message, in chats that have topics. Pure. */
export function topicOf({ is_topic_message, message_thread_id }: Message): number | undefined {
  return is_topic_message === true ? message_thread_id : undefined
}

/** Names a message for the Instance: it runs once, however often Telegram delivers it. Pure. */
export function messageKey(me: Pick<Me, 'id'>, { chat, message_id }: Message): string {
  return `${me.id}/${chat.id}/${message_id}`
}

/** The message that such a name names. Pure. */
export function messageIdOf(key: string | undefined): number | undefined {
  const [, id] = /\/(\d+)$/.exec(key ?? '') ?? []
  return id === undefined ? undefined : Number(id)
}

/** The conversation that a message belongs to, also if it is delivered again after a later /new. Pure. */
export function conversationOf(
  paired: Pick<PairedChat, 'chat' | 'conversations'>,
  message: Message,
): string {
  const { chat, conversations = {} } = paired
  const topic = topicOf(message)
  const begun = conversations[placeName(paired, message)] ?? []
  const own = begun.findLast(({ from }) => from <= message.message_id)
  // A group that moved continues what it talked about before.
  const before = conversations[String(topic ?? 0)]?.at(-1)
  const last = own ?? (message.chat.id === chat ? undefined : before)
  return last?.id ?? firstConversation(chat, topic)
}

/** The chat with a conversation that begins with a message. Pure. */
export function withConversation(paired: PairedChat, message: Message): PairedChat {
  const { chat, conversations = {} } = paired
  const { message_id } = message
  const place = placeName(paired, message)
  const before = (conversations[place] ?? []).filter(({ from }) => from !== message_id)
  const id = `${firstConversation(chat, topicOf(message))}#${message_id}`
  const begun: BegunConversation = { from: message_id, id }
  const kept = [...before, begun].slice(-KEPT_CONVERSATIONS)
  return { ...paired, conversations: { ...conversations, [place]: kept } }
}

/** Of a topic. A group that moved counts its messages from 1 again. */
function placeName({ chat }: Pick<PairedChat, 'chat'>, message: Message): string {
  const topic = String(topicOf(message) ?? 0)
  return message.chat.id === chat ? topic : `moved ${topic}`
}

/** Messages of older ones are never delivered again: Telegram keeps them for a day. */
const KEPT_CONVERSATIONS = 8

function firstConversation(chat: number, topic: number | undefined): string {
  return topic === undefined ? String(chat) : `${chat}:${topic}`
}

/** Where the answers of a conversation go. Pure. */
export function placeOf(
  conversation: string,
): { readonly chat: number; readonly topic: number | undefined } | undefined {
  const [, chat, topic] = /^(-?\d{1,16})(?::(\d{1,16}))?(?:#\d{1,16})?$/.exec(conversation) ?? []
  if (chat === undefined) return undefined
  return { chat: Number(chat), topic: topic === undefined ? undefined : Number(topic) }
}

/** The author of a message, with a name on one line. Pure. */
export function senderOf({ from, sender_chat, chat }: Message): {
  readonly id: string
  readonly name: string
} {
  const id = sender_chat?.id ?? from?.id ?? chat.id
  const name = nameOf(sender_chat ?? from ?? chat)
  return { id: String(id), name }
}

/** The name of a person or a chat: on one line, bounded, without what reorders text. Pure. */
export function nameOf(named: {
  readonly id: number
  readonly title?: string | undefined
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
  readonly username?: string | undefined
}): string {
  const { title, first_name = '', last_name = '', username = '' } = named
  const whole = [title ?? `${first_name} ${last_name}`, username]
    .map((text) => shownLine(text.replaceAll(/\s+/g, ' ')).replaceAll(/ +/g, ' ').trim())
    .find((text) => text !== '')
  return shorten(whole ?? String(named.id), NAME_BYTES)
}

const NAME_BYTES = 64

type Content =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'content'; readonly text: string; readonly images: readonly IncomingImage[] }

function contentOf(message: Message): Content {
  const { text, caption = '', photo = [], document } = message
  const largest = photo.toSorted((a, b) => b.width * b.height - a.width * a.height)[0]
  if (largest !== undefined) {
    const image = { fileId: largest.file_id, bytes: largest.file_size }
    return { kind: 'content', text: caption, images: [image] }
  }
  for (const [name, what] of Object.entries(OTHER_CONTENT))
    if (name in message) return { kind: 'refused', why: WORDS.unsupported(what) }
  if (document === undefined) return { kind: 'content', text: text ?? caption, images: [] }
  const { file_id, mime_type = '', file_size } = document
  if (!mime_type.startsWith('image/')) return { kind: 'refused', why: WORDS.unsupported('Files') }
  const image = { fileId: file_id, bytes: file_size, declaredType: mime_type }
  return { kind: 'content', text: caption, images: [image] }
}

/** Only in text: a caption is never a command. An unknown command is text, such as a path. */
function commandOf(
  { text = '', entities = [] }: Message,
  me: Me,
): { readonly command: ChatCommand; readonly rest: string } | undefined {
  const first = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0)
  if (first === undefined) return undefined
  const [name = '', bot] = text.slice(1, first.length).split('@')
  if (bot !== undefined && bot.toLowerCase() !== me.username.toLowerCase()) return undefined
  const command = COMMANDS.find((one) => one === name.toLowerCase())
  return command && { command, rest: text.slice(first.length).trim() }
}

function mentionsIn({ entities = [], caption_entities = [] }: Message): readonly MessageEntity[] {
  return [...entities, ...caption_entities]
}

function isMention(
  { text, caption = '' }: Message,
  { type, offset, length, user }: MessageEntity,
  me: Me,
): boolean {
  const words = (text ?? caption).slice(offset, offset + length).toLowerCase()
  const own = `@${me.username.toLowerCase()}`
  if (type === 'text_mention') return user?.id === me.id
  if (type === 'bot_command') return words.endsWith(own)
  return type === 'mention' && words === own
}

function withoutMention(text: string, me: Me): string {
  const start = text.trimStart()
  const own = `@${me.username}`
  const begins = start.slice(0, own.length).toLowerCase() === own.toLowerCase()
  return begins && !/^\w/.test(start.slice(own.length)) ? start.slice(own.length).trim() : text
}

const QUOTE_BYTES = 1_000

/** What the message replies to becomes a quotation before it. */
function withQuote(message: Message, text: string): string {
  const { reply_to_message: reply, quote, message_thread_id } = message
  if (reply === undefined || reply.message_id === message_thread_id) return text
  const words = quote?.text ?? reply.text ?? reply.caption ?? richWords(reply.rich_message)
  const shown = shorten(words === '' ? contentWord(reply) : words, QUOTE_BYTES)
  const author = reply.sender_chat ?? reply.from
  const lines = `${author === undefined ? '' : `${nameOf(author)}: `}${shown}`.split('\n')
  return `${lines.map((line) => `> ${line}`).join('\n')}\n\n${text}`
}

function contentWord(message: QuotedMessage): string {
  return message.photo === undefined ? '(no text)' : '(an image)'
}
