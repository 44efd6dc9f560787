import type { Clock } from '../host/clock.ts'
import { failed, type Failed } from '../model/errors.ts'
import { CallFailure } from './call-failure.ts'

/** How much, and for how long, is read of an answer that is over, so that its connection can be used again. */
const REST_BYTES = 64 * 1024
const REST_MS = 250

/** How long a server may only show that it is there: by pings, comments, empty deltas, or frames that nobody knows. */
export const CONTENT_MS = 10 * 60_000

/** The connection of one call: how long it may be silent, who may interrupt it, and how it ends. */
export class CallLine {
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

  /** Aborted when the connection is to be closed, for whatever reason. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Throws when the call was ended early. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended
  }

  /**
   * What `work` comes to. Throws, also when `work` never settles, once the call was interrupted or nothing was heard for too
   * long. Time counts only while somebody waits: a reader who is slow is not a server that is silent.
   */
  async wait<T>(work: Promise<T>): Promise<T> {
    const early = new Promise<never>((_resolve, reject) => {
      this.#giveUp = reject
    })
    const first = Promise.race([work, early])
    if (this.#ended !== undefined) this.#giveUp(this.#ended)
    this.#waiting = true
    this.#stopCounting ??= this.#count()
    const heard = this.#clock.after(this.#idleMs, () => this.#end(SILENT))
    try {
      return await first
    } catch (error) {
      // What a connection says when it was closed from here is not the reason.
      this.check()
      throw error
    } finally {
      heard()
      this.#waiting = false
      this.#giveUp = () => {}
    }
  }

  /** Content arrived: the time that a server may go without starts again. */
  progressed(): void {
    this.#stopCounting?.()
    this.#stopCounting = undefined
  }

  /** While nobody waits, content may have arrived that was not read: then it counts from the beginning. */
  #count(): () => void {
    const limit = Math.max(CONTENT_MS, this.#idleMs)
    return this.#clock.after(limit, () => {
      if (this.#waiting) this.#end(noContent(limit))
      else this.#stopCounting = this.#count()
    })
  }

  /** The chunks of a body, each waited for. */
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

  /** Closes the connection. */
  close(): void {
    this.progressed()
    this.#caller.removeEventListener('abort', this.#interrupt)
    this.#closing.abort()
    // Closing has ended a real body; any other is told here, and whether it minds is of no interest.
    void this.#unread?.return?.().catch(() => {})
    this.#unread = undefined
  }

  /** Lets the connection be used again, if the little that should be left of the answer comes soon. Nobody waits for it. */
  release(): void {
    this.progressed()
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
/** Another try would hold the Turn for as long again, so this is a kind that is not tried again. */
function noContent(limit_ms: number): Failed {
  const text = `The server kept the connection open for ${limit_ms / 60_000} minutes without sending content.`
  return failed('timeout', text, { limit_ms }, [
    { action: 'Send the message again, or choose another model.', command: 'hawser models' },
  ])
}

const SILENT = failed('stream_idle', 'The model was silent for too long; the call was given up.')

async function readToEnd(unread: AsyncIterator<Uint8Array>): Promise<boolean> {
  let left = REST_BYTES
  while (left >= 0) {
    const next = await unread.next()
    if (next.done === true) return true
    left -= next.value.length
  }
  return false
}
