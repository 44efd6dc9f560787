import { expect, test } from 'vitest'
import { canonicalJson } from '../../encoding/json.ts'
import type { ConversationItem } from '../../model/conversation.ts'
import { BlobKey, ResourceId } from '../../model/ids.ts'
import type { Surface } from '../../model/surface.ts'
import { encode, frame } from './encode.ts'
import { readRequest } from './schema.ts'

const surface: Surface = {
  contract_version: 'hw1',
  model: 'rehearsal',
  system: ['Layer 0', 'Layer 1'],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
  params: { replay: 'attach-turn', late_role: 'developer', tool_choice: 'auto', limits: {} },
}

const resource = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z12')
const items: ConversationItem[] = [
  {
    kind: 'user',
    seq: 3,
    parts: [
      { type: 'text', text: 'read “a.txt”', lifetime: 'stable' },
      {
        type: 'blob',
        blob: BlobKey.parse(`${'a'.repeat(64)}.png`),
        media_type: 'image/png',
        resource,
        handle: '@img1',
        lifetime: 'turn',
        bytes: Buffer.from('pixels'),
      },
    ],
  },
  { kind: 'developer', seq: 4, parts: [{ type: 'text', text: 'mode: build', lifetime: 'stable' }] },
  { kind: 'reasoning', seq: 5, dialect: 'rehearsal', model: 'rehearsal', item: { b: 1, a: 2 } },
  { kind: 'reasoning', seq: 6, dialect: 'rehearsal', model: 'another', item: {} },
  { kind: 'reasoning', seq: 7, dialect: 'messages', model: 'rehearsal', item: {} },
  { kind: 'tool_call', seq: 8, call_id: 'c', name: 'read', arguments: '{ "path":"a.txt"}' },
  { kind: 'tool_result', seq: 9, call_id: 'c', name: 'read', outcome: 'ok', output: 'x\n' },
  { kind: 'assistant', seq: 10, parts: [{ type: 'text', text: 'Done.', lifetime: 'stable' }] },
]

test('segments are in cache order, one per part, with seq, lifetime and Resource of their origin', () => {
  const described = encode(items, surface).map(
    ({ bytes, length, bracket: _bracket, ...segment }) => {
      expect(length).toBe(bytes.length)
      return [segment, bytes.toString()]
    },
  )
  const fixed = { seq: -1, lifetime: 'stable' }
  expect(described).toEqual([
    [
      { role: 'params', ...fixed },
      '{"contract_version":"hw1","model":"rehearsal","role":"params","tool_choice":"auto"}',
    ],
    [
      { role: 'tool', ...fixed },
      '{"description":"Reads.","name":"read","parameters":{"properties":{},"type":"object"},"role":"tool"}',
    ],
    [{ role: 'system', ...fixed }, '{"role":"system","text":"Layer 0"}'],
    [{ role: 'system', ...fixed }, '{"role":"system","text":"Layer 1"}'],
    [
      { role: 'user', seq: 3, lifetime: 'stable' },
      '{"parts":[{"text":"read “a.txt”","type":"text"}],"role":"user"}',
    ],
    [
      { role: 'user', seq: 3, lifetime: 'turn', resource },
      '{"parts":[{"data":"cGl4ZWxz","handle":"@img1","media_type":"image/png","type":"blob"}],"role":"user"}',
    ],
    [
      { role: 'developer', seq: 4, lifetime: 'stable' },
      '{"parts":[{"text":"mode: build","type":"text"}],"role":"developer"}',
    ],
    [
      { role: 'reasoning', seq: 5, lifetime: 'stable' },
      '{"item":{"a":2,"b":1},"role":"reasoning"}',
    ],
    [
      { role: 'tool_call', seq: 8, lifetime: 'stable' },
      '{"arguments":"{ \\"path\\":\\"a.txt\\"}","call_id":"c","name":"read","role":"tool_call"}',
    ],
    [
      { role: 'tool_result', seq: 9, lifetime: 'stable' },
      '{"call_id":"c","name":"read","outcome":"ok","output":"x\\n","role":"tool_result"}',
    ],
    [
      { role: 'assistant', seq: 10, lifetime: 'stable' },
      '{"parts":[{"text":"Done.","type":"text"}],"role":"assistant"}',
    ],
  ])
})

test('items encoded a few at a time give the same bytes as all at once', () => {
  const alone = encode([], surface)
  const behind = alone.at(-1)
  const pieces = items.flatMap((item) => encode([item], surface, behind).slice(alone.length))
  expect([...alone, ...pieces]).toEqual(encode(items, surface))
})

test('the body is canonical JSON as a whole, whatever it contains', () => {
  for (const some of [[], items.slice(0, 1), items]) {
    const body = frame(encode(some, surface), {})
    expect(body.toString()).toBe(canonicalJson(JSON.parse(body.toString())))
  }
  expect(frame([], {}).toString()).toBe('{"dialect":"rehearsal","segments":[]}')
})

test('a used body is extended in its own memory, with the same bytes', () => {
  const segments = encode(items, surface)
  const twice = [...segments, ...segments]
  for (const count of [0, 1, 4, segments.length]) {
    const spentBody = { body: frame(segments.slice(0, count), {}), count }
    const body = frame(segments, { spentBody })
    expect(body).toEqual(frame(segments, {}))
    // It was already extended once; extending it again uses other memory.
    const again = frame(twice, { spentBody })
    expect(body).toEqual(frame(segments, {}))
    expect(again).toEqual(frame(twice, {}))
    expect(frame(twice, { spentBody: { body, count: segments.length } })).toEqual(again)
  }
})

test('the body decodes to what was encoded', () => {
  const read = readRequest(frame(encode(items, surface), {}))
  expect(read.ok && read.value.segments.map(({ role }) => role)).toEqual(
    encode(items, surface).map(({ role }) => role),
  )
})

test('an effort is a parameter', () => {
  const [params] = encode([], { ...surface, params: { ...surface.params, effort: 'high' } })
  expect(params?.bytes.toString()).toContain('"effort":"high"')
})

test('a lone surrogate does not make the bytes unreadable', () => {
  const parts = [{ type: 'text', text: 'a\uD800b', lifetime: 'stable' }] as const
  const read = readRequest(frame(encode([{ kind: 'user', seq: 1, parts }], surface), {}))
  expect(read.ok && read.value.segments.at(-1)).toEqual({
    role: 'user',
    parts: [{ type: 'text', text: 'a\uFFFDb' }],
  })
})
