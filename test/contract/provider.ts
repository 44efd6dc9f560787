import { expect } from 'vitest'
import { sha256 } from '../../src/encoding/hash.ts'
import { parseJson } from '../../src/encoding/json.ts'
import type { ConversationItem } from '../../src/model/conversation.ts'
import type { ErrorKind } from '../../src/model/errors.ts'
import type { Segment } from '../../src/model/segment.ts'
import type { Surface } from '../../src/model/surface.ts'
import type {
  BodyOptions,
  OutgoingRequest,
  Provider,
  ProviderEvent,
} from '../../src/providers/provider.ts'

/** A provider whose model repeats a question that it cannot answer, and calls the tool `read` when asked to read. */
export interface ProviderUnderTest {
  readonly provider: Provider
  /** Sends a request over the transport under test, as a Turn does. */
  readonly send: (request: OutgoingRequest, signal: AbortSignal) => AsyncIterable<ProviderEvent>
  /** The number of requests that reached the server. Absent if there is none. */
  readonly reached?: () => number
}

/** Faults between a provider and its model. */
export type Trouble =
  | { readonly cutAfter: number }
  | { readonly status: 429 | 500 | 503 | 529 }
  | 'closed'
  | 'malformed'
  /** For longer than the provider waits (`IDLE_MS`). */
  | 'silent'
  /** For a shorter time. */
  | 'slow'

export interface ProviderKind {
  readonly name: string
  readonly make: () => Promise<ProviderUnderTest>
  /** Absent for a model in this process: there is no connection. */
  readonly troubled?: (trouble: Trouble) => Promise<ProviderUnderTest>
}

export const IDLE_MS = 200
/** As long as the time limit of a test, which therefore detects a provider that waits. */
export const SLOW_MS = 60_000

const SURFACE: Surface = {
  contract_version: 'hw1',
  model: 'rehearsal',
  system: ['You are a harbour master.', 'You know knots.'],
  tools: [
    {
      name: 'read',
      description: 'Reads a file.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' } },
        required: ['path'],
        additionalProperties: false,
      },
    },
  ],
  params: {
    replay: 'attach-turn',
    late_role: 'developer',
    tool_choice: 'auto',
    limits: { max_output_tokens: 4_096 },
  },
}

export const QUESTION = 'What is 2 + 2?'
/** Part of the offline model's answer to it. */
export const ANSWER = 'offline demo model'
export const READ = 'Read notes.txt'

/** A body that every vendor rejects. */
export const FOREIGN_BODY = Buffer.from('{"hello":"world"}')

function userMessage(text: string): ConversationItem {
  return { kind: 'user', seq: 3, parts: [{ type: 'text', text, lifetime: 'stable' }] }
}

const CALLED: readonly ConversationItem[] = [
  userMessage(READ),
  { kind: 'tool_call', seq: 5, call_id: 'call_1', name: 'read', arguments: '{"path":"notes.txt"}' },
  { kind: 'tool_result', seq: 7, call_id: 'call_1', name: 'read', outcome: 'ok', output: 'rope\n' },
  {
    kind: 'assistant',
    seq: 8,
    parts: [{ type: 'text', text: 'It says rope.', lifetime: 'stable' }],
  },
]

const BODY_OPTIONS: BodyOptions = { cacheKey: 'hw1:contract', marks: [{ after: 3 }] }

function request(
  { encode, buildBody }: Provider,
  items: readonly ConversationItem[],
  session = 'ses_1',
): OutgoingRequest {
  const segments = encode(items, SURFACE)
  const body = buildBody(segments, BODY_OPTIONS)
  const { model } = SURFACE
  return { session, model, body, sha256: sha256(body), segments, bodyOptions: BODY_OPTIONS }
}

async function all(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const seen: ProviderEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

const kindOf = (event: ProviderEvent) => (event.type === 'error' ? event.error.kind : event.type)
const itemsIn = (events: readonly ProviderEvent[]) =>
  events.flatMap((event) => (event.type === 'item' ? [event.item] : []))
const textOf = (events: readonly ProviderEvent[], type: 'text_delta' | 'reasoning_delta') =>
  events.map((event) => (event.type === type ? event.text : '')).join('')
const never = () => new AbortController().signal

/** Receives one check of the suite: `test` of vitest, or a collector that runs checks on a defective provider. */
export type TakeCheck = (title: string, check: () => Promise<void>) => void

/** What every provider must do, whatever its dialect and transport. */
export function providerContract({ make, troubled }: ProviderKind, test: TakeCheck): void {
  dialectContract(make, test)
  answerContract(make, test)
  endContract(make, test)
  if (troubled !== undefined) troubleContract(make, troubled, test)
}

function dialectContract(make: ProviderKind['make'], test: TakeCheck): void {
  test('encodes the same items to the same segments, in another instance too, without changing the items', async () => {
    const [one, other] = [await make(), await make()]
    const before = JSON.stringify([CALLED, SURFACE])
    const plain = (segments: readonly Segment[]) =>
      segments.map((segment) => ({ ...segment, bytes: segment.bytes.toString('utf8') }))
    const first = plain(one.provider.encode(CALLED, SURFACE))
    expect(plain(one.provider.encode(CALLED, SURFACE))).toEqual(first)
    expect(plain(other.provider.encode(CALLED, structuredClone(SURFACE)))).toEqual(first)
    expect(JSON.stringify([CALLED, SURFACE])).toBe(before)
    for (const { bytes, length } of first) expect(Buffer.byteLength(bytes)).toBe(length)
    for (const { reached } of [one, other]) expect(reached?.() ?? 0).toBe(0)
  })

  test('places parameters, tools and system blocks first, then items in order', async () => {
    const { provider } = await make()
    const segments = provider.encode(CALLED, SURFACE)
    const ranks = segments.map(({ role }) => {
      const rank = ['params', 'tool', 'system'].indexOf(role)
      return rank === -1 ? 3 : rank
    })
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    const numbers = segments.map(({ seq }) => seq)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(new Set(numbers)).toEqual(new Set([-1, 3, 5, 7, 8]))
  })

  test('encodes additional items as additional segments after the same ones', async () => {
    const { provider } = await make()
    const bytesOf = (items: readonly ConversationItem[]) =>
      provider.encode(items, SURFACE).map(({ bytes }) => bytes.toString('utf8'))
    for (let count = 0; count < CALLED.length; count += 1) {
      const fewer = bytesOf(CALLED.slice(0, count))
      expect(bytesOf(CALLED.slice(0, count + 1)).slice(0, fewer.length)).toEqual(fewer)
    }
  })

  test('frames a JSON body that contains the bytes of every segment, items in order, with or without marks', async () => {
    const { provider } = await make()
    const segments = provider.encode(CALLED, SURFACE)
    for (const marks of [[], [{ after: 1 }, { after: segments.length }]]) {
      const body = provider.buildBody(segments, { ...BODY_OPTIONS, marks })
      expect(parseJson(body.toString('utf8'))).toBeInstanceOf(Object)
      expect(provider.buildBody(segments, { ...BODY_OPTIONS, marks }).equals(body)).toBe(true)
      let at = 0
      for (const { seq, bytes } of segments) {
        // A mark may be written before the last bracket of a block.
        const found = body.indexOf(bytes.subarray(0, -1), seq === -1 ? 0 : at)
        expect(found).toBeGreaterThanOrEqual(0)
        at = Math.max(at, found + bytes.length - 1)
      }
    }
  })

  test('frames a body of more items that begins with the body of fewer', async () => {
    const { provider } = await make()
    const fewer = provider.encode(CALLED.slice(0, 1), SURFACE)
    const body = provider.buildBody(fewer, BODY_OPTIONS)
    const longer = provider.buildBody(provider.encode(CALLED, SURFACE), BODY_OPTIONS)
    const last = fewer.at(-1)?.bytes ?? expect.fail('nothing was encoded')
    const end = body.lastIndexOf(last) + last.length
    expect(longer.subarray(0, end).equals(body.subarray(0, end))).toBe(true)
  })

  test('frames the same body into given memory', async () => {
    const { provider } = await make()
    const earlier = provider.encode(CALLED.slice(0, 1), SURFACE)
    const segments = provider.encode(CALLED, SURFACE)
    const spentBody = { body: provider.buildBody(earlier, BODY_OPTIONS), count: earlier.length }
    const body = provider.buildBody(segments, BODY_OPTIONS)
    expect(provider.buildBody(segments, { ...BODY_OPTIONS, spentBody }).equals(body)).toBe(true)
  })
}

function answerContract(make: ProviderKind['make'], test: TakeCheck): void {
  test('returns deltas, the resulting items, and one end with usage', async () => {
    const { provider, send, reached } = await make()
    const events = await all(send(request(provider, [userMessage(QUESTION)]), never()))
    const types = events.map(({ type }) => type)
    expect(types.indexOf('item')).toBeGreaterThan(types.lastIndexOf('text_delta'))
    expect(types.filter((type) => type === 'done' || type === 'error')).toEqual(['done'])
    expect(types.at(-1)).toBe('done')
    const texts = itemsIn(events).map((item) => (item.kind === 'text' ? item.text : ''))
    expect(texts.join('')).toContain(ANSWER)
    expect(textOf(events, 'text_delta')).toBe(texts.join(''))
    const end = events.at(-1)
    if (end?.type !== 'done') return expect.fail('it did not end')
    const { input, cached_read, cache_write, output } = end.usage
    expect([input > 0, output > 0, cached_read + cache_write <= input]).toEqual([true, true, true])
    expect(end.cut).toBeUndefined()
    expect(reached?.() ?? 1).toBe(1)
  })

  test('returns a tool call once, and complete', async () => {
    const { provider, send } = await make()
    const events = await all(send(request(provider, [userMessage(READ)]), never()))
    const calls = itemsIn(events).filter((item) => item.kind === 'tool_call')
    expect(calls).toEqual([
      {
        kind: 'tool_call',
        call_id: expect.stringMatching(/\S/),
        name: 'read',
        arguments: expect.any(String),
      },
    ])
    expect(calls.map((call) => parseJson(call.arguments))).toEqual([{ path: 'notes.txt' }])
    expect(events.at(-1)?.type).toBe('done')
  })

  test('continues from its own answer, sent back as items', async () => {
    const { provider, send } = await make()
    const events = await all(send(request(provider, [...CALLED, userMessage(QUESTION)]), never()))
    expect(textOf(events, 'text_delta')).toContain(ANSWER)
    expect(events.at(-1)?.type).toBe('done')
  })

  test('answers calls of two Sessions concurrently and independently', async () => {
    const { provider, send } = await make()
    const [sum, read] = await Promise.all([
      all(send(request(provider, [userMessage(QUESTION)], 'ses_1'), never())),
      all(send(request(provider, [userMessage(READ)], 'ses_2'), never())),
    ])
    expect([sum.at(-1)?.type, read.at(-1)?.type]).toEqual(['done', 'done'])
    expect(itemsIn(sum).map(({ kind }) => kind)).toEqual(['text'])
    expect(itemsIn(read).map(({ kind }) => kind)).toContain('tool_call')
  })

  test('releases a Session, even twice or unknown, and answers its next call', async () => {
    const { provider, send } = await make()
    await all(send(request(provider, [userMessage(QUESTION)]), never()))
    for (const session of ['ses_1', 'ses_1', 'ses_unknown']) provider.leave?.(session)
    const events = await all(send(request(provider, [userMessage(QUESTION)]), never()))
    expect(events.at(-1)?.type).toBe('done')
  })
}

function endContract(make: ProviderKind['make'], test: TakeCheck): void {
  test('sends nothing if it is interrupted before it starts', async () => {
    const { provider, send, reached } = await make()
    const events = await all(send(request(provider, [userMessage(QUESTION)]), AbortSignal.abort()))
    expect(events.map(kindOf)).toEqual(['interrupted'])
    expect(reached?.() ?? 0).toBe(0)
  })

  test('ends with interrupted if it is interrupted midway, and answers the next call', async () => {
    const { provider, send } = await make()
    const interrupt = new AbortController()
    const kinds: string[] = []
    for await (const event of send(request(provider, [userMessage(QUESTION)]), interrupt.signal)) {
      kinds.push(kindOf(event))
      interrupt.abort()
    }
    expect(kinds).toEqual(['text_delta', 'interrupted'])
    const next = await all(send(request(provider, [userMessage(QUESTION)]), never()))
    expect(next.at(-1)?.type).toBe('done')
  })

  test('allows its reader to stop early, and keeps that output out of the next call', async () => {
    const { provider, send } = await make()
    for await (const event of send(request(provider, [userMessage(READ)]), never())) {
      expect(event.type).not.toBe('error')
      break
    }
    const next = await all(send(request(provider, [userMessage(QUESTION)]), never()))
    expect(itemsIn(next).map(({ kind }) => kind)).toEqual(['text'])
    expect(next.findIndex(({ type }) => type === 'done')).toBe(next.length - 1)
  })

  test('reports a body that its model rejects as one error with a kind, and never throws', async () => {
    const { provider, send } = await make()
    const right = request(provider, [userMessage(QUESTION)])
    const foreign = { body: FOREIGN_BODY, sha256: sha256(FOREIGN_BODY) }
    const events = await all(send({ ...right, ...foreign }, never()))
    expect(events.map(({ type }) => type)).toEqual(['error'])
    expect(events.map(kindOf)).not.toContain('internal')
  })
}

const REPORTED: readonly (readonly [Trouble, ErrorKind])[] = [
  [{ status: 429 }, 'rate_limited'],
  [{ status: 500 }, 'overloaded'],
  [{ status: 503 }, 'overloaded'],
  [{ status: 529 }, 'overloaded'],
  ['closed', 'network'],
  ['silent', 'stream_idle'],
]

function troubleContract(
  make: ProviderKind['make'],
  troubled: (trouble: Trouble) => Promise<ProviderUnderTest>,
  test: TakeCheck,
): void {
  const answered = async (trouble: Trouble, text: string) => {
    const { provider, send } = await troubled(trouble)
    return all(send(request(provider, [userMessage(text)]), never()))
  }

  for (const [trouble, kind] of REPORTED) {
    test(`reports ${JSON.stringify(trouble)} as one error: ${kind}`, async () => {
      expect((await answered(trouble, QUESTION)).map(kindOf)).toEqual([kind])
    })
  }

  test('ends at once if it is interrupted while a server is silent', async () => {
    const { provider, send } = await troubled('slow')
    const events = await all(
      send(request(provider, [userMessage(QUESTION)]), AbortSignal.timeout(50)),
    )
    expect(events.map(kindOf)).toEqual(['interrupted'])
  })

  test('reports unknown input as one error, after the output before it', async () => {
    const kinds = (await answered('malformed', QUESTION)).map(kindOf)
    expect(kinds.at(-1)).toBe('invalid_response')
    expect(new Set(kinds.slice(0, -1)).has('done')).toBe(false)
  })

  test('returns no partial tool call, wherever an answer is cut, and is done only with all of it', async () => {
    const { provider, send } = await make()
    const whole = itemsIn(await all(send(request(provider, [userMessage(READ)]), never())))
    const names = whole.map((item) => JSON.stringify({ ...item, call_id: '' }))
    for (const cutAfter of [0, 150, 300, 500, 700, 900, 1_100]) {
      const events = await answered({ cutAfter }, READ)
      const ends = events.filter(({ type }) => type === 'done' || type === 'error')
      expect([cutAfter, ends.length, ends.at(-1) === events.at(-1)]).toEqual([cutAfter, 1, true])
      const items = itemsIn(events).map((item) => JSON.stringify({ ...item, call_id: '' }))
      for (const item of items) expect(names).toContain(item)
      if (ends.at(-1)?.type === 'done') expect([cutAfter, items]).toEqual([cutAfter, names])
    }
  })
}
