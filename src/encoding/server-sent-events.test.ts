import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ServerSentEvents, type ServerSentEvent } from './server-sent-events.ts'

/** The events of `bytes`, cut at the given places, in memory that is reused, as readers do. */
function events(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  limit = 1_000,
): { parsed: ServerSentEvent[]; overlong: boolean } {
  const framer = new ServerSentEvents(limit)
  const memory = Buffer.alloc(bytes.length)
  const parsed: ServerSentEvent[] = []
  let from = 0
  for (const to of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
    memory.fill(0xff)
    memory.set(bytes.subarray(from, to))
    parsed.push(...framer.push(memory.subarray(0, to - from)))
    from = to
  }
  return { parsed, overlong: framer.overlong }
}

function read(text: string): ServerSentEvent[] {
  return events(Buffer.from(text)).parsed
}

test('an event has a name, or is a message, and the lines of its data', () => {
  expect(read('event: ping\ndata: {}\n\ndata: a\ndata: b\ndata\ndata:\n\n')).toEqual([
    { event: 'ping', data: '{}' },
    { event: 'message', data: 'a\nb\n\n' },
  ])
})

test('one space after the colon belongs to the field, and a second one to the value', () => {
  expect(read('data:a\ndata:  b \n\n')).toEqual([{ event: 'message', data: 'a\n b ' }])
})

test('comments, ids, retry times and unknown fields are ignored', () => {
  const text = ': hello\nid: 7\nretry: 10\nDATA: no\n data: no\ndata: yes\nwhatever\n\n'
  expect(read(text)).toEqual([{ event: 'message', data: 'yes' }])
})

test('without data there is no event, and its name does not apply to the next', () => {
  expect(read('event: a\n\n\n: only a comment\n\ndata: b\n\n')).toEqual([
    { event: 'message', data: 'b' },
  ])
})

test('the last name of an event counts, and an empty one is ignored', () => {
  expect(read('event: a\nevent: b\ndata: 1\n\nevent: a\nevent:\ndata: 2\n\n')).toEqual([
    { event: 'b', data: '1' },
    { event: 'message', data: '2' },
  ])
})

test('an event without its blank line is never returned', () => {
  expect(read('data: whole\n\ndata: half\n')).toEqual([{ event: 'message', data: 'whole' }])
  expect(read('data: half')).toEqual([])
})

test('lines end with LF, CR or CRLF, each of which ends one line', () => {
  expect(read('data: a\r\rdata: b\r\n\r\ndata: c\n\ndata: d\r\n\ndata: e\n\r\n')).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((data) => ({ event: 'message', data })),
  )
})

test('a byte order mark is dropped at the start, and is text elsewhere', () => {
  expect(read('\uFEFFdata: \uFEFFa\n\n\uFEFFdata: b\n\n')).toEqual([
    { event: 'message', data: '\uFEFFa' },
  ])
})

test('invalid UTF-8 becomes replacement characters and affects nothing else', () => {
  const bytes = Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff]), Buffer.from('b\n\n')])
  expect(events(bytes).parsed).toEqual([{ event: 'message', data: 'a\uFFFDb' }])
})

const SAMPLE =
  '\uFEFF: ping\r\nevent: eins\r\ndata: {"text":"Größe 🚢"}\r\n\r\ndata: 漢字\rdata: é\r\revent: x\ndata: 3\n\n\r\ndata: rest'

test('a cut after every byte changes nothing', () => {
  const bytes = Buffer.from(SAMPLE)
  const whole = events(bytes)
  expect(whole.parsed).toEqual([
    { event: 'eins', data: '{"text":"Größe 🚢"}' },
    { event: 'message', data: '漢字\né' },
    { event: 'x', data: '3' },
  ])
  for (let cut = 0; cut <= bytes.length; cut += 1) expect(events(bytes, [cut])).toEqual(whole)
  expect(events(bytes, [...bytes.keys()])).toEqual(whole)
})

test('any stream gives the same events however it is chunked, even if an event is too long', () => {
  const pieces = ['data', 'event', ':', ' ', '\n', '\r', '\r\n', '\n\n', 'ü', '🚢', '\uFEFF', 'x']
  const text = fc.string({ unit: fc.constantFrom(...pieces), maxLength: 120 })
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat(400)),
      fc.integer({ min: 8, max: 80 }),
      (stated, cuts, limit) => {
        const bytes = Buffer.from(stated)
        const within = cuts.map((cut) => cut % (bytes.length + 1))
        expect(events(bytes, within, limit)).toEqual(events(bytes, [], limit))
      },
    ),
    { numRuns: 2_000 },
  )
})

test('written events are read back as the same events', () => {
  const line = fc
    .string({ unit: 'grapheme', maxLength: 20 })
    .map((s) => s.replaceAll(/[\r\n]/g, ''))
  const one = fc.record({ event: line, data: fc.array(line, { minLength: 1, maxLength: 4 }) })
  const ending = fc.constantFrom('\n', '\r', '\r\n')
  fc.assert(
    fc.property(
      fc.array(one, { maxLength: 6 }),
      ending,
      fc.array(fc.nat(400)),
      (all, end, cuts) => {
        const written = all.flatMap(({ event, data }) => [
          `event: ${event}`,
          ...data.map((text) => `data: ${text}`),
          '',
        ])
        const bytes = Buffer.from(written.map((text) => text + end).join(''))
        const within = cuts.map((cut) => cut % (bytes.length + 1))
        expect(events(bytes, within, 10_000).parsed).toEqual(
          all.map(({ event, data }) => ({ event: event || 'message', data: data.join('\n') })),
        )
      },
    ),
  )
})

test('an event over the limit is reported, and nothing after it is returned', () => {
  const fits = 'data: 1\n\n'
  const inOneLine = Buffer.from(`${fits}data: ${'x'.repeat(20)}\n\n${fits}`)
  const inManyLines = Buffer.from(`${fits}${'data: x\n'.repeat(3)}\n${fits}`)
  const unfinished = Buffer.from(`${fits}:${'x'.repeat(20)}`)
  for (const bytes of [inOneLine, inManyLines, unfinished]) {
    expect(events(bytes, [], 20)).toEqual({
      parsed: [{ event: 'message', data: '1' }],
      overlong: true,
    })
  }
  expect(events(Buffer.from(`data: ${'x'.repeat(14)}\n\n`.repeat(3)), [], 20)).toMatchObject({
    parsed: [{}, {}, {}],
    overlong: false,
  })
})

test('an event of two megabytes in tiny chunks is read completely', () => {
  const framer = new ServerSentEvents()
  const chunk = Buffer.alloc(16, 'x')
  framer.push(Buffer.from('data: '))
  for (let sent = 0; sent < 2 * 1024 * 1024; sent += chunk.length) framer.push(chunk)
  const [event] = framer.push(Buffer.from('\n\n'))
  expect(event?.data.length).toBe(2 * 1024 * 1024)
})
