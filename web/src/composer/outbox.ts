import { failureFrom, isRecord, request, send, type Failure } from '../api/server.ts'
import type { SentMessage } from '../api/shapes.ts'
import type { Steered } from '../session/turn-view.ts'
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
const SHOWN_MS = 5_000

/**
 * Sends the messages that a draft has as unconfirmed, each until the server has accepted or refused it. Its key makes sending it
 * again harmless, after a lost answer, a reload, and a crash of either side. What is refused returns to the composer as it was.
 */
export class Outbox {
  readonly rollback = new Store<Rollback | undefined>(undefined)
  /** Messages that the server has, and that are shown until their Events or the queue have arrived. */
  readonly accepted = new Store<readonly SentMessage[]>([])
  readonly #onQueued: () => Promise<void>
  readonly #id: string
  readonly #keeper: DraftKeeper
  readonly #sending = new Set<string>()
  readonly #ways = new Map<string, Way>()
  /** The numbers of the Events of texts that are confirmed. */
  readonly #recorded = new Set<number>()
  #isClosed = false

  /** `onQueued` resolves when the queue that is shown has what was added. */
  constructor(id: string, keeper: DraftKeeper, onQueued: () => Promise<void>) {
    this.#id = id
    this.#keeper = keeper
    this.#onQueued = onQueued
  }

  close(): void {
    this.#isClosed = true
  }

  /**
   * Moves what is in the composer into a message, and sends it. It is in local storage when this returns. `lastSeq` is the number
   * of the last Event that is shown: text for a running Turn is recorded after it.
   */
  send(way: Way, lastSeq: number): void {
    const { text, attachments, mentions, skills, choices, caret, unconfirmed } = this.#keeper.draft
    if (text.trim() === '' && attachments.length === 0) return
    const name = crypto.randomUUID()
    const messageKey = way === 'steer' ? `${STEER}${lastSeq}:${name}` : name
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

  /** Sends again what an earlier page left unconfirmed, and the Log does not have. */
  resume(keys: ReadonlySet<string>, isRunning: boolean): void {
    for (const message of this.#keeper.draft.unconfirmed) {
      if (this.#sending.has(message.messageKey) || keys.has(message.messageKey)) continue
      if (!this.#ways.has(message.messageKey))
        this.#ways.set(message.messageKey, isRunning ? 'queue' : 'turn')
      void this.#deliver(message)
    }
  }

  /** The Log has these messages. */
  confirm(keys: ReadonlySet<string>, steered: readonly Steered[], isRunning: boolean): void {
    const { unconfirmed } = this.#keeper.draft
    const recorded = steered.filter(({ seq }) => !this.#recorded.has(seq))
    const left = unconfirmed.filter(
      (message) => !keys.has(message.messageKey) && !this.#isRecorded(recorded, message),
    )
    this.#hide((key) => keys.has(key))
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
      const body = { sessionId: this.#id, text, messageKey }
      const answer = await request<{ steered: boolean }>('POST', '/api/harness/steer', { body })
      if (!answer.ok) return answer.failure
      return answer.value.steered ? undefined : { ...NOT_STEERED }
    }
    if (way === 'queue') {
      const path = `/api/harness/session/${this.#id}/queue`
      const answer = await request<object>('POST', path, { body: waiting(message) })
      if (!answer.ok) return answer.failure
      this.#show(message)
      void this.#onQueued().then(() => this.#hide((key) => key === messageKey))
      return undefined
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
    this.#show(message)
    return undefined
  }

  /** Not longer than Events can be on their way: a repeated message may be on a page that is not loaded. */
  #show(message: SentMessage): void {
    this.accepted.set([...this.accepted.value, message])
    setTimeout(() => this.#hide((key) => key === message.messageKey), SHOWN_MS)
  }

  #hide(isShown: (key: string) => boolean): void {
    const left = this.accepted.value.filter(({ messageKey }) => !isShown(messageKey))
    if (left.length < this.accepted.value.length) this.accepted.set(left)
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
    const { text, attachments, mentions, skills, caret, unconfirmed } = this.#keeper.draft
    const back = text === '' ? message.text : `${message.text}\n${text}`
    const before = back.length - text.length
    // Who types continues where the caret is.
    const own = { start: before + caret.start, end: before + caret.end }
    this.#keeper.edit(
      {
        text: back,
        caret: text === '' ? message.caret : own,
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

  /** Every recorded text is one message, the first of those that are equal. */
  #isRecorded(recorded: readonly Steered[], { messageKey, text }: SentMessage): boolean {
    const [, after] = /^steer:(-?\d+):/.exec(messageKey) ?? []
    const found = recorded.find(
      (one) => one.text === text && one.seq > Number(after) && !this.#recorded.has(one.seq),
    )
    if (after === undefined || found === undefined) return false
    this.#recorded.add(found.seq)
    return true
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
