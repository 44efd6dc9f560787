import { shorten } from '../../src/encoding/quote.ts'
import { Redactor, SHORTEST_KEY } from '../../src/encoding/redaction.ts'
import type { Clock } from '../../src/host/clock.ts'
import {
  listenLocally,
  type LocalAnswer,
  type LocalRequest,
  type WrittenAnswer,
} from '../../src/host/net/http-server.ts'
import type { TakeMessages } from '../../src/host/net/socket-server.ts'
import { wait } from '../../src/host/wait.ts'
import { ok, type Result } from '../../src/model/errors.ts'
import type { ModelFacts } from '../../src/model/model-facts.ts'
import type { Describe } from '../../src/model/description.ts'
import type { Brain } from '../../src/providers/rehearsal/rehearsal-brain.ts'
import { readChat } from './chat.ts'
import type { Read, RequestReading } from './dialect.ts'
import { Exchange } from './exchange.ts'
import { OnceOnly, type RequestSwitches } from './faults.ts'
import {
  targetOf,
  bodyIn,
  missingKey,
  keyOf,
  noSuchPath,
  notAllowed,
  vendorOf,
} from './incoming.ts'
import { countMessages, readMessages } from './messages.ts'
import { modelList, modelNamed, type VendorModels } from './model-list.ts'
import { PromptCache, type CacheOptions } from './prompt-cache.ts'
import { STRICT, vendorLeniency } from './rules/leniency.ts'
import { refusalText, type WireRefusal } from './rules/refusal.ts'
import { answerReply, jsonReply, refusalReply, vendorFault } from './reply.ts'
import type { VendorDialect } from './rules/request-schemas.ts'
import { ResponseStore, type StoreBounds } from './response-store.ts'
import { takeResponses } from './responses-socket.ts'
import { readResponses } from './responses.ts'

export interface RehearsalServerOptions {
  /** Default: any free port. */
  readonly port?: number
  readonly brain: Brain
  /** Without it, pictures and documents are accepted even if they cannot be decoded. */
  readonly describe?: Describe | undefined
  readonly cache?: CacheOptions
  readonly store?: StoreBounds
  /** The maximum size of a body, in bytes. */
  readonly longest?: number
  readonly models: VendorModels
  readonly clock: Clock
  /** Makes the ids of this server differ from those of any other. */
  readonly seed: string
  /** Receives every request, and every message on a socket, once the response to it is decided. */
  readonly onRequest?: (request: RequestReport) => void
}

/** A request and the outcome of it. */
export interface RequestReport {
  /** `undefined` for a path that belongs to no dialect. */
  readonly dialect: VendorDialect | undefined
  readonly transport: 'http' | 'websocket'
  readonly method: string
  /** Includes switches and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** 0 if the connection was closed without a response. */
  readonly status: number
  /** Why it was refused. */
  readonly refusal?: WireRefusal
  /** The refusal as a short text, without the key of the client. It may contain other text of the client. */
  readonly reason?: string
}

interface RehearsalServer {
  /** For example `http://127.0.0.1:4000`. This is the base URL of Messages; the other dialects append `/v1`. */
  readonly origin: string
  /** Ends every connection. May be called twice. */
  close(): Promise<void>
}

/** More than any vendor's model accepts, and small enough for memory. */
const LONGEST_BODY = 64_000_000

/**
 * Serves the rehearsal model to this machine, as the vendors serve theirs: Anthropic's Messages, OpenAI's Responses (also
 * over WebSockets) and Chat Completions. Returns `invalid_args` if the port is not available.
 */
export async function rehearsalServer(
  options: RehearsalServerOptions,
): Promise<Result<RehearsalServer>> {
  const { port = 0, longest = LONGEST_BODY } = options
  const vendor = new Vendor(options)
  const listening = await listenLocally({
    port,
    longest,
    handle: (request) => vendor.handle(request),
    upgrade: (request) => vendor.upgrade(request),
  })
  if (!listening.ok) return listening
  const server = listening.value
  return ok({ origin: `http://127.0.0.1:${server.port}`, close: () => server.close() })
}

interface Route {
  readonly dialect: VendorDialect
  readonly does: 'answer' | 'count'
}

const ROUTES: ReadonlyMap<string, Route> = new Map([
  ['/v1/messages', { dialect: 'messages', does: 'answer' }],
  ['/v1/messages/count_tokens', { dialect: 'messages', does: 'count' }],
  ['/v1/responses', { dialect: 'responses', does: 'answer' }],
  ['/v1/chat/completions', { dialect: 'chat', does: 'answer' }],
])
const MODELS = /^\/v1\/models(?:\/([^/]+))?$/

const PROVIDERS = { messages: 'anthropic', responses: 'openai', chat: 'openai-chat' } as const

/** A request with a valid path, method, key and body. */
interface Incoming {
  readonly request: LocalRequest
  readonly route: Route
  readonly body: unknown
  readonly switches: RequestSwitches
  readonly requestId: string
}

class Vendor {
  readonly #options: RehearsalServerOptions
  readonly #exchange: Exchange
  readonly #store: ResponseStore
  readonly #once = new OnceOnly()

  constructor(options: RehearsalServerOptions) {
    const { brain, describe, clock, seed, cache, store } = options
    this.#options = options
    this.#store = new ResponseStore(store)
    this.#exchange = new Exchange({
      brain,
      describe,
      clock,
      seed,
      cache: new PromptCache({ ...cache, clock }),
    })
  }

  async handle(request: LocalRequest): Promise<LocalAnswer> {
    const requestId = this.#exchange.newId('req')
    const target = targetOf(request)
    if (!target.ok) return this.#refuse(request, undefined, target.refusal, requestId)
    const { path } = target
    const [models, name] = MODELS.exec(path) ?? []
    if (models !== undefined) return this.#list(request, name, requestId)
    const route = ROUTES.get(path)
    if (route === undefined) return this.#refuse(request, undefined, noSuchPath(path), requestId)
    const refusal = notAllowed(request, 'POST') ?? missingKey(request)
    if (refusal !== undefined) return this.#refuse(request, route.dialect, refusal, requestId)
    const read = bodyIn(request, route.dialect)
    if (!read.ok) return this.#refuse(request, route.dialect, read.refusal, requestId)
    try {
      const incoming = { request, route, body: read.body, switches: target, requestId }
      return route.does === 'count' ? await this.#count(incoming) : await this.#answer(incoming)
    } catch (error) {
      const defect = { status: 500, message: `The rehearsal model failed: ${String(error)}` }
      return this.#refuse(request, route.dialect, defect, requestId)
    }
  }

  /** Only Responses has sockets. */
  async upgrade(request: LocalRequest): Promise<LocalAnswer | TakeMessages> {
    const requestId = this.#exchange.newId('req')
    const target = targetOf(request)
    if (!target.ok) return this.#refuse(request, 'responses', target.refusal, requestId)
    const refusal = target.path === '/v1/responses' ? missingKey(request) : noSuchPath(target.path)
    if (refusal !== undefined) return this.#refuse(request, 'responses', refusal, requestId)
    return takeResponses({
      store: this.#store,
      exchange: this.#exchange,
      clock: this.#options.clock,
      reading: this.#reading('responses', request, target),
      faults: () => this.#once.now(target.faults),
      key: keyOf(request) ?? '',
      onMessage: (message) =>
        this.#report({ ...request, method: 'WS' }, { ...message, dialect: 'responses' }),
    })
  }

  async #answer({ request, route, body, switches, requestId }: Incoming): Promise<LocalAnswer> {
    const { dialect } = route
    const read = await this.#read(dialect, body, this.#reading(dialect, request, switches))
    if (!read.ok) return this.#refuse(request, dialect, read.refusal, requestId)
    const { request: parsed } = read
    const now = this.#once.now(switches.faults)
    if (now.delayMs > 0) await wait(this.#options.clock, now.delayMs, request.signal)
    if (now.close) {
      this.#report(request, { dialect, status: 0 })
      return 'hang_up'
    }
    if (now.status !== undefined) {
      return this.#refuse(request, dialect, vendorFault(now.status, now), requestId)
    }
    const facts = this.#factsOf(dialect, parsed.model)
    const context = { key: keyOf(request) ?? '', facts, faults: now }
    const answered = await this.#exchange.answer(parsed, context)
    if (!answered.ok) return this.#refuse(request, dialect, answered.refusal, requestId)
    this.#report(request, { dialect, status: 200 })
    const { streams } = parsed
    return answerReply(dialect, answered.answer, { streams, faults: now, requestId })
  }

  async #count({ request, route, body, switches, requestId }: Incoming): Promise<LocalAnswer> {
    const { dialect } = route
    const count = await countMessages(body, this.#reading(dialect, request, switches))
    if (typeof count !== 'number') return this.#refuse(request, dialect, count, requestId)
    this.#report(request, { dialect, status: 200 })
    return jsonReply(200, { input_tokens: count }, { 'request-id': requestId })
  }

  #reading(
    dialect: VendorDialect,
    { headers }: LocalRequest,
    { strict }: RequestSwitches,
  ): RequestReading {
    return {
      factsOf: (model) => this.#factsOf(dialect, model),
      leniency: strict ? STRICT : vendorLeniency(dialect, headers),
    }
  }

  #read(dialect: VendorDialect, body: unknown, reading: RequestReading): Promise<Read> {
    switch (dialect) {
      case 'messages':
        return readMessages(body, reading)
      case 'responses':
        return readResponses(body, reading, this.#store)
      case 'chat':
        return readChat(body, reading)
    }
  }

  #list(request: LocalRequest, name: string | undefined, requestId: string): LocalAnswer {
    const dialect = vendorOf(request)
    const refusal = notAllowed(request, 'GET') ?? missingKey(request)
    if (refusal !== undefined) return this.#refuse(request, dialect, refusal, requestId)
    const vendor = dialect === 'messages' ? 'anthropic' : 'openai'
    this.#report(request, { dialect, status: 200 })
    return jsonReply(
      200,
      name === undefined ? modelList(this.#options.models, vendor) : modelNamed(name, vendor),
    )
  }

  /** An unknown model has the facts of the vendor's default model, except for its token limits. */
  #factsOf(dialect: VendorDialect, model: string): ModelFacts {
    const provider = PROVIDERS[dialect]
    const { models } = this.#options
    const known = models.factsOf(provider, model)
    if (known !== undefined) return known
    const usual = models.factsOf(provider, models.defaultOf(provider) ?? '') ?? {}
    const { window_tokens: _window, output_tokens: _output, ...rest } = usual
    return rest
  }

  #refuse(
    request: LocalRequest,
    dialect: VendorDialect | undefined,
    refusal: WireRefusal,
    requestId: string,
  ): WrittenAnswer {
    this.#report(request, { dialect, status: refusal.status, refusal })
    return refusalReply(dialect ?? vendorOf(request), refusal, requestId)
  }

  #report(
    { method, path, headers, body }: LocalRequest,
    outcome: Pick<RequestReport, 'dialect' | 'status'> & Partial<RequestReport>,
  ): void {
    const bytes = body ?? Buffer.alloc(0)
    const reason = reasonOf(outcome.refusal, headers)
    this.#options.onRequest?.({
      transport: 'http',
      method,
      path,
      headers,
      bytes,
      ...outcome,
      ...reason,
    })
  }
}

const REASON_BYTES = 300

function reasonOf(
  refusal: WireRefusal | undefined,
  headers: LocalRequest['headers'],
): Pick<RequestReport, 'reason'> {
  if (refusal === undefined) return {}
  const key = keyOf({ headers })
  // Redact before shortening, because part of a key is not recognised.
  const redactor = new Redactor(key === undefined || key.length < SHORTEST_KEY ? [] : [key])
  return { reason: shorten(redactor.text(refusalText(refusal)), REASON_BYTES) }
}
