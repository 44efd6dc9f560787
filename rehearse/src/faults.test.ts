import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '../../src/encoding/json.ts'
import { ServerSentEvents } from '../../src/encoding/server-sent-events.ts'
import {
  cutShort,
  NO_FAULTS,
  OnceOnly,
  readFaults,
  spoilFrames,
  SWITCHES,
  type Faults,
} from './faults.ts'

function faultsAt(path: string, query = '', headers: Record<string, string> = {}) {
  const read = readFaults(path, new URLSearchParams(query), headers)
  return read.ok ? read.value : read.error
}

test('a request without switches has no faults, and its path is unchanged', () => {
  expect(faultsAt('/v1/messages', 'beta=true')).toEqual({
    path: '/v1/messages',
    faults: NO_FAULTS,
    strict: false,
  })
  expect(faultsAt('/')).toEqual({ path: '/', faults: NO_FAULTS, strict: false })
})

test.each<[string, Partial<Faults>]>([
  ['delay:200', { delayMs: 200 }],
  ['cut:0', { cutAfter: 0 }],
  ['cut:300', { cutAfter: 300 }],
  ['status:429', { status: 429 }],
  ['status:529,retry-after:2', { status: 529, retryAfter: 2 }],
  ['malformed', { malformed: 'middle' }],
  ['malformed:3', { malformed: 3 }],
  ['duplicate', { duplicate: 'middle' }],
  ['out-of-order', { outOfOrder: 'middle' }],
  ['overflow:1000', { overflowAt: 1000 }],
  ['refuse-images', { refuseImages: true }],
  ['close', { close: true }],
  ['close,once', { close: true, once: 'close,once' }],
  ['once:second,close', { close: true, once: 'once:second,close' }],
  ['delay:20, cut:300', { delayMs: 20, cutAfter: 300 }],
])('%s means the same in a path, a query and a header', (text, meant) => {
  const path = '/v1/responses'
  const read = { path, faults: { ...NO_FAULTS, ...meant }, strict: false }
  expect(faultsAt(`/~${text}${path}`)).toEqual(read)
  expect(faultsAt(`/~${encodeURIComponent(text)}${path}`)).toEqual(read)
  expect(faultsAt(path, new URLSearchParams({ rehearse: text }).toString())).toEqual(read)
  expect(faultsAt(path, '', { 'x-rehearse': text })).toEqual(read)
  expect(faultsAt(`/~strict/~${text}${path}`)).toEqual({ ...read, strict: true })
})

test('the switch `strict` is not a fault, wherever it is set', () => {
  const read = { path: '/v1/chat/completions', faults: NO_FAULTS, strict: true }
  expect(faultsAt(`/~strict${read.path}`)).toEqual(read)
  expect(faultsAt(read.path, 'rehearse=strict')).toEqual(read)
  expect(faultsAt(`/~strict${read.path}`, '', { 'x-rehearse': 'strict' })).toEqual(read)
})

test('switches of a path, a query and a header count together', () => {
  const result = faultsAt('/~delay:5/v1/models', 'rehearse=cut:7&rehearse=once', {
    'x-rehearse': 'status:500',
  })
  const faults = { delayMs: 5, cutAfter: 7, status: 500, once: 'delay:5,cut:7,once,status:500' }
  expect(result).toEqual({
    path: '/v1/models',
    faults: { ...NO_FAULTS, ...faults },
    strict: false,
  })
})

test.each([
  'explode',
  'constructor',
  '__proto__',
  'delay',
  'delay:',
  'delay:-1',
  'delay:1.5',
  'delay:60001',
  'cut:x',
  'cut:99999999999999999999',
  'status:418',
  'retry-after:3',
  'malformed:x',
  'close:1',
  'strict:1',
  'refuse-images:2',
  'once:a b',
  'delay:1,delay:2',
  '%zz',
])('%s is refused, and the known switches are named', (text) => {
  const result = faultsAt(`/~${text}/v1/messages`)
  expect(result).toMatchObject({ kind: 'invalid_args', details: { known: SWITCHES } })
})

test('a switch with `once` applies to the first request with its text, and to the first with another text', () => {
  const once = new OnceOnly()
  const [first, second] = ['once:1,close', 'once:2,close'].map((text): Faults => {
    return { ...NO_FAULTS, close: true, once: text }
  })
  if (first === undefined || second === undefined) throw new Error('two were made')
  expect([first, first, second, first, second].map((one) => once.now(one).close)).toEqual([
    true,
    false,
    true,
    false,
    false,
  ])
  const always = { ...NO_FAULTS, close: true }
  expect([once.now(always), once.now(always)]).toEqual([always, always])
})

test('the number of remembered `once` switches is limited', () => {
  const once = new OnceOnly()
  const at = (index: number) => once.now({ ...NO_FAULTS, close: true, once: `once:${index}` })
  for (let index = 0; index <= 10_000; index++) at(index)
  expect([at(10_000).close, at(0).close]).toEqual([false, true])
})

const MESSAGES = ['a', 'b', 'c', 'd', 'e'].map((type) => JSON.stringify({ type, n: 1 }))
const SOCKET = MESSAGES.map((text) => Buffer.from(text))
const STREAM = MESSAGES.map((text) => Buffer.from(`event: x\ndata: ${text}\n\n`))

function typesOf(frames: readonly Buffer[]): string[] {
  return frames.map((frame) => /"type":"(\w)/.exec(frame.toString())?.[1] ?? '?')
}

function spoiledBy(text: string, frames: readonly Buffer[]) {
  const read = readFaults(`/~${text}/`, new URLSearchParams(), {})
  return read.ok ? spoilFrames(frames, read.value.faults) : []
}

test('an answer without faults is sent unchanged', () => {
  expect(spoilFrames(STREAM, NO_FAULTS)).toEqual(STREAM)
})

test.each([
  ['duplicate', 'abccde'],
  ['duplicate:0', 'aabcde'],
  ['duplicate:9', 'abcde'],
  ['out-of-order', 'abdce'],
  ['out-of-order:0', 'bacde'],
  ['out-of-order:4', 'abcde'],
])('%s turns abcde into %s', (text, types) => {
  expect(typesOf(spoiledBy(text, SOCKET)).join('')).toBe(types)
  expect(typesOf(spoiledBy(text, STREAM)).join('')).toBe(types)
})

test('a malformed event arrives as an event, and is not JSON', () => {
  const sent = spoiledBy('malformed:1', STREAM)
  const result = new ServerSentEvents().push(Buffer.concat(sent))
  expect(result.map(({ data }) => parseJson(data) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
    true,
  ])
  const messages = spoiledBy('malformed', SOCKET).map((one) => parseJson(one.toString()))
  expect(messages.map((one) => one !== undefined)).toEqual([true, true, false, true, true])
})

test('an answer of one event can be cut, repeated and broken', () => {
  const one = SOCKET.slice(0, 1)
  expect(spoiledBy('duplicate', one)).toHaveLength(2)
  expect(spoiledBy('out-of-order', one)).toEqual(one)
  expect(parseJson(spoiledBy('malformed', one).join(''))).toBeUndefined()
  expect(spoiledBy('duplicate,malformed,out-of-order', [])).toEqual([])
})

test('a cut sends exactly the first bytes, or the complete messages within them', () => {
  const all = Buffer.concat(STREAM)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: all.length + 5 }), (cutAfter) => {
      const faults = { ...NO_FAULTS, cutAfter }
      expect(Buffer.concat(spoilFrames(STREAM, faults))).toEqual(all.subarray(0, cutAfter))
      expect(cutShort(STREAM, faults)).toBe(cutAfter < all.length)
      const whole = spoilFrames(STREAM, faults, { whole: true })
      expect(whole).toEqual(STREAM.slice(0, whole.length))
      const [next] = STREAM.slice(whole.length)
      const bytes = Buffer.concat(whole).length
      expect(bytes <= cutAfter).toBe(true)
      expect(next === undefined || bytes + next.length > cutAfter).toBe(true)
    }),
  )
})

test('an answer without a cut is not truncated', () => {
  expect(cutShort(STREAM, NO_FAULTS)).toBe(false)
})
