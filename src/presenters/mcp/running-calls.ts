import type { RequestId } from '@modelcontextprotocol/server'

/** The calls of one session. */
export interface SessionCalls {
  /** Runs a call with a signal that aborts when the call is cancelled. */
  run<T>(id: RequestId, call: (cancelled: AbortSignal) => Promise<T>): Promise<T>
  cancel(id: RequestId): void
}

/** Calls that may be cancelled by another request than the one that they belong to. */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>()

  of(session: string): SessionCalls {
    const running = this.#running
    const keyOf = (id: RequestId) => JSON.stringify([session, id])
    return {
      run: async (id, call) => {
        const [key, abort] = [keyOf(id), new AbortController()]
        running.set(key, abort)
        try {
          return await call(abort.signal)
        } finally {
          if (running.get(key) === abort) running.delete(key)
        }
      },
      cancel: (id) => running.get(keyOf(id))?.abort(),
    }
  }
}
