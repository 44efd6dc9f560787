import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { ServerSentEvents } from '../../../src/encoding/server-sent-events.ts'
import { Frame } from '../../../src/model/tether/frame.ts'
import {
  AcceptedFrameShape,
  FramePageShape,
  MissingFrames,
} from '../../../src/tether/tether-shapes.ts'
import { userMessage } from '../../support/tether/frames.ts'
import type { Random } from '../../support/host/random.ts'
import type { AcceptedMessage } from './daemon-kill-judge.ts'
import { lost, type KilledServer } from './daemon-kill-server.ts'

/** The Instance that all clients use. */
export const INSTANCE = 'boat'
const AT = `/instances/${INSTANCE}/tether`
const RETRY_MS = 10

/** What the clients learn together. */
export class SharedNews {
  /** Answers that no careful client should get. */
  readonly complaints: string[] = []
  readonly ended = new Set<string>()
  readonly #listeners = new Set<(what: string) => void>()

  tell(what: string): void {
    for (const listener of this.#listeners) listener(what)
  }

  /** Whether this happens in time: `sending`, `accepted` or a type of frame. Resolves when it does. */
  next(what: string, mostMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (happened: boolean) => {
        clearTimeout(timer)
        this.#listeners.delete(listener)
        resolve(happened)
      }
      const listener = (one: string) => void (one === what && stop(true))
      const timer = setTimeout(() => stop(false), mostMs)
      this.#listeners.add(listener)
    })
  }
}

/** One that reads all frames, each behind the last one that it has, whatever happens to the server. */
export interface Poller {
  readonly seen: readonly Frame[]
  /** Reads until the signal. */
  run(signal: AbortSignal): Promise<void>
}

class Reader {
  readonly seen: Frame[] = []
  readonly server: KilledServer
  readonly news: SharedNews
  cursor = 0

  constructor(server: KilledServer, news: SharedNews) {
    this.server = server
    this.news = news
  }

  take(frame: Frame): void {
    this.seen.push(frame)
    this.cursor = frame.seq
    const isEnd = frame.type === 'assistant.done' || frame.type === 'error'
    if (isEnd && frame.in_reply_to !== undefined) this.news.ended.add(frame.in_reply_to)
    this.news.tell(frame.type)
  }

  complain(status: number, body: unknown): void {
    this.news.complaints.push(`after ${this.cursor}: ${status} ${JSON.stringify(body)}`)
  }
}

/** By long polls, with pages of this size. */
export class PagePoller extends Reader implements Poller {
  readonly #limit: number

  constructor(server: KilledServer, news: SharedNews, limit: number) {
    super(server, news)
    this.#limit = limit
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const query = `after_seq=${this.cursor}&limit=${this.#limit}&wait_ms=30000`
      const answer = await this.server.call('GET', `${AT}/poll?${query}`, { signal })
      if (answer === undefined) await sleep(RETRY_MS)
      else if (answer.status !== 200) return this.complain(answer.status, answer.body)
      else {
        const page = FramePageShape.parse(answer.body)
        for (const frame of page.frames) this.take(frame)
        this.cursor = page.next_seq
      }
    }
  }
}

/** By a stream that replays what it missed. Some disconnect by themselves now and then. */
export class StreamPoller extends Reader implements Poller {
  readonly #resume: 'header' | 'query'
  readonly #leaves: () => boolean

  constructor(
    server: KilledServer,
    news: SharedNews,
    { resume, leaves }: { readonly resume: 'header' | 'query'; readonly leaves: () => boolean },
  ) {
    super(server, news)
    this.#resume = resume
    this.#leaves = leaves
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const leave = new AbortController()
      const stop = AbortSignal.any([signal, leave.signal])
      const response = await this.#open(stop)
      if (response === undefined) await sleep(RETRY_MS)
      else if (response.status !== 200) return this.complain(response.status, response.statusText)
      else if (!(await this.#read(response, stop))) return
      leave.abort()
    }
  }

  #open(signal: AbortSignal): Promise<Response | undefined> {
    const path = `${AT}/stream?after_seq=`
    if (this.#resume === 'query')
      return this.server.response('GET', `${path}${this.cursor}`, { signal })
    // As a browser does: the first query again, and the header with what it has.
    const headers = { 'last-event-id': String(this.cursor) }
    return this.server.response('GET', `${path}0`, { signal, headers })
  }

  /** False if the stream failed. */
  async #read({ body }: Response, signal: AbortSignal): Promise<boolean> {
    const events = new ServerSentEvents()
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader()
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true }
        if (done || value === undefined) return true
        for (const { event, data } of events.push(value))
          if (!this.#note(event, JSON.parse(data))) return false
        if (this.#leaves()) return true
      }
    } catch (error) {
      lost(error, signal)
      return true
    }
  }

  #note(event: string, data: unknown): boolean {
    if (event === 'frame') this.take(Frame.parse(data))
    else if (event === 'missing' && MissingFrames.parse(data).what === 'deltas')
      this.cursor = MissingFrames.parse(data).through_seq
    else {
      this.complain(200, { event, data })
      return false
    }
    return true
  }
}

const Refused = z.object({ error: z.object({ kind: z.string() }) })

/** Sends messages one after another, and each again with the same `msg_id` until it knows that it was accepted. */
export class Sender {
  readonly accepted = new Map<string, AcceptedMessage>()
  readonly #server: KilledServer
  readonly #news: SharedNews
  readonly #chance: Random
  /** Connections that were lost before the answer, and messages that were sent again although they were accepted. */
  lost = 0
  repeated = 0

  constructor(server: KilledServer, news: SharedNews, chance: Random) {
    this.#server = server
    this.#news = news
    this.#chance = chance
  }

  get unended(): string[] {
    return [...this.accepted.keys()].filter((name) => !this.#news.ended.has(name))
  }

  /** Until the signal, and then until the current message is accepted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.unended.length >= MOST_UNENDED) await this.#news.next('assistant.done', 100)
      else if (this.accepted.size > 0 && this.#chance.below(4) === 0) await this.#repeat()
      else await this.#send(`m${this.accepted.size}`, this.#chance.pick(CONVERSATIONS))
    }
  }

  async #repeat(): Promise<void> {
    const [name, { conversation }] = this.#chance.pick([...this.accepted])
    this.repeated += 1
    await this.#send(name, conversation)
  }

  async #send(name: string, conversation: string): Promise<void> {
    const body = userMessage(name, { id: conversation }, textOf(name))
    for (;;) {
      this.#news.tell('sending')
      const answer = await this.#server.call('POST', AT, { body })
      if (answer?.status === 202) {
        const { ingress_seq } = AcceptedFrameShape.parse(answer.body)
        const before = this.accepted.get(name)?.numbers ?? []
        this.accepted.set(name, { conversation, numbers: [...before, ingress_seq] })
        this.#news.tell('accepted')
        return
      }
      if (answer === undefined) this.lost += 1
      else if (Refused.safeParse(answer.body).data?.error.kind !== 'wake_failed') {
        this.#news.complaints.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
        return
      }
      await sleep(RETRY_MS)
    }
  }
}

const MOST_UNENDED = 6
export const CONVERSATIONS = ['a', 'b', 'c'] as const

/** Every message leaves its name in a file, so that one that runs twice is noticed. */
function textOf(name: string): string {
  return `Run \`echo ${name} >> effects.txt\``
}
