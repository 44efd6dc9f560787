import type { Clock } from '../host/clock.ts'
import { failed, type Failed } from '../model/errors.ts'
import { CallFailure } from './call-failure.ts'

/** How much, and for how long, is read of an answer that is over, so that its connection can be used again. */
const REST_BYTES = 64 * 1024
const REST_MS = 250

/** The connection of one call: how long it may be silent, who may interrupt it, and how it ends. */
export class CallLine {
  readonly #closing = new AbortController()
  readonly #caller: AbortSignal
  readonly #idleMs: number
  readonly #clock: Clock
  #ended: CallFailure | undefined
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
    const heard = this.#clock.after(this.#idleMs, () => this.#end(SILENT))
    try {
      return await first
    } catch (error) {
      // What a connection says when it was closed from here is not the reason.
      this.check()
      throw error
    } finally {
      heard()
      this.#giveUp = () => {}
    }
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
    this.#caller.removeEventListener('abort', this.#interrupt)
    this.#closing.abort()
    // Closing has ended a real body; any other is told here, and whether it minds is of no interest.
    void this.#unread?.return?.().catch(() => {})
    this.#unread = undefined
  }

  /** Lets the connection be used again, if the little that should be left of the answer comes soon. Nobody waits for it. */
  release(): void {
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
