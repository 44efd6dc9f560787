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
  readonly goneSignal: AbortSignal
  /**
   * Reads the body. `take` gets each chunk as it arrives, and ends the reading by returning false. Resolves with why the body is
   * incomplete, if it is. May be called once, before the answer.
   */
  body(limits: BodyLimits, take: (chunk: Buffer) => boolean): Promise<BodyFailure | undefined>
  respond(status: number, headers: Readonly<Record<string, string>>): void
  /** Returns when the next chunk may be written, which is usually now: at most `WAITING_BYTES` wait for the guest. */
  write(chunk: Uint8Array): Promise<void> | undefined
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

export type BodyFailure = 'too_large' | 'too_slow' | 'no_memory' | 'not_taken' | 'gone'

/** Bytes of one answer that wait for a guest that does not read. */
const WAITING_BYTES = 32 * 1024

const NO_ERROR = 0
/** Every call ends with it, and an error of its own with a stack would take much longer to make than the rest of the end. */
const GONE = new Error('the call is over')

export class StreamCall implements RelayedCall {
  readonly #stream: ServerHttp2Stream
  readonly #headers: IncomingHttpHeaders
  readonly #goneController = new AbortController()
  #waiting = 0
  #heldPiece: Uint8Array | undefined
  #onDrain: () => void = () => {}

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream
    this.#headers = headers
    // What ends a stream early is reported by its close.
    stream.on('error', () => {})
    stream.once('close', () => {
      this.#goneController.abort(GONE)
      this.#onDrain()
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

  get goneSignal(): AbortSignal {
    return this.#goneController.signal
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  body(
    { bytes, idleMs, wholeMs, clock, reserve }: BodyLimits,
    take: (chunk: Buffer) => boolean,
  ): Promise<BodyFailure | undefined> {
    const stream = this.#stream
    return new Promise((resolve) => {
      let length = 0
      const settle = (failure?: BodyFailure) => {
        cancelIdle()
        cancelWhole()
        stream.off('data', arrived)
        stream.pause()
        resolve(failure)
      }
      const slow = () => settle('too_slow')
      let cancelIdle = clock.after(idleMs, slow)
      const cancelWhole = clock.after(wholeMs, slow)
      const arrived = (chunk: Buffer) => {
        cancelIdle()
        cancelIdle = clock.after(idleMs, slow)
        length += chunk.length
        if (length > bytes) return settle('too_large')
        if (!reserve(chunk.length)) return settle('no_memory')
        if (!take(chunk)) settle('not_taken')
      }
      stream.once('close', () => settle('gone'))
      // A body that the guest cancels ends like a complete one.
      stream.once('end', () => settle(stream.aborted ? 'gone' : undefined))
      stream.on('data', arrived)
      if (stream.destroyed) settle('gone')
    })
  }

  respond(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#isOpen()) this.#stream.respond({ ':status': status, ...headers })
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#waiting + chunk.length > WAITING_BYTES) return this.#writePieces(chunk)
    this.#writeSoon(chunk)
    return undefined
  }

  async #writePieces(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; from += WAITING_BYTES) {
      const piece = chunk.subarray(from, from + WAITING_BYTES)
      await this.#untilWaiting(WAITING_BYTES - piece.length)
      this.#writeSoon(piece)
    }
  }

  /** Holds a piece back for a turn of the event loop: often the answer ends in it, and the end takes no frame of its own then. */
  #writeSoon(piece: Uint8Array): void {
    if (piece.length === 0 || !this.#isOpen()) return
    this.#waiting += piece.length
    if (this.#heldPiece === undefined) setImmediate(() => this.#writeHeld())
    else this.#writeHeld()
    this.#heldPiece = piece
  }

  #writeHeld(): void {
    const piece = this.#heldPiece
    this.#heldPiece = undefined
    if (piece === undefined || !this.#isOpen()) return
    this.#stream.write(piece, () => {
      this.#waiting -= piece.length
      this.#onDrain()
    })
  }

  end(): void {
    if (!this.#isOpen()) return
    const last = this.#heldPiece
    this.#heldPiece = undefined
    this.#stream.end(last)
    if (!this.#stream.readableEnded) this.#stream.close(NO_ERROR)
  }

  async cut(): Promise<void> {
    this.#writeHeld()
    await this.#untilWaiting(0)
    // Unlike `close`, which would end the answer first.
    this.#stream.destroy(new Error('cut off'))
  }

  /** Resolves when at most this many bytes wait, or when no reader waits for them. */
  async #untilWaiting(most: number): Promise<void> {
    while (this.#isOpen() && this.#waiting > most) {
      await new Promise<void>((resolve) => {
        this.#onDrain = resolve
      })
    }
  }

  #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed
  }
}
