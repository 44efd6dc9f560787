import type { Clock } from '../../host/clock.ts'
import { wait } from '../../host/wait.ts'
import type { Frame } from '../../model/tether/frame.ts'
import type { BotApi } from './bot-api.ts'
import type { Target } from './chat-sender.ts'
import { shownLine } from './formatted-text.ts'
import { PLATFORM } from './protocol.ts'
import { messageIdOf } from './translate.ts'

interface ActivityParts {
  readonly api: BotApi
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Show an answer while it is written. */
  readonly drafts: boolean
}

/** A client shows it for five seconds. */
const TYPING_MS = 4_500
/** Telegram limits how often a chat may be sent anything. */
const DRAFT_MS = 1_500

interface RunningMessage {
  readonly target: Target
  readonly draftId: number
  text: string
  draft: string
}

/** Shows in a chat that its Instance works: "typing", and the beginning of the answer. None of it is needed, so none is repeated. */
export class ChatActivity {
  readonly #parts: ActivityParts
  readonly #running = new Map<string, RunningMessage>()
  #showing: Promise<void> | undefined
  #canDraft = true

  constructor(parts: ActivityParts) {
    this.#parts = parts
  }

  /** `isQuiet`: nothing may be sent now. */
  show(frame: Frame, target: Target, isQuiet: () => boolean): void {
    const { in_reply_to: name = '' } = frame
    switch (frame.type) {
      case 'status.presence':
      case 'reasoning.delta':
        this.#runs(name, target)
        break
      case 'event.ack':
        if (frame.payload.status === 'started' || frame.payload.status === 'continued')
          this.#runs(name, target)
        break
      case 'assistant.delta':
        this.#runs(name, target).text += frame.payload.text
        break
      case 'assistant.done':
      case 'error':
        this.#running.delete(name)
        return
      case 'user.message':
      case 'control.cancel':
      case 'control.ping':
      case 'status.pong':
        return
      default:
        return frame satisfies never
    }
    if (this.#running.size > 0)
      this.#showing ??= this.#showAll(isQuiet).finally(() => (this.#showing = undefined))
  }

  async close(): Promise<void> {
    this.#running.clear()
    await this.#showing
  }

  #runs(name: string, target: Target): RunningMessage {
    const draftId = messageIdOf(name) ?? 1
    const running = this.#running.get(name) ?? { target, draftId, text: '', draft: '' }
    this.#running.set(name, running)
    return running
  }

  async #showAll(isQuiet: () => boolean): Promise<void> {
    const { clock, signal, drafts } = this.#parts
    const pause = drafts ? DRAFT_MS : TYPING_MS
    for (let ms = 0; this.#running.size > 0 && !signal.aborted; ms += pause) {
      if (!isQuiet()) {
        if (ms % TYPING_MS === 0) await this.#type()
        if (drafts && this.#canDraft) await this.#draft()
      }
      await wait(clock, pause, signal)
    }
  }

  async #type(): Promise<void> {
    const { api, signal } = this.#parts
    const places = new Map([...this.#running.values()].map(({ target }) => [target.topic, target]))
    for (const { chat, topic } of places.values()) {
      const thread = topic === undefined ? {} : { message_thread_id: topic }
      const action = { chat_id: chat, action: 'typing' as const, ...thread }
      await api.call('sendChatAction', action, { signal })
    }
  }

  /** Only private chats have drafts; a server or chat that refuses one gets no other. */
  async #draft(): Promise<void> {
    const { api, signal } = this.#parts
    for (const running of this.#running.values()) {
      const { target, draftId, text } = running
      if (target.chat < 0 || text === running.draft) continue
      running.draft = text
      const thread = target.topic === undefined ? {} : { message_thread_id: target.topic }
      const lines = text.split('\n').map(shownLine).join('\n')
      const draft = {
        chat_id: target.chat,
        draft_id: draftId,
        text: lines.slice(-PLATFORM.message_units).toWellFormed(),
        ...thread,
      }
      const sent = await api.call('sendMessageDraft', draft, { signal })
      if (!sent.ok && sent.failure.code >= 400 && sent.failure.code !== 429) this.#canDraft = false
    }
  }
}
