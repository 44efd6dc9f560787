import { parseJson } from '../../encoding/json.ts'
import { ServerSentEvents, type ServerSentEvent } from '../../encoding/server-sent-events.ts'
import type { Clock } from '../../host/clock.ts'
import { HttpFailure } from '../../host/net/http.ts'
import { wait } from '../../host/wait.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { Frame } from '../../model/tether/frame.ts'
import type { LiveFrame } from '../frames/frame-log.ts'
import { MissingFrames, StreamFailure } from '../tether-shapes.ts'
import type { ServerCalls } from './server-calls.ts'

interface RemoteStream {
  readonly clock: Clock
  /** For the first connection, and for each one after that. */
  readonly first: ServerCalls
  readonly again: ServerCalls
  readonly open: (
    calls: ServerCalls,
    after: number,
    signal: AbortSignal,
  ) => Promise<Result<Response>>
}

interface Position {
  readonly after: number
  readonly signal: AbortSignal
}

const RETRY_MS = 500
/** How often in a row the connection is tried again before the stream fails: for half a minute. */
const MOST_RETRIES = 60
/** The server sends a comment every 15 s. */
const SILENCE_MS = 60_000

/** Frames from the server as they come. A connection that breaks is made again, behind the last frame that arrived. */
export async function followRemote(
  stream: RemoteStream,
  position: Position,
): Promise<Result<AsyncGenerator<LiveFrame, void, void>>> {
  const { after, signal } = position
  const opened = await stream.open(stream.first, after, signal)
  return opened.ok ? ok(liveFrames(stream, position, opened.value)) : opened
}

async function* liveFrames(
  stream: RemoteStream,
  { after, signal }: Position,
  opened: Response,
): AsyncGenerator<LiveFrame, void, void> {
  const { clock, again, open } = stream
  let cursor = after
  let response: Response | undefined = opened
  let retries = 0
  while (!signal.aborted) {
    if (response !== undefined) {
      for await (const frame of framesOf(response, clock, signal)) {
        retries = 0
        cursor = Math.max(cursor, cursorAfter(frame))
        yield frame
        if (frame.kind === 'failed') return
      }
    }
    if (signal.aborted) return
    if (retries > 0) await wait(clock, RETRY_MS, signal)
    retries += 1
    const next = await open(again, cursor, signal)
    if (signal.aborted) return
    if (!next.ok && (retries > MOST_RETRIES || !mayPass(next))) {
      yield { kind: 'failed', failure: next }
      return
    }
    response = next.ok ? next.value : undefined
  }
}

/** The server restarts, or does not run yet. A refusal by the server itself is final. */
function mayPass({ error: { kind } }: Failed): boolean {
  return kind === 'network'
}

function cursorAfter(live: LiveFrame): number {
  if (live.kind === 'frame') return live.frame.seq
  return live.kind === 'missing' ? live.through_seq : 0
}

/** Ends without an error when the connection does, or when nothing arrived for a minute. */
async function* framesOf(
  { body }: Response,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<LiveFrame, void, void> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader()
  if (reader === undefined) return
  const events = new ServerSentEvents()
  const leave = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', leave)
  try {
    for (;;) {
      const cancel = clock.after(SILENCE_MS, leave)
      const { done, value } = await reader.read().finally(cancel)
      if (done || signal.aborted) return
      for (const event of events.push(value)) {
        const frame = frameIn(event)
        if (frame !== undefined) yield frame
      }
    }
  } catch (error) {
    if (!(error instanceof HttpFailure) && !signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** Undefined for events that a later version may add. */
function frameIn({ event, data }: ServerSentEvent): LiveFrame | undefined {
  const value = parseJson(data)
  if (event === 'frame') {
    const frame = Frame.safeParse(value)
    return frame.success ? { kind: 'frame', frame: frame.data } : undefined
  }
  if (event === 'missing') {
    const missing = MissingFrames.safeParse(value)
    return missing.success ? { kind: 'missing', ...missing.data } : undefined
  }
  if (event !== 'stream:error') return undefined
  const said = StreamFailure.safeParse(value).data
  const { kind, message, details } = said ?? { kind: 'internal', message: 'The stream failed.' }
  return { kind: 'failed', failure: failed(kind, message, details) }
}
