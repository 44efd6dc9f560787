import type { LocalAnswer, WrittenAnswer } from '../../src/host/net/http-server.ts'
import type { ServedAnswer } from './dialect.ts'
import { cutShort, NO_FAULTS, spoilFrames, type Faults } from './faults.ts'
import { refusalBody, type WireRefusal } from './rules/refusal.ts'
import type { VendorDialect } from './rules/request-schemas.ts'

/** The header in which a vendor returns the id of the request. */
function idHeader(dialect: VendorDialect, requestId: string): Record<string, string> {
  return { [dialect === 'messages' ? 'request-id' : 'x-request-id']: requestId }
}

export function refusalReply(
  dialect: VendorDialect,
  refusal: WireRefusal,
  requestId: string,
): WrittenAnswer {
  const body = refusalBody(dialect, refusal, requestId)
  return jsonReply(refusal.status, body, { ...idHeader(dialect, requestId), ...refusal.headers })
}

export function jsonReply(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  faults: Faults = NO_FAULTS,
): WrittenAnswer {
  const frames = [Buffer.from(JSON.stringify(body))]
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    pieces: spoilFrames(frames, faults),
    cut: cutShort(frames, faults),
  }
}

/** The answer of the model, as events or as one object. */
export function answerReply(
  dialect: VendorDialect,
  served: ServedAnswer,
  { streams, faults, requestId }: { streams: boolean; faults: Faults; requestId: string },
): LocalAnswer {
  const headers = idHeader(dialect, requestId)
  if (!streams) return jsonReply(200, served.whole, headers, faults)
  const frames = framesOf(dialect, served.events)
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...headers,
    },
    pieces: spoilFrames(frames, faults),
    cut: cutShort(frames, faults),
  }
}

function framesOf(dialect: VendorDialect, events: readonly object[]): Buffer[] {
  const frames = events.map((event) => {
    const name = dialect === 'chat' ? '' : `event: ${String(Reflect.get(event, 'type'))}\n`
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  return [...frames, ...(dialect === 'chat' ? ['data: [DONE]\n\n'] : [])].map((frame) =>
    Buffer.from(frame),
  )
}

/** The error that a vendor returns for a fault of its own. */
export function vendorFault(status: number, { retryAfter }: Faults): WireRefusal {
  const message = FAULT_MESSAGES[status] ?? 'The server had an internal error.'
  if (retryAfter === undefined) return { status, message }
  return { status, message, headers: { 'retry-after': String(retryAfter) } }
}

const FAULT_MESSAGES: Readonly<Record<number, string>> = {
  429: 'Too many requests within a minute. Wait before the next one.',
  503: 'The server is overloaded or under maintenance.',
  529: 'The server is overloaded.',
}
