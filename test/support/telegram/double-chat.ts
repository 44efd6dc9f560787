import type { MessageEntity, Update, User } from '@grammyjs/types'
import { imageSize } from '../../../src/tether/image-size.ts'
import { BOT } from './bot-identity.ts'
import type { FileShelf, FileTricks } from './file-shelf.ts'

export interface ChatOptions {
  readonly title?: string
  readonly name?: string
  readonly topics?: readonly number[]
}

/** What delivers the messages of people to the bot. */
export interface ChatHost {
  readonly files: FileShelf
  push(update: Omit<Update, 'update_id'>): number
}

/** A message as the chat shows it. */
export interface ShownMessage {
  readonly message_id: number
  readonly from: string
  readonly kind: 'text' | 'photo' | 'document' | 'rich'
  /** The text, the caption, or the blocks as JSON. */
  readonly text: string
  readonly entities?: readonly MessageEntity[] | undefined
  readonly blocks?: readonly object[]
  readonly bytes?: Buffer
  readonly replyTo?: number
  readonly topic?: number
  /** Links are shown as previews. */
  readonly preview?: boolean
  /** Of the process that sent it. */
  readonly era?: number
}

export interface Writing {
  readonly from?: Partial<User>
  readonly topic?: number
  readonly more?: object
}

/** One chat: what people write in it, and what the bot shows there. */
export class DoubleChat {
  readonly id: number
  readonly topics: readonly number[]
  readonly shown: ShownMessage[] = []
  readonly drafts: string[] = []
  /** What no caller of the Bot API here may do. */
  readonly violations: string[] = []
  /** Messages that were refused, and why. */
  readonly refusals: string[] = []
  typing = 0
  isBlocked = false
  readonly #options: ChatOptions
  readonly #double: ChatHost
  readonly #waiting = new Set<() => void>()
  readonly #sent = new Map<number, object>()
  #next = 1

  constructor(id: number, options: ChatOptions, double: ChatHost) {
    this.id = id
    this.topics = options.topics ?? []
    this.#options = options
    this.#double = double
  }

  /** Messages of the bot. */
  get fromBot(): readonly ShownMessage[] {
    return this.shown.filter(({ from }) => from === BOT.username)
  }

  /** What the bot shows; called by the double. */
  show(message: Omit<ShownMessage, 'message_id' | 'from'>): object {
    const message_id = this.#take()
    this.shown.push({ ...message, message_id, from: BOT.username })
    for (const look of this.#waiting) look()
    return { message_id, date: 0, chat: this.#chat() }
  }

  /** Resolves as soon as it holds. */
  until(holds: (chat: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds(this)) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** A person writes text; words that begin with `/` or `@` become entities, as in Telegram. */
  writes(text: string, writing: Writing = {}): number {
    return this.sends({ text, ...entitiesOf(text, 'entities') }, text, writing)
  }

  photographs(
    bytes: Buffer,
    caption = '',
    { tricks, ...writing }: Writing & { readonly tricks?: FileTricks } = {},
  ): number {
    const id = this.#double.files.add(bytes, tricks)
    const { width = 90, height = 60 } = imageSize(bytes) ?? {}
    const size = this.#double.files.sizeOf(id)
    const small = this.#double.files.add(Buffer.from('a thumbnail'))
    const photo = [
      { file_id: small, file_unique_id: small, width: 1, height: 1, file_size: 11 },
      {
        file_id: id,
        file_unique_id: id,
        width,
        height,
        ...(size === undefined ? {} : { file_size: size }),
      },
      { file_id: small, file_unique_id: small, width: 1, height: 1, file_size: 11 },
    ]
    return this.sends({ photo, ...captionOf(caption) }, `[photo] ${caption}`, writing)
  }

  /** Photos of one album, with a caption on the first. */
  album(images: readonly Buffer[], caption = '', group = `album-${this.#next}`): readonly number[] {
    return images.map((bytes, at) =>
      this.photographs(bytes, at === 0 ? caption : '', { more: { media_group_id: group } }),
    )
  }

  documents(
    bytes: Buffer,
    {
      mime_type,
      file_name,
      caption = '',
      tricks,
    }: {
      readonly mime_type?: string
      readonly file_name?: string
      readonly caption?: string
      readonly tricks?: FileTricks
    },
    writing: Writing = {},
  ): number {
    const id = this.#double.files.add(bytes, { path: `documents/${bytes.length}.bin`, ...tricks })
    const size = this.#double.files.sizeOf(id)
    const document = { file_id: id, file_unique_id: id, mime_type, file_name, file_size: size }
    return this.sends(
      { document, ...captionOf(caption) },
      `[${file_name ?? 'file'}] ${caption}`,
      writing,
    )
  }

  /** Any message. */
  sends(content: object, shown: string, { from, topic, more = {} }: Writing = {}): number {
    const message_id = this.#take()
    const author = this.#author(from)
    this.shown.push({
      message_id,
      from: author.first_name,
      kind: 'text',
      text: shown,
      ...(topic === undefined ? {} : { topic }),
    })
    const thread = topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }
    const message = { message_id, date: 1, chat: this.#chat(), from: author, ...thread, ...content }
    const whole = { ...message, ...more }
    this.#sent.set(message_id, whole)
    this.#double.push({ message: whole as never })
    return message_id
  }

  /** Delivers a message again, as after a crash. */
  again(message_id: number): void {
    this.#double.push({ message: this.#sent.get(message_id) as never })
  }

  edits(message_id: number, text: string, more: object = {}): void {
    const message = { message_id, date: 1, edit_date: 2, chat: this.#chat(), text, ...more }
    this.#double.push({ edited_message: { ...message, from: this.#author() } as never })
  }

  /** The chat as a person sees it. */
  screen(): string {
    return this.shown
      .map(({ from, kind, text, bytes, blocks, replyTo }) => {
        const reply = replyTo === undefined ? '' : ` (replies to ${replyTo})`
        const { width, height } = (bytes && imageSize(bytes)) ?? { width: 0, height: 0 }
        const picture =
          bytes === undefined ? '' : `[${kind} ${width}x${height}, ${bytes.length} bytes] `
        const words = blocks === undefined ? text : `[rich] ${text}`
        return `${from}${reply}: ${picture}${words}`
      })
      .join('\n')
  }

  #take(): number {
    this.#next += 1
    return this.#next - 1
  }

  #author(from: Partial<User> = {}): User {
    const first_name = this.#options.name ?? 'Ada'
    return { id: Math.abs(this.id), is_bot: false, first_name, ...from }
  }

  #chat(): object {
    const { title, topics, name = 'Ada' } = this.#options
    if (this.id > 0) return { id: this.id, type: 'private', first_name: name }
    return {
      id: this.id,
      type: 'supergroup',
      title: title ?? 'A group',
      is_forum: topics !== undefined,
    }
  }
}

function captionOf(caption: string): object {
  return caption === '' ? {} : { caption, ...entitiesOf(caption, 'caption_entities') }
}

function entitiesOf(text: string, name: string): object {
  const entities = [...text.matchAll(/(?<=^|\s)[/@]\w+(?:@\w+)?/g)].map((found) => ({
    type: found[0].startsWith('/') ? 'bot_command' : 'mention',
    offset: found.index,
    length: found[0].length,
  }))
  return entities.length === 0 ? {} : { [name]: entities }
}
