/** The body of a response that is sent while it is produced. */
export interface LiveBody {
  readonly stream: ReadableStream<Uint8Array>
  /** Queues bytes for the reader. Returns false once the reader is gone, was dropped, or the body has ended. */
  send(bytes: Uint8Array): boolean
  /** Resolves when little is queued, or the reader is gone: for a producer that can wait. */
  room(): Promise<void>
  /** Ends the body after what was queued. May be called twice. */
  end(): void
}

export interface LiveBodyOptions {
  /** More bytes than this are not held for a reader that does not read. */
  readonly mostBytes?: number
  /** What a dropped reader gets instead of everything queued, then the end. */
  readonly farewell?: Uint8Array
  /** Called once, when the reader disconnects or is dropped. */
  readonly onGone?: (why: 'disconnected' | 'too_slow') => void
}

/** A reader may cost 4 MB. The rest is for the piece that its connection is sending, which is not queued any more. */
const MOST_BYTES = 3 * 1000 * 1000
/** With less than this, a producer that waits for its reader continues. */
const LITTLE_BYTES = 64 * 1000

/**
 * A producer of live events cannot wait for a slow reader, and must not keep everything for it either. Small pieces cost
 * more than their bytes, so each counts as at least 64.
 */
export function liveBody({
  mostBytes = MOST_BYTES,
  farewell,
  onGone = () => {},
}: LiveBodyOptions = {}): LiveBody {
  let queue: Uint8Array[] = []
  let held = 0
  let state: 'open' | 'ended' | 'gone' = 'open'
  let wake: (() => void) | undefined
  const waiting: (() => void)[] = []
  const hasRoom = () => state !== 'open' || held < LITTLE_BYTES
  const tellRoom = () => {
    if (hasRoom()) for (const resolve of waiting.splice(0)) resolve()
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (queue.length === 0 && state === 'open') {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
        const next = queue.shift()
        if (next !== undefined) {
          held -= costOf(next)
          controller.enqueue(next)
          tellRoom()
        } else if (state === 'ended') controller.close()
      },
      cancel: () => {
        if (state === 'open') onGone('disconnected')
        state = 'gone'
        queue = []
        wake?.()
        tellRoom()
      },
    },
    // Nothing is taken from the queue before the connection asks for it.
    { highWaterMark: 0 },
  )
  return {
    stream,
    send: (bytes) => {
      if (state !== 'open') return false
      queue.push(bytes)
      held += costOf(bytes)
      if (held > mostBytes) {
        state = 'ended'
        queue = farewell === undefined ? [] : [farewell]
        onGone('too_slow')
        tellRoom()
      }
      wake?.()
      return state === 'open'
    },
    room: async () => {
      if (hasRoom()) return
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
    },
    end: () => {
      if (state === 'open') state = 'ended'
      wake?.()
      tellRoom()
    },
  }
}

const LEAST_COST = 64

function costOf({ length }: Uint8Array): number {
  return Math.max(length, LEAST_COST)
}
