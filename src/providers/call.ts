import { parseJson, valuesWithin } from '../encoding/json.ts'
import { ServerSentEvents, type ServerSentEvent } from '../encoding/server-sent-events.ts'
import type { Clock } from '../host/clock.ts'
import type { HttpAnswer } from '../host/net/http.ts'
import { failed } from '../model/errors.ts'
import type { AnswerReader } from './answer-reader.ts'
import { CallFailure, failureOf } from './call-failure.ts'
import { CallLine } from './call-line.ts'
import { withoutKey } from './hidden-key.ts'
import type { Provider, ProviderEvent } from './provider.ts'
import { vendorError } from './vendor-error.ts'
import { saidIn } from './vendor-message.ts'

export interface ProviderOptions {
  /** Absent: nothing is said about who asks. */
  readonly key: string | undefined
  readonly baseUrl: string
  /** How long a server may send nothing at all. Signs of life without content are accepted for `CONTENT_MS` at most. */
  readonly idleMs: number
  readonly clock: Clock
}

/** Sends a body once, by a vendor's SDK, and answers with what the server said first. Rejects when it could not. */
export type Send = (body: Buffer, signal: AbortSignal) => Promise<HttpAnswer>

interface Call {
  readonly send: Send
  readonly reader: () => AnswerReader
  readonly options: ProviderOptions
}

/** A call by HTTP, whose answer is a stream of events. */
export function streamAnswer({ send, reader, options }: Call): Provider['stream'] {
  return (body, signal) =>
    readAnswer({ events: (line) => httpEvents(send, body, line), reader, options }, signal)
}

/** A call that is about to be made, whatever it goes over. */
export interface OpenedCall extends Pick<Call, 'reader' | 'options'> {
  /** Sends, and yields what comes back. Ends what it opened when the line is closed. */
  readonly events: (line: CallLine) => AsyncIterable<ServerSentEvent>
}

/**
 * The one way a dialect's answer is read: framing, idle limit, cancellation, error kinds, exactly one end, and no key in what
 * is told of a failure. The connection is closed before an error is told, and when whoever reads stops early.
 */
export async function* readAnswer(
  { events, reader, options }: OpenedCall,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void, void> {
  const line = new CallLine(signal, options)
  let done = false
  try {
    line.check()
    const understood = reader()
    for await (const event of events(line)) {
      if (!valuesWithin(event.data, MOST_VALUES)) throw badAnswer(TOO_LONG)
      const { progress } = understood
      const all = understood.take(event)
      if (all.length > 0 || understood.progress > progress) line.progressed()
      for (const said of all) {
        line.check()
        if (said.type === 'error') throw new CallFailure(said.error)
        done = said.type === 'done'
        yield said
        if (done) return
      }
    }
    throw badAnswer('The model stopped without saying that it was done.')
  } catch (thrown) {
    line.close()
    yield { type: 'error', error: withoutKey(failureOf(thrown, options.baseUrl), options.key) }
  } finally {
    if (done) line.release()
    else line.close()
  }
}

async function* httpEvents(send: Send, body: Buffer, line: CallLine) {
  const answer = await line.wait(send(body, line.signal))
  await refuseUnlessStream(answer, line)
  yield* eventsOf(answer, line)
}

const MiB = 1024 * 1024
const LONGEST_ANSWER = 64 * MiB
const LONGEST_OTHER_ANSWER = MiB
/** Of one event. The longest there are repeat an answer, whose words are one value. */
const MOST_VALUES = 20_000
const TOO_LONG = 'A part of the answer is too long to be one.'

async function* eventsOf({ body }: HttpAnswer, line: CallLine) {
  const frames = new ServerSentEvents()
  let length = 0
  for await (const chunk of line.chunks(body ?? NOTHING)) {
    length += chunk.length
    if (length > LONGEST_ANSWER) throw badAnswer('The answer is too long to be one.')
    yield* frames.push(chunk)
    if (frames.overlong) throw badAnswer(TOO_LONG)
  }
}

/** Some servers report an error as if it were an answer, and some answer as if nobody had asked for a stream. */
async function refuseUnlessStream(answer: HttpAnswer, line: CallLine): Promise<void> {
  const type = answer.headers.get('content-type') ?? ''
  const coding = answer.headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity') {
    throw badAnswer('The server compressed its answer, which it was asked not to.')
  }
  if (/^\s*text\/event-stream\s*(;|$)/i.test(type)) return
  const said = saidIn(parseJson(await textOf(answer, line)))
  if (said !== undefined) {
    throw new CallFailure(
      vendorError(answer.status < 300 ? said : { ...said, status: answer.status }),
    )
  }
  throw badAnswer('The server answered, but not with a stream of events.', {
    status: answer.status,
    content_type: type.slice(0, 100),
  })
}

async function textOf({ body }: HttpAnswer, line: CallLine): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const chunk of line.chunks(body ?? NOTHING)) {
    pieces.push(chunk)
    length += chunk.length
    if (length > LONGEST_OTHER_ANSWER) return ''
  }
  return Buffer.concat(pieces).toString('utf8')
}

const NOTHING: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}

function badAnswer(message: string, details: Readonly<Record<string, unknown>> = {}): CallFailure {
  return new CallFailure(failed('invalid_response', message, details).error)
}
