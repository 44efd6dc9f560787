import type { MessageEntity } from 'grammy/types'
import type { Clock } from '../../host/clock.ts'
import { inOrder } from '../../host/in-order.ts'
import { wait } from '../../host/wait.ts'
import { LIMITS } from '../../model/limits.ts'
import { imageSize } from '../../tether/image-size.ts'
import type { StoredImage, Tether } from '../../tether/tether.ts'
import type { AnswerStep } from './answer-steps.ts'
import type { Arguments, BotApi, BotFailure, Method } from './bot-api.ts'
import { joinTexts, plainParagraph, type FormattedText, type TextEntity } from './formatted-text.ts'
import { PLATFORM } from './protocol.ts'
import { WORDS } from './words.ts'

/** Where messages go. */
export interface Target {
  readonly chat: number
  readonly topic: number | undefined
  /** The message that they answer, where that is not obvious. */
  readonly replyTo?: number | undefined
}

/**
 * `refused`: Telegram does not accept this message. `absent`: its server has no such method. `moved`: the group has another id.
 * `stopped`: nothing can be sent.
 */
export type SendOutcome = 'sent' | 'refused' | 'absent' | 'moved' | 'stopped'

export interface SenderParts {
  readonly api: BotApi
  readonly clock: Clock
  readonly tether: Pick<Tether, 'image'>
  /** Nothing is sent from then on. */
  readonly signal: AbortSignal
  /** Ends what is being sent. */
  readonly cutoff: AbortSignal
  /** This chat, or the whole bot, cannot be sent to. */
  readonly onRefusal: (failure: BotFailure) => Promise<void>
}

const LONGEST_BACKOFF_MS = 60_000

/** Sends to one chat, one message after the other: a chat that must wait delays no other. */
export class ChatSender {
  readonly #parts: SenderParts
  readonly #order = inOrder()
  /** Telegram asked to wait. */
  isLimited = false

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Resolves when the message was sent, or never can be. Repeats what may succeed later. */
  send(step: AnswerStep, target: Target, instance: string): Promise<SendOutcome> {
    return this.#order(() => this.#sendStep(step, target, instance))
  }

  say(text: string, target: Target): Promise<SendOutcome> {
    return this.#order(() => this.#sendText(plainParagraph(text), target))
  }

  #sendStep(step: AnswerStep, target: Target, instance: string): Promise<SendOutcome> {
    switch (step.kind) {
      case 'text':
        return this.#sendText(step.text, target)
      case 'image':
        return this.#sendImage(step, target, instance)
      case 'rich': {
        const blocks = [...step.blocks]
        const message = { ...recipientOf(target), rich_message: { blocks } }
        return this.#repeat('sendRichMessage', message)
      }
      default:
        return step satisfies never
    }
  }

  async #sendText(text: FormattedText, target: Target): Promise<SendOutcome> {
    const message = { ...recipientOf(target), ...NO_PREVIEW, text: text.text }
    if (text.entities.length === 0) return this.#repeat('sendMessage', message)
    const entities = text.entities.map(entityOf)
    const sent = await this.#repeat('sendMessage', { ...message, entities })
    return sent === 'refused' ? this.#repeat('sendMessage', message) : sent
  }

  /** As a photo if it can be one, else as a document; if it cannot be sent at all, a sentence takes its place. */
  async #sendImage(
    { image, caption }: Extract<AnswerStep, { kind: 'image' }>,
    target: Target,
    instance: string,
  ): Promise<SendOutcome> {
    const read = await this.#parts.tether.image(instance, image.blob)
    if (!read.ok) return this.#sendText(withNote(caption, WORDS.missingImage), target)
    const { bytes } = read.value
    const name = `image.${image.blob.split('.').at(-1) ?? 'png'}`
    const more = {
      ...recipientOf(target),
      ...(caption === undefined ? {} : captionOf(caption)),
    }
    if (isPhoto(read.value)) {
      const photo = this.#parts.api.file(bytes, name)
      const sent = await this.#repeat('sendPhoto', { ...more, photo })
      if (sent !== 'refused') return sent
    }
    const document = this.#parts.api.file(bytes, name)
    const sent = await this.#repeat('sendDocument', { ...more, document })
    if (sent !== 'refused') return sent
    return this.#sendText(withNote(caption, WORDS.unsendable), target)
  }

  /** Waits as long as Telegram says, and longer after each failure that is not an answer. */
  async #repeat<M extends Method>(method: M, args: Arguments<M>): Promise<SendOutcome> {
    const { api, clock, signal, cutoff, onRefusal } = this.#parts
    for (let tries = 0; !signal.aborted; tries++) {
      const sent = await api.call(method, args, { signal: cutoff })
      if (sent.ok) return 'sent'
      const { code, retrySeconds, movedTo } = sent.failure
      if (code === 429 || code === 0 || code >= 500) {
        this.isLimited = code === 429
        await wait(clock, pauseMs(tries, retrySeconds), signal)
        this.isLimited = false
        continue
      }
      if (code === 403 || code === 401 || movedTo !== undefined) {
        await onRefusal(sent.failure)
        return movedTo === undefined ? 'stopped' : 'moved'
      }
      return code === 404 ? 'absent' : 'refused'
    }
    return 'stopped'
  }
}

/** How long to wait before trying again: as long as Telegram says, else twice as long each time. */
export function pauseMs(tries: number, retrySeconds: number | undefined): number {
  if (retrySeconds !== undefined) return Math.max(0, retrySeconds) * 1000
  return Math.min(1000 * 2 ** Math.min(tries, 16), LONGEST_BACKOFF_MS)
}

const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const

function recipientOf({ chat, topic, replyTo }: Target) {
  return {
    chat_id: chat,
    ...(topic === undefined ? {} : { message_thread_id: topic }),
    ...(replyTo === undefined
      ? {}
      : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }),
  }
}

function captionOf({ text, entities }: FormattedText) {
  if (entities.length === 0) return { caption: text }
  return { caption: text, caption_entities: entities.map(entityOf) }
}

/** Only a block of code has a language. */
function entityOf({ type, offset, length, language }: TextEntity): MessageEntity {
  if (type !== 'pre') return { type, offset, length }
  return { type, offset, length, ...(language === undefined ? {} : { language }) }
}

function withNote(caption: FormattedText | undefined, note: string): FormattedText {
  return joinTexts([...(caption === undefined ? [] : [caption]), plainParagraph(note)])
}

function isPhoto({ bytes }: Pick<StoredImage, 'bytes'>): boolean {
  const { width, height } = imageSize(bytes) ?? { width: 0, height: 0 }
  const [short, long] = [Math.min(width, height), Math.max(width, height)]
  return (
    bytes.length <= Math.min(PLATFORM.photo_bytes, LIMITS.attachment_bytes) &&
    short > 0 &&
    width + height <= PLATFORM.photo_sides &&
    long <= short * PLATFORM.photo_ratio
  )
}
