import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { EventId, SessionId, TurnId } from '../model/ids.ts'
import { decodeLine, sealLine, type UnsealedEvent } from './line.ts'

const event: UnsealedEvent = {
  id: EventId.parse('evt_01kg0000000000000000000000'),
  session_id: SessionId.parse('ses_01kg0000000000000000000001'),
  turn_id: TurnId.parse('trn_01kg0000000000000000000002'),
  ts: '2026-01-31T12:00:00.000Z',
  type: 'notice',
  data: '{"code":"hello","text":"Grüße"}',
}
const prev = 'a'.repeat(64)

/** The line without its newline, as a reader sees it. */
function sealed(
  unsealed: UnsealedEvent,
  seq: number,
  before: string | null,
  batch: number,
): Buffer {
  const { bytes } = sealLine(unsealed, seq, before, batch)
  expect(bytes.at(-1)).toBe(10)
  return bytes.subarray(0, -1)
}

/** A forged line with a valid checksum. */
function forged(body: string): Buffer {
  const crc = crc32(body).toString(16).padStart(8, '0')
  return Buffer.from(`${body},"crc":"${crc}"}`)
}

const bodyOf = (line: Buffer) => line.toString('utf8').replace(/,"crc":"[0-9a-f]{8}"\}$/, '')

test('a line has exactly these bytes', () => {
  expect(sealed(event, 7, prev, 2).toString('utf8')).toBe(
    '{"v":1,"seq":7,"id":"evt_01kg0000000000000000000000",' +
      '"session_id":"ses_01kg0000000000000000000001",' +
      '"turn_id":"trn_01kg0000000000000000000002","ts":"2026-01-31T12:00:00.000Z",' +
      `"type":"notice","data":{"code":"hello","text":"Grüße"},"batch":2,"prev":"${prev}",` +
      '"crc":"5a264109"}',
  )
  const { turn_id: _, ...outside } = event
  expect(sealed(outside, 0, null, 0).toString('utf8')).not.toMatch(/turn_id|batch/)
})

test('a sealed line decodes to what was sealed', () => {
  const bytes = sealed(event, 7, prev, 0)
  const { crc } = sealLine(event, 7, prev, 0)
  const decoded = decodeLine(bytes, true)
  expect(decoded).toMatchObject({ ok: true, envelope: { seq: 7, prev, crc, type: 'notice' } })
})

test('every flipped bit of a line is detected', () => {
  const bytes = sealed(event, 7, prev, 0)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect({ bit, ok: decodeLine(flipped, false).ok }).toEqual({ bit, ok: false })
  }
})

const whole = bodyOf(sealed(event, 7, prev, 0))
const deep = '['.repeat(10_000) + ']'.repeat(10_000)

test.each([
  ['a newer version', forged(whole.replace('"v":1', '"v":2')), 'version'],
  ['a newer version with another end', Buffer.from('{"v":2,"anything":true}'), 'version'],
  [
    'a newer version, deeply nested',
    Buffer.from(`{"v":2,"x":${'['.repeat(70)}${']'.repeat(70)}}`),
    'version',
  ],
  [
    'a corrupted version',
    Buffer.from(forged(whole).toString().replace('"v":1', '"v":3')),
    'checksum',
  ],
  ['no checksum', Buffer.from(`${whole}}`), 'checksum'],
  ['invalid JSON with a valid checksum', forged('{"v":1,'), 'not_json'],
  ['bytes that are not UTF-8', Buffer.from([...forged(whole)].with(30, 0xff)), 'not_utf8'],
  ['depth of ten thousand', forged(whole.replace('"Grüße"', deep)), 'too_deep'],
  ['a key twice', forged(whole.replace('"seq":7', '"seq":6,"seq":7')), 'not_canonical'],
  ['a key twice in data', forged(whole.replace('{"code"', '{"text":"x","code"')), 'not_canonical'],
  ['a lone surrogate', forged(whole.replace('Grüße', '\\ud800')), 'not_canonical'],
  ['a number in another format', forged(whole.replace('"seq":7', '"seq":7.0')), 'not_canonical'],
  ['white space', forged(whole.replace('"seq":7', '"seq": 7')), 'not_canonical'],
  ['no id', forged(whole.replace('"id"', '"di"')), 'envelope'],
  [
    'an id with path segments',
    forged(whole.replace(/"ses_[^"]*"/, '"ses_../../../../etc/passwd"')),
    'envelope',
  ],
  ['a number past 2^53', forged(whole.replace('"seq":7', '"seq":9007199254740993')), 'envelope'],
  [
    'data that is not an object',
    forged(whole.replace(/"data":\{[^}]*\}/, '"data":[]')),
    'envelope',
  ],
])('a line with %s is refused', (_title, bytes, fault) => {
  expect(decodeLine(bytes, true)).toEqual({ ok: false, fault })
})

test('text that only looks like an escaped surrogate is text', () => {
  const line = sealed(
    { ...event, data: JSON.stringify({ text: '\\ud800 and \\\\ud800' }) },
    7,
    prev,
    0,
  )
  expect(decodeLine(line, true).ok).toBe(true)
})

test('unknown fields of an envelope and of data are kept', () => {
  const line = forged(
    whole.replace('"seq":7', '"seq":7,"new":{"a":1}').replace('{"code"', '{"x":2,"code"'),
  )
  expect(decodeLine(line, true)).toMatchObject({
    ok: true,
    envelope: { new: { a: 1 }, data: { x: 2, code: 'hello' } },
  })
})

test('any type survives writing and reading', () => {
  for (const type of ['a"b', 'x\ny', 'q","data":{},"x":"']) {
    const bytes = sealed({ ...event, type }, 7, prev, 0)
    expect(decodeLine(bytes, true)).toMatchObject({ ok: true, envelope: { type, seq: 7 } })
  }
})
