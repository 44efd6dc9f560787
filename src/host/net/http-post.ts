import * as http from 'node:http'
import * as https from 'node:https'
import type { Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import type { Clock } from '../clock.ts'
import { abortError, failureOf, limitConnecting, UNUSED_CONNECTION_MS } from './http.ts'

/** A request whose body is sent in pieces, as they become known. */
export interface OpenPost {
  /** Sends the next pieces of the body, when the previous ones are sent. */
  send(pieces: readonly Buffer[]): void
  /** Sends the last pieces. Until then, the server has no complete request. */
  end(pieces: readonly Buffer[]): void
  /** Breaks the connection. Does nothing once the answer has ended. */
  destroy(): void
  /** Rejects with an `HttpFailure`, or with an `AbortError` if the request was destroyed or its signal aborted. */
  readonly answer: Promise<PostAnswer>
}

/** The head of a response, and a body that emits an error or only `close` if it is cut off. */
export interface PostAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: Readable
}

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Of the whole body, in bytes. */
  readonly length: number
  /** Destroys the request. */
  readonly signal: AbortSignal
}

/** Opens a request. Never throws: what fails is reported by the answer. */
export type Post = (url: string, options: PostOptions) => OpenPost

/** Like `httpFetch`, for a body that is not complete yet, and without the objects of `fetch`, which take more time than the rest. */
export function httpPost(clock: Clock): Post {
  const options = { keepAlive: true, timeout: UNUSED_CONNECTION_MS }
  const agents = { http: new http.Agent(options), https: new https.Agent(options) }
  const targetOf = lastTarget()
  return (url, { headers, length, signal }) => {
    const sent = { 'accept-encoding': 'identity', 'content-length': String(length) }
    const init = { method: 'POST', headers: { ...headers, ...sent } }
    try {
      const place = targetOf(url)
      const request =
        place.protocol === 'https:'
          ? https.request({ ...place, ...init, agent: agents.https })
          : http.request({ ...place, ...init, agent: agents.http })
      limitConnecting(request, clock)
      return openPost(request, signal)
    } catch (error) {
      // A header or an address that no request can have.
      return {
        send() {},
        end() {},
        destroy() {},
        answer: handleLater(Promise.reject(failureOf(error, signal))),
      }
    }
  }
}

/** Most requests go to the same address, and it takes as long to parse as to send. */
function lastTarget(): (url: string) => http.RequestOptions {
  let last: { readonly url: string; readonly place: http.RequestOptions } | undefined
  return (url) => {
    if (last?.url !== url) last = { url, place: urlToHttpOptions(new URL(url)) }
    return last.place
  }
}

function openPost(request: http.ClientRequest, signal: AbortSignal): OpenPost {
  const body = new SentBody(request)
  return {
    send: (pieces) => body.add(pieces, false),
    end: (pieces) => body.add(pieces, true),
    destroy: () => void request.destroy(abortError()),
    answer: handleLater(answerOf(request, signal)),
  }
}

/** A promise whose rejection may be looked at later, or never. */
function handleLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

function answerOf(request: http.ClientRequest, signal: AbortSignal): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const abort = () => void request.destroy(abortError())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    request.once('close', () => signal.removeEventListener('abort', abort))
    // The listener stays for the whole request: an error during the body is reported by the body.
    request.on('error', (error) => reject(failureOf(error, signal)))
    request.once('response', (body) => {
      // It may break before anybody reads it.
      body.on('error', () => {})
      const { statusCode: status = 0 } = body
      const get = (name: string) => {
        const value = body.headers[name]
        return (Array.isArray(value) ? value.join(', ') : value) ?? null
      }
      resolve({ status, headers: { get }, body })
    })
  })
}

/** The size of one write: encrypting a large body at once would need two more copies of it in memory. */
const MOST_WRITTEN = 1024 * 1024

/** Pieces that wait until the connection has taken the previous ones. */
class SentBody {
  readonly #request: http.ClientRequest
  #waiting: Buffer[] = []
  #isLast = false
  #isBusy = false

  constructor(request: http.ClientRequest) {
    this.#request = request
  }

  add(pieces: readonly Buffer[], isLast: boolean): void {
    this.#waiting.push(...pieces)
    this.#isLast = isLast
    if (!this.#isBusy) this.#write()
  }

  #write(): void {
    const request = this.#request
    this.#isBusy = false
    while (this.#waiting.length > 0 && !this.#isBusy) {
      request.cork()
      this.#isBusy = this.#writeSome()
      request.uncork()
    }
    if (this.#waiting.length === 0 && this.#isLast) request.end()
    else if (this.#isBusy) request.once('drain', () => this.#write())
  }

  /** Whether the connection wants no more for now. */
  #writeSome(): boolean {
    let count = 0
    let isFull = false
    for (let bytes = 0; count < this.#waiting.length && bytes < MOST_WRITTEN; count += 1) {
      const piece = this.#waiting[count] ?? Buffer.alloc(0)
      isFull = !this.#request.write(piece)
      bytes += piece.length
    }
    this.#waiting = this.#waiting.slice(count)
    return isFull
  }
}
