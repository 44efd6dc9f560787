import type { Redactor } from '../../../encoding/redaction.ts'
import { serverSentText } from '../../../encoding/server-sent-events.ts'
import type { Clock } from '../../../host/clock.ts'
import { liveBody } from '../../../host/net/live-body.ts'

/** One server-sent event. `id` is the number of an Event of the Log: a client that has it has everything up to there. */
export interface StreamMessage {
  readonly event: string
  readonly data: object
  readonly id?: number
}

export interface LiveParts {
  readonly clock: Clock
  /** For JSON text. */
  readonly redactor: Redactor
  /** Called for a defect after the response has begun. Never throws. */
  readonly onDefect: (error: unknown) => void
}

/** Where a route writes its stream. */
export interface LiveOutput {
  /** Aborts when the client disconnected, or was dropped because it did not read. */
  readonly signal: AbortSignal
  /** Sends messages as one piece. Returns without waiting: see `room`. */
  send(messages: readonly StreamMessage[]): void
  /** Resolves when little is waiting for the client. For what can be read again at any time, such as past Events. */
  room(): Promise<void>
}

export interface LiveOptions {
  readonly signal: AbortSignal
  readonly onDisconnect?: () => void
  readonly waiting?: () => readonly StreamMessage[]
}

const HEARTBEAT_MS = 15_000
const HEARTBEAT = Buffer.from(': heartbeat\n\n')
/** Also makes the server send the headers. A client that lost the connection waits this long. */
const OPENING = Buffer.from('retry: 1000\n\n')
const RESYNC = Buffer.from(
  serverSentText({ event: 'resync', data: { reason: 'The client read too slowly.' } }),
)

/**
 * A response of server-sent events that `work` writes until it resolves. A client that does not read gets a request to resync,
 * and is dropped. `onDisconnect` is called once if the client left or was dropped; `signal` is that of its request. `waiting`
 * returns what the work waits for, which is sent with every heartbeat.
 */
export function liveResponse(
  { clock, redactor, onDefect }: LiveParts,
  { signal, onDisconnect = () => {}, waiting = () => [] }: LiveOptions,
  work: (output: LiveOutput) => Promise<void>,
): Response {
  const gone = new AbortController()
  const leave = () => {
    if (gone.signal.aborted) return
    onDisconnect()
    gone.abort()
  }
  const body = liveBody({
    farewell: RESYNC,
    onGone: leave,
  })
  body.send(OPENING)
  let stopHeartbeat: (() => void) | undefined
  const beat = () => {
    stopHeartbeat = clock.after(HEARTBEAT_MS, () => {
      if (!body.send(HEARTBEAT)) return
      output.send(waiting())
      beat()
    })
  }
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave)
  const output: LiveOutput = {
    signal: gone.signal,
    send: (messages) => {
      if (messages.length === 0) return
      body.send(Buffer.from(redactor.text(messages.map(serverSentText).join(''))))
    },
    room: () => body.room(),
  }
  beat()
  const working = work(output).catch((error: unknown) => {
    onDefect(error)
    output.send([DEFECT])
  })
  void working.finally(() => {
    stopHeartbeat?.()
    signal.removeEventListener('abort', leave)
    body.end()
  })
  return new Response(body.stream, { headers: HEADERS })
}

const DEFECT: StreamMessage = {
  event: 'stream:error',
  data: { kind: 'internal', message: 'An unexpected error. The log of the server has it.' },
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
}
