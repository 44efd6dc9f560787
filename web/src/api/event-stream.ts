import { ServerSentEvents } from '../../../src/encoding/server-sent-events.ts'
import { failureFrom, isShape, send } from './server.ts'
import type { EphemeralEvent, LogLine } from './shapes.ts'

/** What a stream of a Session tells. */
export interface StreamHandlers {
  readonly line: (line: LogLine) => void
  readonly live: (notice: EphemeralEvent) => void
  /** Events after this number were lost in a crash, and follow again. */
  readonly rewound: (afterSeq: number) => void
  readonly connection: (state: Connection) => void
}

/** `closed`: the Session is gone, or this tab may not read it; nothing is tried again. */
export type Connection = 'connecting' | 'open' | 'stopped' | { readonly closed: string }

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 4_000
/** The server sends something every 15 seconds. */
const SILENT_MS = 40_000

/** Follows a Session from the Event after `afterSeq` until `signal` aborts, over any number of connections. */
export async function followSession(
  id: string,
  afterSeq: number,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  let last = afterSeq
  let wait = FIRST_WAIT_MS
  const counting: StreamHandlers = {
    ...handlers,
    line: (line) => {
      last = line.event.seq
      handlers.line(line)
    },
    rewound: (seq) => {
      last = seq
      handlers.rewound(seq)
    },
  }
  while (!signal.aborted) {
    const end = await readOnce(id, last, counting, signal)
    if (end === 'closed' || signal.aborted) return
    wait = end === 'opened' ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, wait * 2)
    await pause(wait, signal)
  }
}

async function readOnce(
  id: string,
  last: number,
  handlers: StreamHandlers,
  outer: AbortSignal,
): Promise<'opened' | 'failed' | 'closed'> {
  const silence = new AbortController()
  const signal = AbortSignal.any([outer, silence.signal])
  let timer = setTimeout(() => silence.abort(), SILENT_MS)
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), SILENT_MS)
  }
  try {
    const path = `/api/harness/session/${id}/events?form=log&after_seq=${last}`
    const response = await send('GET', path, { signal })
    if (outer.aborted) return 'closed'
    if (response === undefined) {
      handlers.connection('stopped')
      return 'failed'
    }
    if (!response.ok || response.body === null) {
      const failure = await failureFrom(response)
      if (response.status >= 500) {
        handlers.connection('stopped')
        return 'failed'
      }
      handlers.connection({ closed: failure.message })
      return 'closed'
    }
    handlers.connection('open')
    return await readBody(response.body, handlers, heard)
  } finally {
    clearTimeout(timer)
    if (!outer.aborted) silence.abort()
  }
}

async function readBody(
  body: ReadableStream<Uint8Array>,
  handlers: StreamHandlers,
  heard: () => void,
): Promise<'opened' | 'closed'> {
  const events = new ServerSentEvents(LONGEST_EVENT)
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      heard()
      for (const { event, data } of events.push(value)) {
        if (take(event, data, handlers) === 'closed') return 'closed'
      }
    }
  } catch {
    // The connection was lost: the next one continues after the last Event.
  }
  handlers.connection('connecting')
  return 'opened'
}

const LONGEST_EVENT = 64 * 1024 * 1024

function take(event: string, data: string, handlers: StreamHandlers): 'closed' | undefined {
  const value: unknown = JSON.parse(data)
  if (event === 'log' && isShape<LogLine>(value)) handlers.line(value)
  if (event === 'live' && isShape<EphemeralEvent>(value)) handlers.live(value)
  if (event === 'rewound' && isShape<{ readonly afterSeq: number }>(value))
    handlers.rewound(value.afterSeq)
  if (event !== 'stream:error' || !isShape<{ readonly message: string }>(value)) return undefined
  handlers.connection({ closed: value.message })
  return 'closed'
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
