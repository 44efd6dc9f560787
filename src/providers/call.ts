import { parseJson, valuesWithin } from '../encoding/json.ts'
import { ServerSentEvents, type ServerSentEvent } from '../encoding/server-sent-events.ts'
import type { Clock } from '../host/clock.ts'
import type { Fetch, HttpAnswer } from '../host/net/http.ts'
import { failed } from '../model/errors.ts'
import type { AnswerReader } from './answer-reader.ts'
import { CallFailure, failureOf } from './call-failure.ts'
import { CallConnection } from './call-connection.ts'
import { redactKey } from './redact-key.ts'
import type { Provider, ProviderEvent } from './provider.ts'
import { vendorError } from './vendor-error.ts'
import { failureInBody } from './vendor-failure.ts'

export interface ProviderOptions {
  /** Without a key, no authorization header is sent. */
  readonly key: string | undefined
  readonly baseUrl: string
  /** How long a server may send nothing at all. Pings without content are accepted for `CONTENT_MS` at most. */
  readonly idleMs: number
  readonly clock: Clock
  /** `httpFetch` by default. */
  readonly fetch?: Fetch | undefined
}

/** Sends a body once with a vendor's SDK; resolves with the response headers and the open body. Rejects if sending fails. */
export type Send = (body: Buffer, signal: AbortSignal) => Promise<HttpAnswer>

interface Call {
  readonly send: Send
  readonly reader: () => AnswerReader
  readonly options: ProviderOptions
}

/** A call over HTTP with a stream of events as its response. */
export function streamAnswer({ send, reader, options }: Call): Provider['stream'] {
  return (body, signal) =>
    readAnswer(
      { events: (connection) => httpEvents(send, body, connection), reader, options },
      signal,
    )
}

/** A call over any transport. */
export interface OpenedCall extends Pick<Call, 'reader' | 'options'> {
  /** Sends the request and yields the events of the response. Releases its resources when the connection closes. */
  readonly events: (connection: CallConnection) => AsyncIterable<ServerSentEvent>
}

/**
 * The only reader of the streams of vendors: enforces limits, idle time and cancellation, maps errors to kinds, ends exactly
 * once, and removes the key from errors. Closes the connection before it yields an error, and when the consumer stops early.
 */
export async function* readAnswer(
  { events, reader, options }: OpenedCall,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void, void> {
  const connection = new CallConnection(signal, options)
  let done = false
  try {
    connection.check()
    const understood = reader()
    for await (const event of events(connection)) {
      if (!valuesWithin(event.data, MOST_VALUES)) throw badAnswer(TOO_LONG)
      const { progress } = understood
      const all = understood.take(event)
      if (all.length > 0 || understood.progress > progress) connection.noteProgress()
      for (const output of all) {
        connection.check()
        if (output.type === 'error') throw new CallFailure(output.error)
        done = output.type === 'done'
        yield output
        if (done) return
      }
    }
    throw badAnswer('The response ended without an end event from the model.')
  } catch (thrown) {
    connection.close()
    yield { type: 'error', error: redactKey(failureOf(thrown, options.baseUrl), options.key) }
  } finally {
    if (done) connection.release()
    else connection.close()
  }
}

async function* httpEvents(send: Send, body: Buffer, connection: CallConnection) {
  const answer = await connection.wait(send(body, connection.signal))
  await refuseUnlessStream(answer, connection)
  yield* eventsOf(answer, connection)
}

const MiB = 1024 * 1024
const LONGEST_ANSWER = 64 * MiB
const LONGEST_OTHER_ANSWER = MiB
/** Per event. The largest events repeat a whole answer, whose text is a single value. */
const MOST_VALUES = 20_000
const TOO_LONG = 'The response contains an event that exceeds the size limit.'

async function* eventsOf({ body }: HttpAnswer, connection: CallConnection) {
  const frames = new ServerSentEvents()
  let length = 0
  for await (const chunk of connection.chunks(body ?? NOTHING)) {
    length += chunk.length
    if (length > LONGEST_ANSWER) throw badAnswer('The response exceeds 64 MiB.')
    yield* frames.push(chunk)
    if (frames.overlong) throw badAnswer(TOO_LONG)
  }
}

/** Some servers report an error with status 200, and some ignore that a stream was requested. */
async function refuseUnlessStream(answer: HttpAnswer, connection: CallConnection): Promise<void> {
  const type = answer.headers.get('content-type') ?? ''
  const coding = answer.headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity') {
    throw badAnswer(
      `The server sent a response with content-encoding ${coding.slice(0, 100)}, but none was requested.`,
    )
  }
  if (/^\s*text\/event-stream\s*(;|$)/i.test(type)) return
  const event = failureInBody(parseJson(await bodyText(answer, connection)))
  if (event !== undefined) {
    throw new CallFailure(
      vendorError(answer.status < 300 ? event : { ...event, status: answer.status }),
    )
  }
  const [status, content_type] = [answer.status, type.slice(0, 100)]
  throw badAnswer(
    `Expected a stream of events (text/event-stream), but the server returned ${content_type || 'no content type'}.`,
    { status, content_type },
  )
}

async function bodyText({ body }: HttpAnswer, connection: CallConnection): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const chunk of connection.chunks(body ?? NOTHING)) {
    pieces.push(chunk)
    length += chunk.length
    if (length > LONGEST_OTHER_ANSWER) return ''
  }
  return Buffer.concat(pieces).toString('utf8')
}

const NOTHING: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}

const NEXT = [
  {
    action: 'Check that the base URL and the API of the provider are right.',
    command: 'hawser doctor',
  },
]

function badAnswer(message: string, details: Readonly<Record<string, unknown>> = {}): CallFailure {
  return new CallFailure(failed('invalid_response', message, details, NEXT).error)
}
