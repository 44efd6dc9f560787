import { setMaxListeners } from 'node:events'
import type { Clock } from '../../host/clock.ts'
import { inOrder } from '../../host/in-order.ts'
import type { PairedChat } from '../../host/telegram/chat-register.ts'
import { writeDelivery, type DeliveryRecord } from '../../host/telegram/deliveries.ts'
import type { TelegramHome } from '../../host/telegram/telegram-folder.ts'
import { wait } from '../../host/wait.ts'
import type { Frame } from '../../model/tether/frame.ts'
import type { Tether } from '../../tether/tether.ts'
import { stepsOf, type AnswerStep, type EndFrame } from './answer-steps.ts'
import type { BotApi, BotFailure } from './bot-api.ts'
import { ChatActivity } from './chat-activity.ts'
import { ChatSender, type Target } from './chat-sender.ts'
import { plainParagraph } from './formatted-text.ts'
import { messageIdOf, placeOf } from './translate.ts'
import { WORDS } from './words.ts'

/** What the lanes of one bot share. */
export interface LaneParts {
  readonly api: BotApi
  readonly clock: Clock
  readonly place: TelegramHome
  readonly tether: Pick<Tether, 'image'>
  readonly signal: AbortSignal
  readonly drafts: boolean
  /** Whether the server of Telegram has rich messages; false as soon as it says that it does not. */
  readonly features: { rich: boolean }
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
  /** The token was refused, or the group has another id now. */
  readonly onRefusal: (paired: PairedChat, failure: BotFailure) => Promise<void>
  readonly onDefect: (error: unknown) => void
}

/** How long a message that is being sent when the lane ends may take. */
const GRACE_MS = 3_000
const RETRY_MS = 1_000

/**
 * Everything that one chat is sent: the answers of its Instance in their order, each message recorded after Telegram accepted it,
 * and what the gateway says itself. A kill can repeat only the message that was being sent.
 */
export class ChatLane {
  readonly #parts: LaneParts
  readonly #sender: ChatSender
  readonly #activity: ChatActivity
  /** Aborted a moment after the signal, so that what is being sent can be recorded. */
  readonly #cutoff = new AbortController()
  readonly #recording = inOrder()
  #pairing: PairedChat
  #delivery: DeliveryRecord
  #readSeq: number
  #queue: EndFrame[] = []
  #working: Promise<void> | undefined
  #isWorking = false
  #isRecorded = true

  constructor(parts: LaneParts, paired: PairedChat, delivery: DeliveryRecord | undefined) {
    this.#parts = parts
    this.#pairing = paired
    const { instance, paired_at, after_seq } = paired
    const isOurs = delivery?.instance === instance && delivery.paired_at === paired_at
    this.#delivery = isOurs ? delivery : { instance, paired_at, seq: after_seq }
    this.#readSeq = this.#delivery.seq
    const { api, clock, tether, signal } = parts
    const { signal: cutoff } = this.#cutoff
    // Each message that is waiting listens to it.
    setMaxListeners(0, cutoff)
    this.#sender = new ChatSender({
      api,
      clock,
      tether,
      signal,
      cutoff,
      onRefusal: this.#onRefusal,
    })
    this.#activity = new ChatActivity({ api, clock, signal, drafts: parts.drafts })
  }

  get pairing(): PairedChat {
    return this.#pairing
  }

  /** The last frame that was read. Answers up to it were sent or are waiting. */
  get readSeq(): number {
    return this.#readSeq
  }

  get isParked(): boolean {
    return this.#delivery.parked === true
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** The pairing changed: a conversation began, or the group moved. */
  update(paired: PairedChat): void {
    this.#pairing = paired
  }

  /** A frame of one of its conversations. */
  take(frame: Frame): void {
    // Frames may be read again after a stream was interrupted.
    if (frame.seq <= this.#readSeq) return
    this.#readSeq = frame.seq
    const target = this.#targetOf(frame)
    this.#activity.show(frame, target, () => this.isParked || this.#sender.isLimited)
    if (frame.type !== 'assistant.done' && frame.type !== 'error') return
    this.#queue.push(frame)
    this.#work()
  }

  /** A frame of another chat went by, so there is nothing before it to send. */
  skip(seq: number): void {
    if (seq <= this.#readSeq) return
    this.#readSeq = seq
    if (this.#queue.length > 0) return
    this.#delivery = { ...this.#delivery, seq }
    this.#isRecorded = false
  }

  /** Frames up to this one were deleted before they were read. */
  skipDeleted(seq: number): void {
    if (seq <= this.#readSeq) return
    this.skip(seq)
    void this.say(WORDS.missing, undefined)
  }

  /** Whether it was sent. */
  async say(text: string, topic: number | undefined, replyTo?: number): Promise<boolean> {
    if (this.isParked) return false
    return (await this.#sender.say(text, { chat: this.#chat, topic, replyTo })) === 'sent'
  }

  /** The chat wrote again, so it can be sent to. */
  async unpark(): Promise<void> {
    if (!this.isParked) return
    const { parked: _, ...delivery } = this.#delivery
    await this.#record(delivery)
    this.#work()
  }

  /** After the signal of its parts was aborted. What was not sent is sent after the next start. */
  async close(): Promise<void> {
    const cancel = this.#parts.clock.after(GRACE_MS, () => this.#cutoff.abort())
    await Promise.all([this.#working, this.#sender.idle(), this.#activity.close()])
    cancel()
    if (!this.#isRecorded) await this.#record(this.#delivery)
  }

  get #chat(): number {
    return this.#pairing.moved_to ?? this.#pairing.chat
  }

  #work(): void {
    if (this.#isWorking) return
    this.#isWorking = true
    this.#working = this.#deliverAll().catch(this.#parts.onDefect)
  }

  async #deliverAll(): Promise<void> {
    try {
      for (let [frame] = this.#queue; frame !== undefined; [frame] = this.#queue) {
        if (this.isParked || this.#parts.signal.aborted) return
        if (await this.#deliver(frame)) this.#queue.shift()
      }
    } finally {
      // At once: a frame that arrives now must not be left to the work that has just ended.
      this.#isWorking = false
    }
  }

  /** Continues after the last message that was recorded. False if the chat or the bot cannot be sent to. */
  async #deliver(frame: EndFrame): Promise<boolean> {
    const { seq } = frame
    const { clock, signal } = this.#parts
    const begun = this.#delivery.part?.seq === seq ? this.#delivery.part : undefined
    let rich = begun === undefined ? this.#parts.features.rich : begun.rich === true
    let steps = this.#stepsOf(frame, rich)
    for (let sent = begun?.sent ?? 0; sent < steps.length;) {
      const step = steps[sent]
      if (step === undefined) break
      const target = this.#targetOf(frame)
      const own = sent === 0 ? target : { ...target, replyTo: undefined }
      const outcome = await this.#sender.send(step, own, this.#pairing.instance)
      if (outcome === 'stopped') return false
      if (outcome === 'moved') {
        // Unless that could not be stored.
        if (own.chat === this.#chat) await wait(clock, RETRY_MS, signal)
        continue
      }
      if (step.kind === 'rich' && outcome !== 'sent') {
        if (outcome === 'absent') this.#parts.features.rich = false
        rich = false
        steps = this.#stepsOf(frame, rich)
        continue
      }
      if (outcome !== 'sent') {
        this.#parts.note({ chat: this.#chat, seq, unsent: step.kind })
        await this.say(WORDS.unsendable, own.topic)
      }
      sent += 1
      if (sent < steps.length) await this.#record({ ...this.#delivery, part: { seq, sent, rich } })
    }
    const { part: _, ...delivery } = this.#delivery
    await this.#record({ ...delivery, seq })
    return true
  }

  /** What cannot be shown must not hold up what comes after it. */
  #stepsOf(frame: EndFrame, rich: boolean): readonly AnswerStep[] {
    try {
      return stepsOf(frame, rich)
    } catch (error) {
      this.#parts.onDefect(error)
      return [{ kind: 'text', text: plainParagraph(WORDS.unsendable) }]
    }
  }

  /** In groups, an answer shows which message it answers. */
  #targetOf({ session, in_reply_to }: Frame): Target {
    const topic = placeOf(session.id)?.topic
    const replyTo = this.#pairing.kind === 'group' ? messageIdOf(in_reply_to) : undefined
    return { chat: this.#chat, topic, replyTo }
  }

  async #record(delivery: DeliveryRecord): Promise<void> {
    this.#delivery = delivery
    this.#isRecorded = true
    const written = await this.#recording(() =>
      writeDelivery(this.#parts.place, this.#pairing.chat, this.#delivery),
    )
    if (!written.ok) this.#parts.note({ chat: this.#chat, error: written.error.message })
  }

  readonly #onRefusal = async (failure: BotFailure): Promise<void> => {
    const { note, onRefusal } = this.#parts
    if (failure.code !== 403) return onRefusal(this.#pairing, failure)
    note({ chat: this.#chat, parked: true })
    await this.#record({ ...this.#delivery, parked: true })
  }
}
