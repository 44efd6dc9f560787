import type { Clock } from '../../host/clock.ts'
import type { ProviderCause } from '../../model/error-cause.ts'
import { causeOf, withCause } from '../../model/errors.ts'
import type { ResetReason } from '../../model/prefix-break.ts'
import type { Transport } from '../../model/remote-providers.ts'
import type { AnswerReader } from '../answer-reader.ts'
import { readAnswer, type ProviderOptions } from '../call.ts'
import { onceLoaded } from '../openai-client.ts'
import type { OutgoingRequest, Delivery, Provider, ProviderEvent } from '../provider.ts'
import { sendingOf, type ServerState } from './continuation.ts'
import { ResponsesSocket } from './socket.ts'

/** `relayed`: HTTP through the relay of a guest, which declines sockets whatever is configured. */
export type ResponsesTransport = Transport | 'relayed'

export interface DeliveriesOptions {
  readonly options: ProviderOptions
  readonly transport: ResponsesTransport
  readonly http: Provider['stream']
  readonly reader: () => AnswerReader
}

/** How long to use HTTP after a socket failed. */
const HTTP_MS = 60_000

/** Chooses the transport of requests to one server: a socket per Session, or HTTP if configured or if sockets fail. */
export class Deliveries {
  readonly #options: ProviderOptions
  readonly #transport: ResponsesTransport
  readonly #http: Provider['stream']
  readonly #reader: () => AnswerReader
  readonly #client: ReturnType<typeof onceLoaded>
  readonly #sessions = new Map<string, SessionTransport>()

  constructor({ options, transport, http, reader }: DeliveriesOptions) {
    this.#options = options
    this.#transport = transport
    this.#http = http
    this.#reader = reader
    this.#client = onceLoaded(options)
  }

  delivery(request: OutgoingRequest): Delivery {
    const plain = (): Delivery => ({
      transport: 'http-sse',
      stream: (signal) => this.#http(request.body, signal),
    })
    if (this.#transport === 'http-sse') return plain()
    if (this.#transport === 'relayed') {
      return { ...plain(), continuation: { used: false, reset_reason: 'relayed' } }
    }
    const session = this.#session(request.session)
    if (session.usesHttp(this.#options.clock)) {
      session.forget('fallback')
      return { ...plain(), continuation: { used: false, reset_reason: 'fallback' } }
    }
    const { pieces, reset } = sendingOf(request, session.serverState, session.why)
    return {
      transport: 'websocket',
      sentBytes: pieces.reduce((sum, { length }) => sum + length, 0),
      continuation: reset === undefined ? { used: true } : { used: false, reset_reason: reset },
      stream: (signal) => this.#overSocket(session, request, pieces, signal),
    }
  }

  leave(session: string): void {
    this.#sessions.get(session)?.socket.close()
    this.#sessions.delete(session)
  }

  #session(id: string): SessionTransport {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    const session = new SessionTransport(new ResponsesSocket(this.#client, this.#options))
    this.#sessions.set(id, session)
    return session
  }

  async *#overSocket(
    session: SessionTransport,
    request: OutgoingRequest,
    pieces: readonly Buffer[],
    signal: AbortSignal,
  ): AsyncGenerator<ProviderEvent, void, void> {
    const { socket } = session
    const reused = socket.isOpen
    // Until the answer is complete, the state of the server is unknown.
    session.forget('reconnected')
    const call = { events: socket.call.bind(socket, pieces), reader: this.#reader }
    let shown = false
    let whole = false
    try {
      for await (const event of readAnswer({ ...call, options: this.#options }, signal)) {
        if (event.type === 'error') {
          yield shown ? event : this.#failed(session, event, reused)
          return
        }
        whole = event.type === 'done'
        if (event.type === 'done') session.remember(event, request)
        else shown = true
        yield event
      }
    } finally {
      // The rest of an answer that was not read to its end could be mistaken for the next answer.
      if (!whole) socket.close()
    }
  }

  /**
   * Marks a failure of the transport alone for an immediate retry: on a new socket if a reused one had been closed, or over HTTP
   * if no socket can be opened. Any other failure is final.
   */
  #failed(session: SessionTransport, failure: ErrorEvent, reused: boolean): ErrorEvent {
    const cause = causeOf(failure.error)
    if (cause?.type !== 'provider') return failure
    if (cause.code === 'previous_response_not_found') {
      session.forget('previous_response_not_found')
      return again(failure, cause)
    }
    if (cause.noSocket !== true) return failure
    if (reused) return again(failure, cause)
    if (this.#transport !== 'auto') return failure
    session.useHttp(this.#options.clock.monotonicMs() + HTTP_MS)
    return again(failure, cause)
  }
}

type ErrorEvent = Extract<ProviderEvent, { type: 'error' }>

function again({ error }: ErrorEvent, cause: ProviderCause): ErrorEvent {
  const details = { ...error.details, again: true }
  const marked = withCause({ ok: false, error: { ...error, details } }, { ...cause, again: true })
  return { type: 'error', error: marked.error }
}

/** The transport state of one Session. */
class SessionTransport {
  readonly socket: ResponsesSocket
  #knownState: ServerState | undefined
  #why: ResetReason = 'no_previous_response'
  #httpUntil = 0

  constructor(socket: ResponsesSocket) {
    this.socket = socket
  }

  /** The state of the server, if the socket it belongs to is still open. */
  get serverState(): ServerState | undefined {
    return this.socket.isOpen ? this.#knownState : undefined
  }

  /** Why the state of the server is unknown. */
  get why(): ResetReason {
    return this.#knownState === undefined ? this.#why : 'reconnected'
  }

  remember(
    { stop_reason, raw }: Extract<ProviderEvent, { type: 'done' }>,
    { model, sha256 }: Pick<OutgoingRequest, 'model' | 'sha256'>,
  ): void {
    const responseId = raw?.['id']
    const whole = stop_reason === 'completed' && typeof responseId === 'string'
    this.#knownState = whole ? { responseId, model, sha256 } : undefined
    this.#why = 'no_previous_response'
  }

  forget(why: ResetReason): void {
    this.#knownState = undefined
    this.#why = why
  }

  useHttp(until: number): void {
    this.#httpUntil = until
    this.forget('fallback')
  }

  usesHttp(clock: Pick<Clock, 'monotonicMs'>): boolean {
    return clock.monotonicMs() < this.#httpUntil
  }
}
