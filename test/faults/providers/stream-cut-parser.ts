import { ServerSentEvents, type ServerSentEvent } from '../../../src/encoding/server-sent-events.ts'
import type { AnswerReader } from '../../../src/providers/answer-reader.ts'
import { chatReader } from '../../../src/providers/chat/stream.ts'
import { messagesReader } from '../../../src/providers/messages/stream.ts'
import type { ProviderEvent } from '../../../src/providers/provider.ts'
import { responsesReader } from '../../../src/providers/responses/stream.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'
import type { CutAnswer } from './stream-cut-answer.ts'

/** How bytes become the output of a model: a new one of each for every answer. */
export interface Parser {
  readonly frames: () => Pick<ServerSentEvents, 'push'>
  readonly reader: () => AnswerReader
}

export const PARSERS: Readonly<Record<VendorDialect, Parser>> = {
  messages: { frames: () => new ServerSentEvents(), reader: messagesReader },
  responses: { frames: () => new ServerSentEvents(), reader: responsesReader },
  chat: { frames: () => new ServerSentEvents(), reader: chatReader },
}

/**
 * Feeds each prefix of an answer, and then the rest. Reports output that precedes its bytes; it
 * stops after `most` findings.
 */
export function parserOffences(answer: CutAnswer, parser: Parser, most = Infinity): string[] {
  const { bytes } = answer
  const understand = remembering(parser)
  const whole = understand(framing(parser)(bytes))
  const offences: string[] = []
  for (let n = 0; n <= bytes.length && offences.length < most; n++) {
    try {
      const frame = framing(parser)
      const framed = frame(bytes.subarray(0, n))
      offences.push(...returnedOffences(answer, n, understand(framed)))
      const all = understand([...framed, ...frame(bytes.subarray(n))])
      if (all !== whole) offences.push(`${n}: in two chunks it is another answer`)
    } catch (error) {
      offences.push(`${n}: ${String(error)}`)
    }
  }
  return offences.map((offence) => `${answer.dialect}, ${offence}`)
}

/** Also byte by byte: the framer never gets two bytes at once, and the reader gets each event as it arrives. */
export function bytewiseOffences(answer: CutAnswer, parser: Parser): string[] {
  const frame = framing(parser)
  const reader = parser.reader()
  const returned: ProviderEvent[] = []
  const offences: string[] = []
  for (let n = 1; n <= answer.bytes.length; n++) {
    returned.push(...frame(answer.bytes.subarray(n - 1, n)).flatMap((event) => reader.take(event)))
    offences.push(...returnedOffences(answer, n, returned))
  }
  return offences.map((offence) => `${answer.dialect}, byte by byte, ${offence}`)
}

/** The memory of a chunk is reused afterwards, as a socket may do. */
function framing({ frames }: Parser): (chunk: Uint8Array) => readonly ServerSentEvent[] {
  const framed = frames()
  return (chunk) => {
    const chunkCopy = new Uint8Array(chunk)
    const events = framed.push(chunkCopy)
    chunkCopy.fill(0)
    return events
  }
}

/** Most cuts leave the same events, and a new reader returns the same for the same events, so it is called once. */
function remembering({ reader }: Parser) {
  const known = new Map<string, readonly ProviderEvent[]>()
  return (events: readonly ServerSentEvent[]): readonly ProviderEvent[] => {
    const key = JSON.stringify(events)
    const understood = reader()
    const returned = known.get(key) ?? events.flatMap((event) => understood.take(event))
    known.set(key, returned)
    return returned
  }
}

function returnedOffences(
  answer: CutAnswer,
  n: number,
  returned: readonly ProviderEvent[],
): string[] {
  const content = answer.after(n)
  const joined = (type: 'text_delta' | 'reasoning_delta') =>
    returned.map((event) => (event.type === type ? event.text : '')).join('')
  const calls = returned.flatMap((event) =>
    event.type === 'item' && event.item.kind === 'tool_call' ? [event.item] : [],
  )
  const wholeCalls = answer.calls
    .slice(0, content.calls)
    .map(({ id, name, arguments: json }) => ({ call_id: id, name, arguments: json }))
  const unlike = calls.filter(({ call_id, name, arguments: json }, place) => {
    const one = wholeCalls[place]
    return one?.call_id !== call_id || one.name !== name || one.arguments !== json
  })
  const errors = returned.flatMap((event) => (event.type === 'error' ? [event.error.kind] : []))
  const done = returned.findIndex(({ type }) => type === 'done')
  return [
    ...(joined('text_delta') === content.text ? [] : [`${n}: another text`]),
    ...(joined('reasoning_delta') === content.reasoning ? [] : [`${n}: another reasoning`]),
    ...unlike.map(({ name }) => `${n}: returned an incomplete call of ${name}`),
    ...errors.map((kind) => `${n}: returned an error, ${kind}`),
    ...((done !== -1) === content.done ? [] : [`${n}: done is ${done !== -1}`]),
    ...(done !== -1 && done !== returned.length - 1 ? [`${n}: continues after its end`] : []),
    ...(content.done && calls.length < answer.calls.length ? [`${n}: a call is missing`] : []),
  ]
}
