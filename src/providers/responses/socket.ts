import type { ResponsesWS } from 'openai/resources/responses/ws'
import * as z from 'zod'
import type { ServerSentEvent } from '../../encoding/server-sent-events.ts'
import { sendLongMessage, type SocketConnection } from '../../host/net/long-message.ts'
import { unhurried } from '../../host/background-timer.ts'
import { failed, withCause } from '../../model/errors.ts'
import { placeRefusal, type Binding } from '../bound-fetch.ts'
import { CallFailure } from '../call-failure.ts'
import type { CallLine } from '../call-line.ts'
import type { onceLoaded } from '../openai-client.ts'
import { vendorError } from '../vendor-error.ts'

type Client = ReturnType<typeof onceLoaded>

const PING_MS = 25_000
/** Vendors end a socket after an hour; one that nobody uses is ended long before. */
const IDLE_MS = 5 * 60_000
const LONGEST_MESSAGE = 3 * 1024 * 1024
/** What is sent at once; a longer message goes in fragments. */
const LONGEST_FRAME = 1024 * 1024

/** One socket to a server, opened when it is first used. It holds no process that has nothing else to do. */
export class ResponsesSocket {
  readonly #client: Client
  readonly #binding: Pick<Binding, 'key' | 'baseUrl'>
  readonly #timers: typeof unhurried
  #open: OpenSocket | undefined

  constructor(client: Client, binding: Pick<Binding, 'key' | 'baseUrl'>, timers = unhurried) {
    this.#client = client
    this.#binding = binding
    this.#timers = timers
  }

  /** A socket is open, and nobody has ended it meanwhile. */
  get isOpen(): boolean {
    return this.#open !== undefined && !this.#open.ended
  }

  /**
   * Sends one message, of which the pieces are read until the call ends, and yields those that come back, for as long as somebody
   * reads. Closing the line ends the socket.
   */
  async *call(
    message: readonly Buffer[],
    line: CallLine,
  ): AsyncGenerator<ServerSentEvent, void, void> {
    const socket = await line.wait(this.#opened(line.signal))
    const end = () => socket.end()
    line.signal.addEventListener('abort', end)
    socket.hold(true)
    try {
      line.check()
      socket.send(message)
      for (;;) yield { event: 'message', data: await line.wait(socket.next()) }
    } finally {
      line.signal.removeEventListener('abort', end)
      // Who was answered before all was said has no use for the rest, and after half a message no other can follow.
      if (socket.sending) socket.end()
      socket.hold(false)
    }
  }

  close(): void {
    this.#open?.end()
    this.#open = undefined
  }

  async #opened(signal: AbortSignal): Promise<OpenSocket> {
    if (this.#open !== undefined && !this.#open.ended) return this.#open
    const refusal = placeRefusal(this.#binding)
    if (refusal !== undefined) throw new CallFailure(refusal.error)
    const { ResponsesWS: Socket } = await import('openai/resources/responses/ws')
    const socket = new Socket(await this.#client(), {
      // The SDK would send a key that it must be given where there is none.
      headers: { 'user-agent': 'hawser', ...(this.#binding.key === undefined ? NO_KEY : {}) },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: LONGEST_MESSAGE,
      perMessageDeflate: false,
      followRedirects: false,
    })
    this.#open = await opened(socket, signal, this.#timers)
    return this.#open
  }
}

const HANDSHAKE_MS = 30_000
const NO_KEY = { authorization: '' }

/** Resolves when the other side has agreed; rejects with why it has not. */
function opened(
  socket: ResponsesWS,
  signal: AbortSignal,
  timers: typeof unhurried,
): Promise<OpenSocket> {
  const platform = socket.socket.platformSocket
  return new Promise((resolve, reject) => {
    let connection: Connection | undefined
    const abort = () => platform.terminate()
    signal.addEventListener('abort', abort, { once: true })
    // The SDK wants to be told that somebody listens; what is wrong is told below.
    socket.on('error', () => {})
    platform.once('upgrade', (response) => {
      connection = response.socket
    })
    platform.once('open', () => {
      signal.removeEventListener('abort', abort)
      if (connection === undefined) reject(new CallFailure(broken()))
      else resolve(new OpenSocket(socket, connection, timers))
    })
    platform.once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0
      response.destroy()
      reject(new CallFailure(handshakeRefused(status)))
    })
    platform.once('error', (error) => reject(new CallFailure(broken(error))))
    platform.once('close', () => reject(new CallFailure(broken())))
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
  readonly #timers: typeof unhurried
  readonly #messages: string[] = []
  readonly #stopPinging: () => void
  #stopIdling = () => {}
  #waiting: { resolve: (message: string) => void; reject: (error: Error) => void } | undefined
  ended = false
  /** Half a message was sent. */
  sending = false

  constructor(socket: ResponsesWS, connection: Connection, timers: typeof unhurried) {
    this.#socket = socket
    this.#connection = connection
    this.#timers = timers
    const platform = socket.socket.platformSocket
    socket.socket.on('message', (data) => {
      // What is not text is no event.
      if (typeof data === 'string') this.#take(data)
    })
    platform.on('close', () => this.#over())
    platform.on('error', () => this.#over())
    this.#stopPinging = timers.every(PING_MS, () => platform.ping())
    this.hold(false)
  }

  /** Keeps the process alive, or does not; whoever does not use it for long finds it closed. */
  hold(held: boolean): void {
    this.#stopIdling()
    if (this.ended) return
    // What came before anything was asked is no answer to it.
    this.#messages.length = 0
    if (held) this.#connection.ref()
    else {
      this.#connection.unref()
      this.#stopIdling = this.#timers.after(IDLE_MS, () => this.end())
    }
  }

  send(message: readonly Buffer[]): void {
    if (this.ended) throw new CallFailure(broken())
    const platform = this.#socket.socket.platformSocket
    const length = message.reduce((sum, piece) => sum + piece.length, 0)
    if (length <= LONGEST_FRAME) {
      // As text, from the bytes as they are.
      platform.send(Buffer.concat(message), { binary: false })
      return
    }
    this.sending = true
    // Whoever waits for an answer hears that it comes to nothing when the socket closes.
    sendLongMessage(this.#connection, {
      pieces: message,
      mayGoOn: () => !this.ended && platform.readyState === platform.OPEN,
      onRead: () => {
        this.sending = false
      },
    })
  }

  next(): Promise<string> {
    const message = this.#messages.shift()
    if (message !== undefined) return Promise.resolve(message)
    if (this.ended) return Promise.reject(new CallFailure(broken()))
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
    this.#waiting?.reject(new CallFailure(broken()))
    this.#waiting = undefined
  }
}

function handshakeRefused(status: number) {
  const message = 'The server does not take a socket.'
  if (status === 401 || status === 403) return vendorError({ status, message: '' })
  // A redirect is not followed and would be met again. Any other status may pass.
  const kind = status >= 300 && status < 400 ? 'not_configured' : 'network'
  const refused = failed(kind, message, { status, no_socket: true })
  return withCause(refused, { type: 'provider', status, noSocket: true }).error
}

function broken(error?: Error) {
  const code = z.object({ code: z.string() }).safeParse(error).data?.code ?? 'ECONNRESET'
  const message = `The socket to the model broke (${code}).`
  const refused = failed('network', message, { code, no_socket: true })
  return withCause(refused, { type: 'provider', code, noSocket: true }).error
}
