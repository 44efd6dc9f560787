import type { ResponsesWS } from 'openai/resources/responses/ws'
import * as z from 'zod'
import type { ServerSentEvent } from '../../encoding/server-sent-events.ts'
import { sendLongMessage, type SocketConnection } from '../../host/net/long-message.ts'
import { backgroundTimer } from '../../host/background-timer.ts'
import { failed, withCause } from '../../model/errors.ts'
import { placeRefusal, type Binding } from '../bound-fetch.ts'
import { CallFailure } from '../call-failure.ts'
import type { CallConnection } from '../call-connection.ts'
import type { onceLoaded } from '../openai-client.ts'
import { vendorError } from '../vendor-error.ts'

type Client = ReturnType<typeof onceLoaded>

const PING_MS = 25_000
/** Vendors close a socket after an hour; an unused one is closed long before. */
const IDLE_MS = 5 * 60_000
const LONGEST_MESSAGE = 3 * 1024 * 1024
/** The largest message sent in one piece; a longer one is fragmented. */
const LONGEST_FRAME = 1024 * 1024

/** One socket to a server, opened on first use. An idle socket does not keep the process alive. */
export class ResponsesSocket {
  readonly #client: Client
  readonly #binding: Pick<Binding, 'key' | 'baseUrl'>
  readonly #timers: typeof backgroundTimer
  #open: OpenSocket | undefined

  constructor(client: Client, binding: Pick<Binding, 'key' | 'baseUrl'>, timers = backgroundTimer) {
    this.#client = client
    this.#binding = binding
    this.#timers = timers
  }

  /** Whether a socket is open. */
  get isOpen(): boolean {
    return this.#open !== undefined && !this.#open.ended
  }

  /**
   * Sends one message and yields the messages that come back until the consumer stops. The pieces must not change until the call
   * ends. Closing the connection of the call closes the socket.
   */
  async *call(
    message: readonly Buffer[],
    connection: CallConnection,
  ): AsyncGenerator<ServerSentEvent, void, void> {
    const socket = await connection.wait(this.#openSocket(connection.signal))
    const end = () => socket.end()
    connection.signal.addEventListener('abort', end)
    socket.hold(true)
    try {
      connection.check()
      socket.send(message)
      for (;;) yield { event: 'message', data: await connection.wait(socket.next()) }
    } finally {
      connection.signal.removeEventListener('abort', end)
      // If the answer arrived before the whole message was sent, the socket is unusable: no message can follow half of one.
      if (socket.sending) socket.end()
      socket.hold(false)
    }
  }

  close(): void {
    this.#open?.end()
    this.#open = undefined
  }

  async #openSocket(signal: AbortSignal): Promise<OpenSocket> {
    if (this.#open !== undefined && !this.#open.ended) return this.#open
    const refusal = placeRefusal(this.#binding)
    if (refusal !== undefined) throw new CallFailure(refusal.error)
    const { ResponsesWS: Socket } = await import('openai/resources/responses/ws')
    const socket = new Socket(await this.#client(), {
      // Without a key, the SDK would send the placeholder that it requires.
      headers: { 'user-agent': 'hawser', ...(this.#binding.key === undefined ? NO_KEY : {}) },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: LONGEST_MESSAGE,
      perMessageDeflate: false,
      followRedirects: false,
    })
    this.#open = await waitForOpen(socket, signal, this.#timers)
    return this.#open
  }
}

const HANDSHAKE_MS = 30_000
const NO_KEY = { authorization: '' }

/** Resolves when the handshake succeeds; rejects with the reason if it fails. */
function waitForOpen(
  socket: ResponsesWS,
  signal: AbortSignal,
  timers: typeof backgroundTimer,
): Promise<OpenSocket> {
  const platform = socket.socket.platformSocket
  return new Promise((resolve, reject) => {
    let connection: Connection | undefined
    const abort = () => platform.terminate()
    signal.addEventListener('abort', abort, { once: true })
    // The SDK requires an error listener; errors are handled below.
    socket.on('error', () => {})
    platform.once('upgrade', (response) => {
      connection = response.socket
    })
    platform.once('open', () => {
      signal.removeEventListener('abort', abort)
      if (connection === undefined) reject(new CallFailure(brokenSocket()))
      else resolve(new OpenSocket(socket, connection, timers))
    })
    platform.once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0
      response.destroy()
      reject(new CallFailure(handshakeRefused(status)))
    })
    platform.once('error', (error) => reject(new CallFailure(brokenSocket(error))))
    platform.once('close', () => reject(new CallFailure(brokenSocket())))
    if (signal.aborted) abort()
  })
}

interface Connection extends SocketConnection {
  ref(): unknown
  unref(): unknown
}

class OpenSocket {
  readonly #socket: ResponsesWS
  readonly #connection: Connection
  readonly #timers: typeof backgroundTimer
  readonly #messages: string[] = []
  readonly #stopPinging: () => void
  #stopIdling = () => {}
  #waiting: { resolve: (message: string) => void; reject: (error: Error) => void } | undefined
  ended = false
  /** A message was sent in part. */
  sending = false

  constructor(socket: ResponsesWS, connection: Connection, timers: typeof backgroundTimer) {
    this.#socket = socket
    this.#connection = connection
    this.#timers = timers
    const platform = socket.socket.platformSocket
    socket.socket.on('message', (data) => {
      // Events are text messages; others are ignored.
      if (typeof data === 'string') this.#take(data)
    })
    platform.on('close', () => this.#over())
    platform.on('error', () => this.#over())
    this.#stopPinging = timers.every(PING_MS, () => platform.ping())
    this.hold(false)
  }

  /** Whether to keep the process alive. A socket that is not held is closed after `IDLE_MS`. */
  hold(held: boolean): void {
    this.#stopIdling()
    if (this.ended) return
    // Messages that arrived before the request are not part of its answer.
    this.#messages.length = 0
    if (held) this.#connection.ref()
    else {
      this.#connection.unref()
      this.#stopIdling = this.#timers.after(IDLE_MS, () => this.end())
    }
  }

  send(message: readonly Buffer[]): void {
    if (this.ended) throw new CallFailure(lostSocketFailure())
    const platform = this.#socket.socket.platformSocket
    const length = message.reduce((sum, piece) => sum + piece.length, 0)
    if (length <= LONGEST_FRAME) {
      // Sends the bytes as a text message without converting them.
      platform.send(Buffer.concat(message), { binary: false })
      return
    }
    this.sending = true
    // If the socket closes, the pending `next` rejects.
    sendLongMessage(this.#connection, {
      pieces: message,
      mayContinue: () => !this.ended && platform.readyState === platform.OPEN,
      onRead: () => {
        this.sending = false
      },
    })
  }

  next(): Promise<string> {
    const message = this.#messages.shift()
    if (message !== undefined) return Promise.resolve(message)
    if (this.ended) return Promise.reject(new CallFailure(lostSocketFailure()))
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  end(): void {
    this.#socket.socket.platformSocket.terminate()
    this.#over()
  }

  #take(message: string): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#messages.push(message)
    else waiting.resolve(message)
  }

  #over(): void {
    if (this.ended) return
    this.ended = true
    this.#stopPinging()
    this.#stopIdling()
    this.#waiting?.reject(new CallFailure(lostSocketFailure()))
    this.#waiting = undefined
  }
}

function handshakeRefused(status: number) {
  const message = `The server refused the WebSocket connection (status ${status}).`
  if (status === 401 || status === 403) return vendorError({ status, message: '' })
  // A redirect is not followed and would be returned again. Any other status may be temporary.
  const kind = status >= 300 && status < 400 ? 'not_configured' : 'network'
  const refused = failed(kind, message, { status, no_socket: true })
  return withCause(refused, { type: 'provider', status, noSocket: true }).error
}

/** An open socket failed. */
function lostSocketFailure() {
  const error = brokenSocket()
  const cause = { type: 'provider', code: 'ECONNRESET', noSocket: true, lostSocket: true } as const
  return withCause({ ok: false, error }, cause).error
}

function brokenSocket(error?: Error) {
  const code = z.object({ code: z.string() }).safeParse(error).data?.code ?? 'ECONNRESET'
  const message = `The WebSocket connection to the provider failed (${code}).`
  const refused = failed('network', message, { code, no_socket: true })
  return withCause(refused, { type: 'provider', code, noSocket: true }).error
}
