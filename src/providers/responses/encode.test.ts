import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { requestErrors } from '../../../test/support/providers/vendor-schemas.ts'
import { sha256 } from '../../encoding/hash.ts'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import type { BlobPart, ConversationItem, Part } from '../../model/conversation.ts'
import { BlobKey, ResourceId } from '../../model/ids.ts'
import type { Surface, SurfaceParams } from '../../model/surface.ts'
import { buildBody, encode } from './encode.ts'

const params: SurfaceParams = {
  replay: 'attach-turn',
  late_role: 'developer',
  tool_choice: 'auto',
  reasoning: true,
  effort: 'high',
  limits: {},
}
const surface: Surface = {
  contract_version: 'hw1',
  model: 'gpt-x',
  system: ['Layer “0”', 'Layer 1'],
  tools: [
    { name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } },
    { name: 'read', description: 'Reads.', parameters: { b: 1, a: { d: 2, c: 3 } } },
  ],
  params,
}
const bodyOptions = { cacheKey: 'hw1:family', marks: [] }

const resource = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z12')
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
const items: ConversationItem[] = [
  { kind: 'user', seq: 3, parts: [text('look'), blob('image/png', { handle: '@img1', resource })] },
  { kind: 'developer', seq: 4, parts: [text('mode: build'), text('date: today')] },
  { kind: 'reasoning', seq: 5, dialect: 'responses', model: 'gpt-x', item: thought },
  { kind: 'assistant', seq: 6, phase: 'commentary', parts: [text('I look.')] },
  { kind: 'tool_call', seq: 7, call_id: 'call_1', name: 'read', arguments: '{ "path":"a"}' },
  { kind: 'tool_call', seq: 8, call_id: 'call_2', name: 'bash', arguments: '' },
  { kind: 'tool_result', seq: 9, call_id: 'call_1', name: 'read', outcome: 'ok', output: 'x\n' },
  { kind: 'tool_result', seq: 10, call_id: 'call_2', name: 'bash', outcome: 'denied', output: '' },
  { kind: 'assistant', seq: 11, parts: [text('Done.')] },
  { kind: 'user', seq: 12, parts: [text('thanks')] },
  { kind: 'user', seq: 13, parts: [text('[View]'), blob('application/pdf', { handle: '@pdf2' })] },
]

function text(words: string): Part {
  return { type: 'text', text: words, lifetime: 'stable' }
}

function blob(media_type: string, more: Partial<BlobPart> = {}): BlobPart {
  const key = BlobKey.parse(`${'a'.repeat(64)}.png`)
  const bytes = Buffer.from('bytes')
  return { type: 'blob', blob: key, media_type, lifetime: 'turn', bytes, ...more }
}

function bodyOf(some: readonly ConversationItem[], of = surface, cacheKey = 'hw1:family') {
  const body = parseJson(buildBody(encode(some, of), { cacheKey }).toString())
  if (!isJsonObject(body)) throw new Error('the body is not an object')
  return body
}

function inputOf(some: readonly ConversationItem[], of = surface): unknown[] {
  const { input } = bodyOf(some, of)
  return Array.isArray(input) ? input : []
}

function under(changed: Partial<SurfaceParams>): Surface {
  return { ...surface, params: { ...params, ...changed } }
}

/** The encoding of a user message with a single part. */
function contentOf(part: Part, changed: Partial<SurfaceParams> = {}): unknown {
  const [segment] = encode([{ kind: 'user', seq: 1, parts: [part] }], under(changed)).slice(5)
  return segment === undefined ? undefined : JSON.parse(segment.bytes.toString())
}

test('segments are in cache order, one per part, with seq, lifetime and Resource of their origin', () => {
  const rows = encode(items, surface).map(({ bytes, length, bracket: _bracket, ...segment }) => {
    expect(length).toBe(bytes.length)
    return [segment, bytes.toString()]
  })
  const fixed = { seq: -1, lifetime: 'stable' }
  const stable = 'stable'
  expect(rows).toEqual([
    [
      { role: 'params', ...fixed },
      '"model":"gpt-x","stream":true,"store":false,"tool_choice":"auto","parallel_tool_calls":true,' +
        '"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"}',
    ],
    [
      { role: 'tool', ...fixed },
      '{"type":"function","name":"bash","description":"Runs.","parameters":{"properties":{},"type":"object"},"strict":false}',
    ],
    [
      { role: 'tool', ...fixed },
      '{"type":"function","name":"read","description":"Reads.","parameters":{"a":{"c":3,"d":2},"b":1},"strict":false}',
    ],
    [{ role: 'system', ...fixed }, 'Layer “0”'],
    [{ role: 'system', ...fixed }, 'Layer 1'],
    [{ role: 'user', seq: 3, lifetime: stable }, '{"type":"input_text","text":"look"}'],
    [
      { role: 'user', seq: 3, lifetime: 'turn', resource },
      '{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,Ynl0ZXM="}',
    ],
    [
      { role: 'developer', seq: 4, lifetime: stable },
      '{"type":"message","role":"developer","content":"mode: build"}',
    ],
    [
      { role: 'developer', seq: 4, lifetime: stable },
      '{"type":"message","role":"developer","content":"date: today"}',
    ],
    [
      { role: 'reasoning', seq: 5, lifetime: stable },
      '{"encrypted_content":"gAAA","id":"rs_1","summary":[],"type":"reasoning"}',
    ],
    [
      { role: 'assistant', seq: 6, lifetime: stable },
      '{"type":"message","role":"assistant","content":"I look.","phase":"commentary"}',
    ],
    [
      { role: 'tool_call', seq: 7, lifetime: stable },
      '{"type":"function_call","call_id":"call_1","name":"read","arguments":"{ \\"path\\":\\"a\\"}"}',
    ],
    [
      { role: 'tool_call', seq: 8, lifetime: stable },
      '{"type":"function_call","call_id":"call_2","name":"bash","arguments":"{}"}',
    ],
    [
      { role: 'tool_result', seq: 9, lifetime: stable },
      '{"type":"function_call_output","call_id":"call_1","output":"x\\n"}',
    ],
    [
      { role: 'tool_result', seq: 10, lifetime: stable },
      '{"type":"function_call_output","call_id":"call_2","output":"[outcome: denied]"}',
    ],
    [
      { role: 'assistant', seq: 11, lifetime: stable },
      '{"type":"message","role":"assistant","content":"Done."}',
    ],
    [{ role: 'user', seq: 12, lifetime: stable }, '{"type":"input_text","text":"thanks"}'],
    [{ role: 'user', seq: 13, lifetime: stable }, '{"type":"input_text","text":"[View]"}'],
    [
      { role: 'user', seq: 13, lifetime: 'turn' },
      '{"type":"input_file","filename":"pdf2.pdf","file_data":"data:application/pdf;base64,Ynl0ZXM="}',
    ],
  ])
})

test('the body contains parameters, cache key, instructions, tools and input, in this order, each segment once', () => {
  const segments = encode(items.slice(0, 2), surface)
  const [first, bash, read, , , look, image, mode, date] = segments.map(({ bytes }) =>
    bytes.toString(),
  )
  expect(buildBody(segments, bodyOptions).toString()).toBe(
    `{${first},"prompt_cache_key":"hw1:family","instructions":"Layer “0”\\n\\nLayer 1",` +
      `"tools":[${bash},${read}],"input":[{"type":"message","role":"user","content":[${look},${image}]},${mode},${date}]}`,
  )
})

test('a body without tools and system blocks omits both', () => {
  const bare = { ...under({ reasoning: false }), tools: [], system: ['', ' \n'] }
  expect(bodyOf(items.slice(9, 10), bare)).toEqual({
    model: 'gpt-x',
    stream: true,
    store: false,
    reasoning: { effort: 'high' },
    prompt_cache_key: 'hw1:family',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'thanks' }] }],
  })
})

test('reasoning is requested if the model is known to reason, and an effort if one is set', () => {
  const reasoningOf = (reasoning: boolean | undefined, effort: string | undefined) => {
    const { replay, late_role, tool_choice, limits } = params
    const chosen = {
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(effort === undefined ? {} : { effort }),
    }
    const of = { ...surface, params: { replay, late_role, tool_choice, limits, ...chosen } }
    const body = bodyOf([], of)
    return [body['include'], body['reasoning']]
  }
  const include = ['reasoning.encrypted_content']
  expect(reasoningOf(true, undefined)).toEqual([include, { summary: 'auto' }])
  expect(reasoningOf(true, 'low')).toEqual([include, { effort: 'low', summary: 'auto' }])
  expect(reasoningOf(false, undefined)).toEqual([undefined, undefined])
  expect(reasoningOf(undefined, 'low')).toEqual([undefined, { effort: 'low' }])
})

test('the body is valid for the vendor, by the types of its SDK', () => {
  expect(requestErrors('responses', bodyOf(items))).toEqual([])
  for (const late_role of ['developer', 'system', 'user']) {
    expect(requestErrors('responses', bodyOf(items, under({ late_role, images: false })))).toEqual(
      [],
    )
  }
  expect(requestErrors('responses', bodyOf(items.slice(0, 1), { ...surface, tools: [] }))).toEqual(
    [],
  )
})

test('a cache key that the vendor would refuse as too long is replaced by its hash', () => {
  const keyIn = (cacheKey: string) => bodyOf([], surface, cacheKey)['prompt_cache_key']
  expect(keyIn('k'.repeat(64))).toBe('k'.repeat(64))
  const long = keyIn('k'.repeat(65))
  expect(long).toMatch(/^[0-9a-f]{64}$/)
  expect(keyIn('k'.repeat(65))).toBe(long)
  expect(keyIn('k'.repeat(66))).not.toBe(long)
})

test('parts of one message are one message, and later ones never join it', () => {
  expect(inputOf(items.slice(9))).toMatchObject([
    { type: 'message', role: 'user', content: [{ text: 'thanks' }] },
    { type: 'message', role: 'user', content: [{ text: '[View]' }, { filename: 'pdf2.pdf' }] },
  ])
})

test('a body with more items begins with the previous body, except for its end', () => {
  for (let count = 0; count < items.length; count += 1) {
    const before = buildBody(encode(items.slice(0, count), surface), bodyOptions)
    const after = buildBody(encode(items.slice(0, count + 1), surface), bodyOptions)
    const shared = before.length - ']}'.length
    expect(after.subarray(0, shared)).toEqual(before.subarray(0, shared))
  }
})

test.each(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])('%s is sent', (media_type) => {
  expect(contentOf(blob(media_type), { images: true })).toEqual({
    type: 'input_image',
    detail: 'auto',
    image_url: `data:${media_type};base64,Ynl0ZXM=`,
  })
})

test('a text file is text under its name, and a PDF without a name is still a file', () => {
  expect(contentOf(blob('text/csv', { handle: '@txt3' }))).toEqual({
    type: 'input_text',
    text: '[Content of @txt3]\nbytes',
  })
  expect(contentOf(blob('text/plain'))).toEqual({ type: 'input_text', text: 'bytes' })
  const long = blob('text/plain', { bytes: Buffer.from('é "a"\n'.repeat(20_000)) })
  expect(contentOf(long)).toEqual({ type: 'input_text', text: 'é "a"\n'.repeat(20_000) })
  expect(contentOf(blob('application/pdf'))).toMatchObject({ filename: 'file.pdf' })
})

test('what cannot be sent is replaced by a sentence', () => {
  const sentence = (media_type: string) => ({
    type: 'input_text',
    text: `[@x is not shown: this model does not accept ${media_type}.]`,
  })
  const handle = '@x'
  const { bytes: _, ...unloaded } = blob('image/png', { handle })
  expect(contentOf(unloaded)).toEqual(sentence('image/png'))
  expect(contentOf(blob('image/png', { handle, bytes: Buffer.alloc(0) }))).toEqual(
    sentence('image/png'),
  )
  expect(contentOf(blob('image/png', { handle }), { images: false })).toEqual(sentence('image/png'))
  expect(contentOf(blob('application/pdf', { handle }), { files: false })).toEqual(
    sentence('application/pdf'),
  )
  expect(contentOf(blob('image/bmp', { handle }))).toEqual(sentence('image/bmp'))
  expect(inputOf([{ kind: 'assistant', seq: 1, parts: [blob('image/png', { handle })] }])).toEqual([
    { type: 'message', role: 'assistant', content: sentence('image/png').text },
  ])
})

test('text of the harness has the role that the surface defines', () => {
  const parts = [text('mode: plan'), blob('text/markdown'), blob('image/png', { handle: '@x' })]
  const bodyWith = (late_role: string) =>
    inputOf([{ kind: 'developer', seq: 1, parts }], under({ late_role }))
  const words = ['mode: plan', 'bytes', '[@x is not shown: this model does not accept image/png.]']
  const messages = (role: string, contents: readonly string[]) =>
    contents.map((content) => ({ type: 'message', role, content }))
  expect(bodyWith('developer')).toEqual(messages('developer', words))
  expect(bodyWith('system')).toEqual(messages('system', words))
  expect(bodyWith('another')).toEqual(messages('developer', words))
  expect(bodyWith('user')).toEqual(
    messages(
      'user',
      words.map((one) => `<harness-note>\n${one}\n</harness-note>`),
    ),
  )
})

test('a phase is sent back if the vendor knows it', () => {
  const phases = ['commentary', 'final_answer', 'another']
  const answers = phases.map((phase, seq): ConversationItem => {
    return { kind: 'assistant', seq, phase, parts: [text('a')] }
  })
  const message = { type: 'message', role: 'assistant', content: 'a' }
  expect(inputOf(answers)).toEqual([
    { ...message, phase: 'commentary' },
    { ...message, phase: 'final_answer' },
    message,
  ])
})

test('blank text is omitted, and so is reasoning directly before it', () => {
  const blank = [text(''), text(' \n\t')]
  const reasoning = items[2]
  expect(reasoning?.kind).toBe('reasoning')
  expect(
    inputOf([
      { kind: 'user', seq: 1, parts: [...blank, blob('text/plain', { bytes: Buffer.from(' ') })] },
      { kind: 'developer', seq: 2, parts: blank },
      ...(reasoning === undefined ? [] : [reasoning]),
      { kind: 'assistant', seq: 6, parts: blank },
      { kind: 'assistant', seq: 7, parts: [] },
    ]),
  ).toEqual([])
})

test('reasoning is sent back unchanged, to its own model in its own dialect, if something readable follows', () => {
  const reply: ConversationItem = { kind: 'assistant', seq: 9, parts: [text('a')] }
  const input = (item: unknown, dialect = 'responses', model = 'gpt-x') =>
    inputOf([{ kind: 'reasoning', seq: 8, dialect, model, item }, reply])
  const answer = { type: 'message', role: 'assistant', content: 'a' }
  expect(input({ ...thought, later: [{ b: 1 }] })).toEqual([
    { ...thought, later: [{ b: 1 }] },
    answer,
  ])
  const open = {
    ...thought,
    encrypted_content: null,
    content: [{ type: 'reasoning_text', text: 'x' }],
  }
  expect(input(open)).toEqual([open, answer])
  expect(input(thought, 'messages')).toEqual([answer])
  expect(input(thought, 'responses', 'gpt-y')).toEqual([answer])
  expect(input({ ...thought, encrypted_content: null })).toEqual([answer])
  expect(input({ ...thought, encrypted_content: '' })).toEqual([answer])
  expect(input('reasoning')).toEqual([answer])
})

test('ids and names that the vendor would refuse are replaced, the same way in a call and its result', () => {
  const call_id = `toolu:${'x'.repeat(100)}`
  const input = inputOf([
    { kind: 'tool_call', seq: 1, call_id, name: 'a tool!', arguments: 'not { JSON' },
    { kind: 'tool_result', seq: 2, call_id, name: 'a tool!', outcome: 'failed', output: 'no' },
  ])
  const id = `call_${sha256(call_id).slice(0, 24)}`
  expect(input).toEqual([
    { type: 'function_call', call_id: id, name: 'a_tool_', arguments: 'not { JSON' },
    { type: 'function_call_output', call_id: id, output: '[outcome: failed]\nno' },
  ])
})

test('half a character is never sent', () => {
  const half = 'a\uD800b'
  const tools = [{ name: 't', description: half, parameters: { [half]: half } }]
  const [parts, call] = [[text(half)], { call_id: half, name: half }]
  const halved: ConversationItem[] = [
    { kind: 'user', seq: 1, parts },
    { kind: 'developer', seq: 2, parts },
    { kind: 'reasoning', seq: 3, dialect: 'responses', model: 'gpt-x', item: { content: [half] } },
    { kind: 'assistant', seq: 4, parts },
    { kind: 'tool_call', seq: 5, ...call, arguments: half },
    { kind: 'tool_result', seq: 6, ...call, outcome: 'ok', output: half },
  ]
  const segments = encode(halved, { ...surface, system: [half], tools })
  const body = buildBody(segments, { cacheKey: half }).toString()
  expect(body).not.toContain('\\ud')
  expect(body.match(/a\uFFFDb/g)).toHaveLength(11)
})

test('items encoded a few at a time give the same segments as all at once', () => {
  const alone = encode([], surface)
  const answers = answersOf(items)
  fc.assert(
    fc.property(fc.array(fc.nat(answers.length - 1)), fc.nat(8), (picks, cut) => {
      const picked = picks.map((index) => answers[index] ?? [])
      const [a, b] = [picked.slice(0, cut).flat(), picked.slice(cut).flat()]
      const first = encode(a, surface)
      const apart = [...first, ...encode(b, surface, first.at(-1)).slice(alone.length)]
      expect(apart).toEqual(encode([...a, ...b], surface))
      const all = [...a, ...b]
      expect(buildBody(apart, bodyOptions)).toEqual(buildBody(encode(all, surface), bodyOptions))
    }),
  )
})

/** Items that are recorded together stay together. */
function answersOf(all: readonly ConversationItem[]): ConversationItem[][] {
  return all.reduce<ConversationItem[][]>((groups, item) => {
    if (groups.at(-1)?.at(-1)?.kind === 'reasoning') groups.at(-1)?.push(item)
    else groups.push([item])
    return groups
  }, [])
}

test('segments share no memory with anything else, and those of a surface are encoded once', () => {
  const segments = encode(items, surface)
  const pool = Buffer.from('any other').buffer
  expect(segments.filter(({ bytes }) => bytes.buffer === pool)).toEqual([])
  const again = encode([], surface)
  expect(again.every((segment, index) => segment === segments[index])).toBe(true)
  expect(again).toHaveLength(5)
})
