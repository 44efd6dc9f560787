import type { Clock } from '../host/clock.ts'
import { failed, type Failed } from '../model/errors.ts'
import { CallFailure } from './call-failure.ts'

/** After the end of an answer, at most this much is read for at most this long, so that its connection can be reused. */
const REST_BYTES = 64 * 1024
const REST_MS = 250

/** How long a server may send nothing but pings, comments, empty deltas or unknown frames. */
export const CONTENT_MS = 10 * 60_000

/** The connection of one call: enforces the idle limit, handles interruption, and closes or releases the connection. */
export class CallConnection {
  readonly #closing = new AbortController()
  readonly #caller: AbortSignal
  readonly #idleMs: number
  readonly #clock: Clock
  #ended: CallFailure | undefined
  #waiting = false
  #stopCounting: (() => void) | undefined
  #giveUp: (why: CallFailure) => void = () => {}
  #unread: AsyncIterator<Uint8Array> | undefined

  constructor(
    caller: AbortSignal,
    { idleMs, clock }: { readonly idleMs: number; readonly clock: Clock },
  ) {
    this.#caller = caller
    this.#idleMs = idleMs
    this.#clock = clock
    caller.addEventListener('abort', this.#interrupt)
    if (caller.aborted) this.#interrupt()
  }

  /** Aborts when the connection must close, for any reason. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Throws if the call was ended early. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended
  }

  /**
   * The result of `work`. Throws, even if `work` never settles, when the call is interrupted or nothing arrives for too long.
   * Only time spent waiting counts, so a slow reader is not mistaken for a silent server.
   */
  async wait<T>(work: Promise<T>): Promise<T> {
    const early = new Promise<never>((_resolve, reject) => {
      this.#giveUp = reject
    })
    const first = Promise.race([work, early])
    if (this.#ended !== undefined) this.#giveUp(this.#ended)
    this.#waiting = true
    this.#stopCounting ??= this.#count()
    const cancelIdle = this.#clock.after(this.#idleMs, () => this.#end(SILENT))
    try {
      return await first
    } catch (error) {
      // An error that results from closing the connection here is not the cause.
      this.check()
      throw error
    } finally {
      cancelIdle()
      this.#waiting = false
      this.#giveUp = () => {}
    }
  }

  /** Content arrived: restarts the content timer. */
  noteProgress(): void {
    this.#stopCounting?.()
    this.#stopCounting = undefined
  }

  /** If the timer fires while nothing waits, content may have arrived unread, so it starts again. */
  #count(): () => void {
    const limit = Math.max(CONTENT_MS, this.#idleMs)
    return this.#clock.after(limit, () => {
      if (this.#waiting) this.#end(noContent(limit))
      else this.#stopCounting = this.#count()
    })
  }

  /** The chunks of a body; waits for each with `wait`. */
  async *chunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    const unread = body[Symbol.asyncIterator]()
    this.#unread = unread
    for (;;) {
      const next = await this.wait(unread.next())
      if (next.done === true) break
      yield next.value
    }
    this.#unread = undefined
  }

  /** Closes the connection. May be called more than once. */
  close(): void {
    this.noteProgress()
    this.#caller.removeEventListener('abort', this.#interrupt)
    this.#closing.abort()
    // Aborting ends the body of a real connection; any other iterator must be ended explicitly, and its errors do not matter.
    void this.#unread?.return?.().catch(() => {})
    this.#unread = undefined
  }

  /** Returns the connection for reuse if the rest of the answer arrives soon, and closes it otherwise. Runs in the background. */
  release(): void {
    this.noteProgress()
    this.#caller.removeEventListener('abort', this.#interrupt)
    const unread = this.#unread
    if (unread === undefined) return
    const cancel = this.#clock.after(REST_MS, () => this.close())
    void readToEnd(unread)
      .catch(() => false)
      .then((ended) => {
        cancel()
        if (!ended) this.close()
      })
  }

  readonly #interrupt = () => this.#end(INTERRUPTED)

  #end(why: Failed): void {
    this.#ended ??= new CallFailure(why.error)
    this.#closing.abort()
    this.#giveUp(this.#ended)
  }
}

const INTERRUPTED = failed('interrupted', 'The call was interrupted.')
/** The kind must be one that is not retried: a retry would block the Turn for as long again. */
function noContent(limit_ms: number): Failed {
  const text = `The server kept the connection open for ${limit_ms / 60_000} minutes without sending content.`
  return failed('timeout', text, { limit_ms }, [
    { action: 'Send the message again, or choose another model.', command: 'hawser models' },
  ])
}

const SILENT = failed(
  'stream_idle',
  'The provider sent nothing for too long, so the call was cancelled.',
)

async function readToEnd(unread: AsyncIterator<Uint8Array>): Promise<boolean> {
  let left = REST_BYTES
  while (left >= 0) {
    const next = await unread.next()
    if (next.done === true) return true
    left -= next.value.length
  }
  return false
}
