import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Update } from '@grammyjs/types'
import { BOT, BOT_TOKEN } from './bot-identity.ts'
import { argumentsOf } from './form-arguments.ts'
import { DoubleChat, type ChatOptions } from './double-chat.ts'
import { FileShelf } from './file-shelf.ts'
import { METHODS, wrongArguments, type MethodName } from './method-shapes.ts'
import { sendInto } from './sendings.ts'

/** A failure of one method, of all its calls or of those for one chat. */
export interface Injection {
  readonly method: MethodName
  readonly chat?: number
  readonly code: number
  readonly retryAfter?: number
  readonly movedTo?: number
  /** How often; once by default. */
  readonly times?: number
  /** The call has its effect, and its answer is lost. */
  readonly afterEffect?: boolean
}

/** A call of the Bot API, as it arrived. */
export interface SeenCall {
  readonly method: string
  readonly args: Readonly<Record<string, unknown>>
  readonly code: number
}

interface Reply {
  readonly code: number
  readonly result?: unknown
  readonly description?: string
  readonly parameters?: object
}

/**
 * The Bot API on loopback, for one bot: chats in which people write and the bot answers, files, and long polling. It refuses what
 * the types of the Bot API do not have, and what exceeds its limits.
 */
export class BotDouble {
  readonly files = new FileShelf()
  readonly calls: SeenCall[] = []
  readonly #chats = new Map<number, DoubleChat>()
  readonly #injected: { injection: Injection; left: number }[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #updates: Update[] = []
  #nextUpdate: number
  #poll: (() => void) | undefined
  #wake = () => {}
  /** Counted up by a test when the bot is another process from then on; messages have that of their connection. */
  era = 0
  readonly #eras = new WeakMap<Socket, number>()
  /** Whether it has rich messages. */
  hasRich = true
  webhook = ''
  /** Every update that a poll acknowledged, in order. */
  readonly acknowledged: number[] = []

  private constructor(firstUpdate: number) {
    this.#nextUpdate = firstUpdate
    this.#server.on('connection', (socket) => void this.#eras.set(socket, this.era))
  }

  static async open({ firstUpdate = 1_000 }: { readonly firstUpdate?: number } = {}) {
    const double = new BotDouble(firstUpdate)
    double.#server.listen(0, '127.0.0.1')
    await once(double.#server, 'listening')
    return double
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** A chat in which people can write to the bot. */
  chat(id: number, options: ChatOptions = {}): DoubleChat {
    const chat = this.#chats.get(id) ?? new DoubleChat(id, options, this)
    this.#chats.set(id, chat)
    return chat
  }

  fail(injection: Injection): void {
    this.#injected.push({ injection, left: injection.times ?? 1 })
  }

  /** Nothing that was injected happens any more. */
  heal(): void {
    this.#injected.length = 0
  }

  /** Delivers an update to the bot. */
  push(update: Omit<Update, 'update_id'>): number {
    const update_id = this.#nextUpdate
    this.#nextUpdate += 1
    this.#updates.push({ ...update, update_id })
    this.#wake()
    return update_id
  }

  /** From now on, updates are counted from here. */
  countFrom(update: number): void {
    this.#nextUpdate = update
  }

  /** The bot is waiting for updates. */
  get isPolled(): boolean {
    return this.#poll !== undefined
  }

  /** Updates that were not acknowledged. */
  get pending(): number {
    return this.#updates.length
  }

  callsOf(method: MethodName): readonly SeenCall[] {
    return this.calls.filter((call) => call.method === method)
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#poll?.()
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await wholeBody(request).catch(() => undefined)
    if (body === undefined) return
    const [, file, token, rest = ''] = /^\/(file\/)?bot([^/]+)\/(.*)$/.exec(request.url ?? '') ?? []
    if (token !== BOT_TOKEN) return send(response, { code: 401, description: 'Unauthorized' })
    if (file !== undefined) return this.files.serve(rest, response)
    if (!isMethod(rest))
      return send(response, { code: 404, description: 'Not Found: method not found' })
    const args = argumentsOf(request.headers['content-type'] ?? '', body)
    const injected = this.#injection(rest, args)
    const early = injected?.afterEffect === true ? undefined : injected
    const reply = early === undefined ? await this.#call(rest, args, response) : replyOf(early)
    this.calls.push({ method: rest, args: withoutBytes(args), code: reply.code })
    if (injected?.afterEffect === true) return void response.destroy()
    send(response, reply)
  }

  #injection(method: MethodName, { chat_id }: Arguments): Injection | undefined {
    const found = this.#injected.find(
      ({ injection, left }) =>
        left > 0 &&
        injection.method === method &&
        (injection.chat === undefined || injection.chat === Number(chat_id)),
    )
    if (found === undefined) return undefined
    found.left -= 1
    return found.injection
  }

  async #call(method: MethodName, args: Arguments, response: ServerResponse): Promise<Reply> {
    const wrong = wrongArguments(method, args)
    if (wrong !== undefined) return { code: 400, description: `Bad Request: ${wrong}` }
    switch (method) {
      case 'getMe':
        return { code: 200, result: BOT }
      case 'getWebhookInfo':
        return { code: 200, result: { url: this.webhook } }
      case 'setMyCommands':
        return { code: 200, result: true }
      case 'getFile':
        return this.files.find(String(args['file_id']))
      case 'getUpdates':
        return this.#getUpdates(args, response)
      case 'sendMessage':
      case 'sendRichMessage':
      case 'sendPhoto':
      case 'sendDocument':
      case 'sendChatAction':
      case 'sendMessageDraft': {
        if (method === 'sendRichMessage' && !this.hasRich)
          return { code: 404, description: 'Not Found: method not found' }
        const chat = this.#chats.get(Number(args['chat_id']))
        if (chat === undefined) return { code: 400, description: 'Bad Request: chat not found' }
        const era = this.#eras.get(response.req.socket) ?? 0
        return sendInto(chat, { method, args, era })
      }
      default:
        return method satisfies never
    }
  }

  /** A second poll ends the first one, as Telegram does. */
  async #getUpdates(args: Arguments, response: ServerResponse): Promise<Reply> {
    const [offset, timeout, limit] = ['offset', 'timeout', 'limit'].map((name) =>
      Number(args[name]),
    )
    this.#poll?.()
    if (offset !== undefined && Number.isFinite(offset)) {
      const done = this.#updates.filter(({ update_id }) => update_id < offset)
      this.acknowledged.push(...done.map(({ update_id }) => update_id))
      this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset)
    }
    let isReplaced = false
    const ended = new Promise<void>((resolve) => {
      this.#poll = () => {
        isReplaced = true
        resolve()
      }
      response.once('close', resolve)
      this.#wake = resolve
      if (this.#updates.length > 0 || !(timeout !== undefined && timeout > 0)) resolve()
      else setTimeout(resolve, timeout * 1000).unref()
    })
    const poll = this.#poll
    await ended
    if (this.#poll === poll) this.#poll = undefined
    if (isReplaced)
      return { code: 409, description: 'Conflict: terminated by other getUpdates request' }
    return { code: 200, result: this.#updates.slice(0, Number.isFinite(limit) ? limit : 100) }
  }
}

type Arguments = Readonly<Record<string, unknown>>

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name)
}

function replyOf({ code, retryAfter, movedTo }: Injection): Reply {
  const description = DESCRIPTIONS[code] ?? 'Internal Server Error'
  const parameters = {
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    ...(movedTo === undefined ? {} : { migrate_to_chat_id: movedTo }),
  }
  return { code, description, parameters }
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'Bad Request: group chat was upgraded to a supergroup chat',
  401: 'Unauthorized',
  403: 'Forbidden: bot was blocked by the user',
  409: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  429: 'Too Many Requests: retry later',
}

function send(response: ServerResponse, { code, result, description, parameters }: Reply): void {
  const isOk = code === 200
  const body = isOk
    ? { ok: true, result }
    : { ok: false, error_code: code, description, parameters }
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function wholeBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function withoutBytes(args: Arguments): Arguments {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? `${value.length} bytes` : value,
    ]),
  )
}
