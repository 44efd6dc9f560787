import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Clock } from '../clock.ts'

/** One call of a guest: a request whose body is read once, and one answer. Nothing here throws after the guest is gone. */
export interface RelayedCall {
  readonly method: string
  /** With the query, as sent. */
  readonly path: string
  readonly scheme: string
  readonly authority: string
  header(name: string): string | undefined
  /** Aborts when the guest gave up the call or the connection is closed. */
  readonly gone: AbortSignal
  /** The whole body. May be called once, before the answer. */
  body(limits: BodyLimits): Promise<Buffer | BodyFailure>
  respond(status: number, headers: Readonly<Record<string, string>>): void
  /** Resolves when the next chunk may be written: at most `WAITING_BYTES` wait for the guest. */
  write(chunk: Uint8Array): Promise<void>
  /** Ends a complete answer. The rest of the body, if it was not read, is given up. */
  end(): void
  /** Cuts the answer off after what was written, so that the guest sees it is incomplete. */
  cut(): Promise<void>
}

export interface BodyLimits {
  readonly bytes: number
  /** How long nothing may arrive. */
  readonly idleMs: number
  /** How long the whole body may take. */
  readonly wholeMs: number
  readonly clock: Clock
  /** Asks for memory before a chunk is kept. */
  readonly reserve: (bytes: number) => boolean
}

export type BodyFailure = 'too_large' | 'too_slow' | 'no_memory' | 'gone'

/** Bytes of one answer that wait for a guest that does not read. */
const WAITING_BYTES = 32 * 1024

const NO_ERROR = 0

export class StreamCall implements RelayedCall {
  readonly #stream: ServerHttp2Stream
  readonly #headers: IncomingHttpHeaders
  readonly #gone = new AbortController()
  #waiting = 0
  #written: () => void = () => {}

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream
    this.#headers = headers
    // What ends a stream early is reported by its close.
    stream.on('error', () => {})
    stream.once('close', () => {
      this.#gone.abort()
      this.#written()
    })
  }

  get method(): string {
    return this.#headers[':method'] ?? ''
  }

  get path(): string {
    return this.#headers[':path'] ?? ''
  }

  get scheme(): string {
    return this.#headers[':scheme'] ?? ''
  }

  get authority(): string {
    return this.#headers[':authority'] ?? ''
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  body({ bytes, idleMs, wholeMs, clock, reserve }: BodyLimits): Promise<Buffer | BodyFailure> {
    const stream = this.#stream
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      let length = 0
      const settle = (outcome: Buffer | BodyFailure) => {
        cancelIdle()
        cancelWhole()
        stream.off('data', take)
        stream.pause()
        resolve(outcome)
      }
      const slow = () => settle('too_slow')
      let cancelIdle = clock.after(idleMs, slow)
      const cancelWhole = clock.after(wholeMs, slow)
      const take = (chunk: Buffer) => {
        cancelIdle()
        cancelIdle = clock.after(idleMs, slow)
        length += chunk.length
        if (length > bytes) return settle('too_large')
        if (!reserve(chunk.length)) return settle('no_memory')
        chunks.push(chunk)
      }
      stream.once('close', () => settle('gone'))
      // A body that the guest cancels ends like a complete one.
      stream.once('end', () => settle(stream.aborted ? 'gone' : Buffer.concat(chunks)))
      stream.on('data', take)
      if (stream.destroyed) settle('gone')
    })
  }

  respond(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#isOpen()) this.#stream.respond({ ':status': status, ...headers })
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; from += WAITING_BYTES) {
      const piece = chunk.subarray(from, from + WAITING_BYTES)
      await this.#untilWaiting(WAITING_BYTES - piece.length)
      if (!this.#isOpen()) return
      this.#waiting += piece.length
      this.#stream.write(piece, () => {
        this.#waiting -= piece.length
        this.#written()
      })
    }
  }

  end(): void {
    if (!this.#isOpen()) return
    this.#stream.end()
    if (!this.#stream.readableEnded) this.#stream.close(NO_ERROR)
  }

  async cut(): Promise<void> {
    await this.#untilWaiting(0)
    // Unlike `close`, which would end the answer first.
    this.#stream.destroy(new Error('cut off'))
  }

  /** Resolves when at most this many bytes wait, or when nobody waits for them. */
  async #untilWaiting(most: number): Promise<void> {
    while (this.#isOpen() && this.#waiting > most) {
      await new Promise<void>((resolve) => {
        this.#written = resolve
      })
    }
  }

  #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed
  }
}
