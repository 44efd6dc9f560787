import { isUtf8 } from 'node:buffer'
import type { AnyMessage, JsonRpcId, Stream } from '@agentclientprotocol/sdk'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../../encoding/json.ts'
import { LineFramer } from '../../encoding/lines.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import type { ProtocolPipes } from '../../host/process/protocol-pipes.ts'
import { failed, type HawserError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { codeOf, errorData, INVALID_REQUEST, PARSE_ERROR } from './error-response.ts'
import { MESSAGE_BYTES } from './protocol.ts'

export interface MessageStream extends Stream {
  /** Resolves when the response to a request was sent; at once if none is due. */
  untilAnswered(id: JsonRpcId): Promise<void>
}

export interface MessageStreamParts {
  readonly windDown: () => Promise<void>
  readonly clock: Pick<Clock, 'after'>
  /** Of the keys of this process. */
  readonly redactor: Redactor
}

/**
 * JSON-RPC messages over pipes, one a line. A line that is not a message is answered with an error and skipped: it does not end
 * the connection. A message is sent when the system has taken it, so a client that does not read is waited for.
 *
 * `windDown` is called once when the input has ended. The connection stays open until it has resolved and every request has
 * its response, but no longer than `FAREWELL_MS`: a client may have stopped reading too.
 */
export function messageStream(
  pipes: Pick<ProtocolPipes, 'input' | 'write'>,
  { windDown, clock, redactor }: MessageStreamParts,
): MessageStream {
  const due = new Map<JsonRpcId, Due>()
  const send = (message: object) => {
    const shown = shownMessage(message, redactor)
    return pipes.write(Buffer.from(`${wellFormedJson(shown)}\n`))
  }
  const lastWords = async () => {
    await windDown()
    await Promise.all([...due.values()].map(({ answer }) => answer))
  }
  const readAll = async (enqueue: (message: AnyMessage) => void) => {
    for await (const line of linesOf(pipes.input)) {
      const read = readMessage(line)
      if ('refusal' in read) await send(read.refusal)
      if (!('message' in read)) continue
      const { message } = read
      if ('method' in message && 'id' in message) due.set(message.id, newDue())
      enqueue(message)
    }
    await new Promise<void>((resolve) => {
      const cancel = clock.after(FAREWELL_MS, resolve)
      void lastWords().finally(() => {
        cancel()
        resolve()
      })
    })
  }
  return {
    readable: new ReadableStream<AnyMessage>({
      start: (controller) => {
        void readAll((message) => controller.enqueue(message)).finally(() => controller.close())
      },
    }),
    writable: new WritableStream<AnyMessage>({
      write: async (message) => {
        await send(message)
        if ('method' in message || !('id' in message)) return
        due.get(message.id)?.settle()
        due.delete(message.id)
      },
    }),
    untilAnswered: async (id) => due.get(id)?.answer,
  }
}

const FAREWELL_MS = 5_000

/** The files of the client are read by their real names, and written as requested. The id of a request is the client's own. */
function shownMessage(message: object, redactor: Redactor): object {
  const method = 'method' in message ? String(message.method) : ''
  if (method.startsWith('fs/')) return message
  return { ...redactor.value(message), ...('id' in message ? { id: message.id } : {}) }
}

interface Due {
  readonly answer: Promise<void>
  readonly settle: () => void
}

function newDue(): Due {
  const response = new AbortController()
  const answer = new Promise<void>((resolve) => {
    response.signal.addEventListener('abort', () => resolve())
  })
  return { answer, settle: () => response.abort() }
}

async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer | 'overlong', void> {
  const framer = new LineFramer(MESSAGE_BYTES)
  for await (const chunk of input) {
    for (const framed of framer.push(chunk)) yield 'bytes' in framed ? framed.bytes : 'overlong'
  }
}

type ReadMessage =
  | { readonly message: AnyMessage }
  | { readonly refusal: object }
  | { readonly blank: true }

/** Pure. */
export function readMessage(line: Buffer | 'overlong'): ReadMessage {
  if (line === 'overlong') {
    const text = `A message exceeds ${MESSAGE_BYTES} bytes.`
    return refusal(failed('too_large', text, { limit: MESSAGE_BYTES }).error)
  }
  if (!isUtf8(line)) return refusal(failed('invalid_args', NOT_JSON).error, PARSE_ERROR)
  const text = line.toString('utf8').trim()
  if (text === '') return { blank: true }
  const value = parseJson(text)
  if (value === undefined) return refusal(failed('invalid_args', NOT_JSON).error, PARSE_ERROR)
  if (!depthWithin(value, LIMITS.event_depth))
    return refusal(failed('invalid_args', TOO_DEEP).error, INVALID_REQUEST)
  return isMessage(value)
    ? { message: value }
    : refusal(failed('invalid_args', NO_MESSAGE).error, INVALID_REQUEST)
}

const NOT_JSON = 'A line is not JSON in UTF-8.'
const TOO_DEEP = `A message nests in more than ${LIMITS.event_depth} levels.`
const NO_MESSAGE = 'A line is not a JSON-RPC 2.0 message. Batches are not supported.'

/** A request, a notification, or something that at least claims to be a response. */
function isMessage(value: unknown): value is AnyMessage {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return false
  const { id, method, params } = value
  if (Object.hasOwn(value, 'id') && !isId(id)) return false
  if (method === undefined) return 'result' in value || 'error' in value
  return typeof method === 'string' && (params === undefined || typeof params === 'object')
}

function isId(id: unknown): boolean {
  return id === null || typeof id === 'string' || Number.isFinite(id)
}

/** The id of the request is unknown. */
function refusal(error: HawserError, code = codeOf(error.kind)): ReadMessage {
  const { message } = error
  return { refusal: { jsonrpc: '2.0', id: null, error: { code, message, data: errorData(error) } } }
}
