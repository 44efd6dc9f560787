import { failureFrom, isRecord, request, send, type Failure } from '../api/server.ts'
import type { SentMessage } from '../api/shapes.ts'
import { Store } from '../store/store.ts'
import type { DraftKeeper } from './draft-keeper.ts'

/** How a message reaches a Session. */
export type Way = 'turn' | 'queue' | 'steer'

/** Why the last message returned to the composer, and why each of its files was refused. */
export interface Rollback {
  readonly message: string
  readonly files: readonly { readonly path: string; readonly reason: string }[]
}

const AGAIN_MS = 1_000
const STEER = 'steer:'

/**
 * Sends the messages that a draft has as unconfirmed, each until the server has accepted or refused it. Its key makes sending it
 * again harmless, after a lost answer, a reload, and a crash of either side. What is refused returns to the composer as it was.
 */
export class Outbox {
  readonly rollback = new Store<Rollback | undefined>(undefined)
  readonly #id: string
  readonly #keeper: DraftKeeper
  readonly #sending = new Set<string>()
  readonly #ways = new Map<string, Way>()
  #isClosed = false

  constructor(id: string, keeper: DraftKeeper) {
    this.#id = id
    this.#keeper = keeper
  }

  close(): void {
    this.#isClosed = true
  }

  /** Moves what is in the composer into a message, and sends it. It is in local storage when this returns. */
  send(way: Way): void {
    const { text, attachments, mentions, skills, choices, caret, unconfirmed } = this.#keeper.draft
    if (text.trim() === '' && attachments.length === 0) return
    const name = crypto.randomUUID()
    const messageKey = way === 'steer' ? STEER + name : name
    const used = mentions.filter((path) => text.includes(`@${path}`))
    const named = skills.filter((skill) => text.includes(`/${skill}`))
    const message = { messageKey, text, attachments, mentions: used, skills: named, choices, caret }
    this.rollback.set(undefined)
    this.#ways.set(messageKey, way)
    this.#keeper.edit(
      {
        text: '',
        attachments: [],
        mentions: [],
        skills: [],
        caret: { start: 0, end: 0 },
        unconfirmed: [...unconfirmed, message],
      },
      { now: true },
    )
    void this.#deliver(message)
  }

  /** Sends again what an earlier page left unconfirmed. */
  resume(isRunning: boolean): void {
    for (const message of this.#keeper.draft.unconfirmed) {
      if (this.#sending.has(message.messageKey)) continue
      if (!this.#ways.has(message.messageKey))
        this.#ways.set(message.messageKey, isRunning ? 'queue' : 'turn')
      void this.#deliver(message)
    }
  }

  /** The Log has these messages. */
  confirm(keys: ReadonlySet<string>, steered: readonly string[], isRunning: boolean): void {
    const { unconfirmed } = this.#keeper.draft
    const left = unconfirmed.filter(
      ({ messageKey, text }) =>
        !keys.has(messageKey) && !(messageKey.startsWith(STEER) && steered.includes(text)),
    )
    const late = left.filter(
      ({ messageKey }) =>
        messageKey.startsWith(STEER) && !isRunning && !this.#sending.has(messageKey),
    )
    if (left.length < unconfirmed.length) this.#keeper.edit({ unconfirmed: left }, { now: true })
    // The Turn ended before its model could read them.
    for (const message of late) this.#takeBack(message, { message: ENDED, files: [] })
  }

  async #deliver(message: SentMessage): Promise<void> {
    const { messageKey } = message
    this.#sending.add(messageKey)
    try {
      while (!this.#isClosed && this.#isUnconfirmed(messageKey)) {
        const refused = await this.#attempt(message)
        if (refused === undefined) return this.#accepted(messageKey)
        if (refused.status !== 0 && refused.status < 500) return this.#refused(message, refused)
        await new Promise((resolve) => void setTimeout(resolve, AGAIN_MS))
      }
    } finally {
      this.#sending.delete(messageKey)
    }
  }

  /** Returns why it failed; `undefined` once the server has it durably. */
  async #attempt(message: SentMessage): Promise<Failure | undefined> {
    const { messageKey, text, attachments } = message
    const way = this.#ways.get(messageKey) ?? 'turn'
    if (messageKey.startsWith(STEER) || way === 'steer') {
      const body = { sessionId: this.#id, text }
      const answer = await request<{ steered: boolean }>('POST', '/api/harness/steer', { body })
      if (!answer.ok) return answer.failure
      return answer.value.steered ? undefined : { ...NOT_STEERED }
    }
    if (way === 'queue') {
      const path = `/api/harness/session/${this.#id}/queue`
      const answer = await request<object>('POST', path, { body: waiting(message) })
      return answer.ok ? undefined : answer.failure
    }
    const response = await send('POST', '/api/harness/turn', {
      body: {
        sessionId: this.#id,
        message: text,
        attachments: attachments.map(({ path }) => path),
        mentions: message.mentions,
        skills: message.skills.map((name) => ({ name })),
        opts: message.choices,
        idempotencyKey: messageKey,
      },
    })
    if (response === undefined) return UNREACHABLE
    if (!response.ok) return failureFrom(response)
    // The message is in the Log; the Turn continues without this response.
    await response.body?.cancel()
    return undefined
  }

  /** A steering stays until the Log has it: the Turn may end first. */
  #accepted(key: string): void {
    if (!key.startsWith(STEER)) this.#remove(key)
  }

  #refused(message: SentMessage, failure: Failure): void {
    if (failure.type === 'TURN_IN_PROGRESS' && !message.messageKey.startsWith(STEER)) {
      // A Turn began meanwhile.
      this.#ways.set(message.messageKey, 'queue')
      void Promise.resolve().then(() => this.#deliver(message))
      return
    }
    this.#takeBack(message, { message: failure.message, files: filesIn(failure.details) })
  }

  /** The composer is as it was before, with what was typed meanwhile below. */
  #takeBack(message: SentMessage, why: Rollback): void {
    const { text, attachments, mentions, skills, unconfirmed } = this.#keeper.draft
    const back = text === '' ? message.text : `${message.text}\n${text}`
    this.#keeper.edit(
      {
        text: back,
        caret: message.caret,
        attachments: [...message.attachments, ...attachments],
        mentions: [...new Set([...message.mentions, ...mentions])],
        skills: [...new Set([...message.skills, ...skills])],
        choices: message.choices,
        unconfirmed: unconfirmed.filter(({ messageKey }) => messageKey !== message.messageKey),
      },
      { now: true },
    )
    this.rollback.set(why)
  }

  #remove(key: string): void {
    const { unconfirmed } = this.#keeper.draft
    const left = unconfirmed.filter(({ messageKey }) => messageKey !== key)
    if (left.length < unconfirmed.length) this.#keeper.edit({ unconfirmed: left }, { now: true })
  }

  #isUnconfirmed(key: string): boolean {
    return this.#keeper.draft.unconfirmed.some(({ messageKey }) => messageKey === key)
  }
}

function waiting(message: SentMessage): object {
  const { messageKey, text, attachments, mentions, skills, choices } = message
  return { messageKey, text, attachments, mentions, skills, choices }
}

/** Of `ATTACHMENT_FAILURE`. */
function filesIn({ attachmentErrors }: Failure['details']): Rollback['files'] {
  if (!Array.isArray(attachmentErrors)) return []
  return attachmentErrors.flatMap((one: unknown) => {
    if (!isRecord(one)) return []
    const { path, reason } = one
    return typeof path === 'string' && typeof reason === 'string' ? [{ path, reason }] : []
  })
}

const ENDED = 'The Turn ended before it read this. Nothing was sent.'
const NOT_STEERED: Failure = {
  status: 409,
  type: 'NO_TURN',
  kind: 'not_found',
  message: ENDED,
  details: {},
}
const UNREACHABLE: Failure = { ...NOT_STEERED, status: 0, message: '' }
