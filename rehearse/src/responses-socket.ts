import { isJsonObject } from '../../src/encoding/json.ts'
import type { Clock } from '../../src/host/clock.ts'
import type { LocalSocket, TakeMessages } from '../../src/host/net/socket-server.ts'
import { wait } from '../../src/host/wait.ts'
import type { RequestReading } from './dialect.ts'
import type { Exchange } from './exchange.ts'
import { cutShort, spoilFrames, type Faults } from './faults.ts'
import { readJson } from './json-body.ts'
import { openAiError, wrong, type WireRefusal } from './rules/refusal.ts'
import { vendorFault } from './reply.ts'
import { SocketMemory, type ResponseStore } from './response-store.ts'
import { readResponses } from './responses.ts'

export interface SocketParts {
  readonly store: ResponseStore
  readonly exchange: Exchange
  readonly clock: Clock
  readonly reading: RequestReading
  /** The faults of the next request. */
  readonly faults: () => Faults
  readonly key: string
  readonly onMessage: (message: MessageReport) => void
}

export interface MessageReport {
  readonly transport: 'websocket'
  readonly bytes: Buffer
  /** The equivalent HTTP status; 0 if the socket was closed without a response. */
  readonly status: number
  readonly refusal?: WireRefusal
}

/** Handles the messages of one socket of OpenAI's Responses. Each creates a response, whose events are messages. */
export function takeResponses(parts: SocketParts): TakeMessages {
  const memory = new SocketMemory(parts.store)
  return async (message, socket) => {
    const bytes = Buffer.from(message)
    const report = (status: number, refusal?: WireRefusal) =>
      parts.onMessage({
        transport: 'websocket',
        bytes,
        status,
        ...(refusal === undefined ? {} : { refusal }),
      })
    const refuse = async (refusal: WireRefusal) => {
      memory.forget()
      report(refusal.status, refusal)
      await socket.send(errorMessage(refusal))
    }
    const body = requestIn(bytes)
    if (!body.ok) return refuse(body.refusal)
    const read = await readResponses(body.request, parts.reading, memory)
    if (!read.ok) return refuse(read.refusal)
    const faults = parts.faults()
    if (faults.delayMs > 0) await wait(parts.clock, faults.delayMs, socket.signal)
    if (faults.close) {
      report(0)
      return socket.end()
    }
    if (faults.status !== undefined) return refuse(vendorFault(faults.status, faults))
    const facts = parts.reading.factsOf(read.request.model)
    const silent = isWarmUp(body.request) && parts.reading.leniency.ignores(['generate'])
    const context = { key: parts.key, facts, faults, silent }
    const answered = await parts.exchange.answer(read.request, context)
    if (!answered.ok) return refuse(answered.refusal)
    report(200)
    const frames = answered.answer.events.map((event) => Buffer.from(JSON.stringify(event)))
    await sendAll(frames, faults, socket)
  }
}

async function sendAll(
  frames: readonly Buffer[],
  faults: Faults,
  socket: LocalSocket,
): Promise<void> {
  for (const frame of spoilFrames(frames, faults, { whole: true })) {
    if (socket.signal.aborted) return
    await socket.send(frame)
  }
  if (cutShort(frames, faults)) socket.end()
}

type RequestIn =
  | { readonly ok: true; readonly request: object }
  | { readonly ok: false; readonly refusal: WireRefusal }

/** A message is the event `response.create` with the fields of a request beside it. It always streams. */
function requestIn(bytes: Buffer): RequestIn {
  const { body, faults } = readJson(bytes)
  const [fault] = faults
  if (fault !== undefined) return { ok: false, refusal: { status: 400, message: `${fault}.` } }
  if (!isJsonObject(body) || body['type'] !== 'response.create') {
    return { ok: false, refusal: wrong(['type'], 'must be response.create') }
  }
  const { type: _type, ...request } = body
  return { ok: true, request: { ...request, stream: true } }
}

/** `generate: false` is from the vendor's beta of sockets: a client sends its context before the person's first message. */
function isWarmUp(request: object): boolean {
  return 'generate' in request && request.generate === false
}

/** The error as the vendor sends it on a socket, where status and headers are part of the message. */
function errorMessage(refusal: WireRefusal): Buffer {
  const { status, headers } = refusal
  const error = openAiError(refusal)
  return Buffer.from(JSON.stringify({ type: 'error', status, error, headers }))
}
