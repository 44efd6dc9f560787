import { array, assert, constantFrom, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { requestErrors } from '../../../test/support/providers/vendor-schemas.ts'
import type { BlobPart, ConversationItem, Part } from '../../model/conversation.ts'
import { BlobKey, ResourceId } from '../../model/ids.ts'
import type { Segment } from '../../model/segment.ts'
import type { Surface, SurfaceParams } from '../../model/surface.ts'
import { buildBody, encode } from './encode.ts'

const params: SurfaceParams = {
  replay: 'attach-turn',
  late_role: 'developer',
  tool_choice: 'auto',
  effort: 'high',
  cache_key: true,
  files: true,
  limits: { output_tokens: 4096 },
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
const bodyOptions = { cacheKey: 'hw1:family', marks: [{ after: 2 }] }

const resource = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z12')
const items: ConversationItem[] = [
  { kind: 'user', seq: 3, parts: [text('look'), blob('image/png', { handle: '@img1', resource })] },
  { kind: 'developer', seq: 4, parts: [text('mode: build'), text('date: today')] },
  { kind: 'reasoning', seq: 5, dialect: 'responses', model: 'gpt-x', item: { type: 'reasoning' } },
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

function reply(seq: number, words: string): ConversationItem {
  return { kind: 'assistant', seq, parts: [text(words)] }
}

function called(seq: number, call_id = `call_${seq}`, written = '{}'): ConversationItem {
  return { kind: 'tool_call', seq, call_id, name: 'read', arguments: written }
}

function resulted(seq: number, call_id: string): ConversationItem {
  return { kind: 'tool_result', seq, call_id, name: 'read', outcome: 'ok', output: 'x' }
}

const Body = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      tool_call_id: z.string().optional(),
      tool_calls: z.array(z.looseObject({ id: z.string() })).optional(),
    }),
  ),
})

function bodyOf(some: readonly ConversationItem[], of = surface) {
  return Body.parse(JSON.parse(buildBody(encode(some, of), bodyOptions).toString()))
}

/** Without the two system blocks. */
function messagesOf(some: readonly ConversationItem[], of = surface) {
  return bodyOf(some, of).messages.slice(2)
}

function under(changed: Partial<SurfaceParams>): Surface {
  return { ...surface, params: { ...params, ...changed } }
}

/** The encoding of a user message with a single part. */
function contentOf(part: Part, changed: Partial<SurfaceParams> = {}): unknown {
  const [segment] = encode([{ kind: 'user', seq: 1, parts: [part] }], under(changed)).slice(5)
  return segment === undefined ? undefined : JSON.parse(segment.bytes.toString())
}

function summaryOf({ role, seq, lifetime, resource: of, bytes }: Segment): string {
  return `${role} ${seq} ${lifetime} ${of ?? 'none'} ${bytes.toString()}`
}

function asCall(id: string, name = 'read') {
  return { id, type: 'function', function: { name, arguments: '{}' } }
}

test('segments are in cache order, one per part, with seq, lifetime and Resource of their origin', () => {
  expect(encode(items, surface).map(summaryOf)).toEqual([
    'params -1 stable none "model":"gpt-x","stream":true,"stream_options":{"include_usage":true},"tool_choice":"auto","store":false,"reasoning_effort":"high"',
    'tool -1 stable none {"type":"function","function":{"name":"bash","description":"Runs.","parameters":{"properties":{},"type":"object"}}}',
    'tool -1 stable none {"type":"function","function":{"name":"read","description":"Reads.","parameters":{"a":{"c":3,"d":2},"b":1}}}',
    'system -1 stable none {"role":"developer","content":"Layer “0”"}',
    'system -1 stable none {"role":"developer","content":"Layer 1"}',
    'user 3 stable none {"type":"text","text":"look"}',
    `user 3 turn ${resource} {"type":"image_url","image_url":{"url":"data:image/png;base64,Ynl0ZXM="}}`,
    'developer 4 stable none {"role":"developer","content":"mode: build"}',
    'developer 4 stable none {"role":"developer","content":"date: today"}',
    'assistant 6 stable none "I look."',
    'tool_call 7 stable none {"id":"call_1","type":"function","function":{"name":"read","arguments":"{ \\"path\\":\\"a\\"}"}}',
    'tool_call 8 stable none {"id":"call_2","type":"function","function":{"name":"bash","arguments":"{}"}}',
    'tool_result 9 stable none {"role":"tool","tool_call_id":"call_1","content":"x\\n"}',
    'tool_result 10 stable none {"role":"tool","tool_call_id":"call_2","content":"[outcome: denied]"}',
    'assistant 11 stable none "Done."',
    'user 12 stable none {"type":"text","text":"thanks"}',
    'user 13 stable none {"type":"text","text":"[View]"}',
    'user 13 turn none {"type":"file","file":{"filename":"pdf2.pdf","file_data":"data:application/pdf;base64,Ynl0ZXM="}}',
  ])
})

test('the body contains parameters, cache key, tools and messages, in this order, each segment once', () => {
  const segments = encode(items, surface)
  const texts = segments.map(({ bytes }) => bytes.toString())
  const [first, bash, read, zero, one, look, image, mode, date, words, ...more] = texts
  const [path, run, found, denied, done, thanks, view, pdf] = more
  expect(buildBody(segments, bodyOptions).toString()).toBe(
    `{${first},"prompt_cache_key":"hw1:family","tools":[${bash},${read}],"messages":[${zero},${one},` +
      `{"role":"user","content":[${look},${image}]},${mode},${date},` +
      `{"role":"assistant","content":${words},"tool_calls":[${path},${run}]},${found},${denied},` +
      `{"role":"assistant","content":${done}},{"role":"user","content":[${thanks}]},` +
      `{"role":"user","content":[${view},${pdf}]}]}`,
  )
})

test('a body omits empty parts, and the cache key for a server that does not accept one', () => {
  const { replay, late_role, tool_choice, limits } = params
  const bare = {
    ...surface,
    tools: [],
    system: ['', ' \n'],
    params: { replay, late_role, tool_choice, limits },
  }
  const body = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true},"messages":'
  expect(buildBody(encode([], bare), bodyOptions).toString()).toBe(`${body}[]}`)
  expect(buildBody(encode(items.slice(9, 10), bare), bodyOptions).toString()).toBe(
    `${body}[{"role":"user","content":[{"type":"text","text":"thanks"}]}]}`,
  )
  const other = { ...bare, model: '","store":false,"' }
  expect(buildBody(encode([], other), bodyOptions).toString()).not.toContain('prompt_cache_key')
  const unreasoning = { ...bare, params: { ...bare.params, reasoning: false } }
  expect(bodyOf([], unreasoning)['reasoning_effort']).toBe('none')
})

test('the body is valid for the vendor, by the types of its SDK', () => {
  expect(requestErrors('chat', bodyOf(items))).toEqual([])
  for (const late_role of ['developer', 'system', 'user']) {
    const of = under({ late_role, images: false, files: false })
    expect(requestErrors('chat', bodyOf(items, of))).toEqual([])
  }
  expect(requestErrors('chat', bodyOf(items.slice(0, 1), { ...surface, tools: [] }))).toEqual([])
})

test('a cache key that the vendor would refuse as too long is replaced by its hash', () => {
  const keyIn = (cacheKey: string, segments = encode([], surface)) =>
    Body.parse(JSON.parse(buildBody(segments, { cacheKey }).toString()))['prompt_cache_key']
  expect(keyIn('k'.repeat(64))).toBe('k'.repeat(64))
  const long = keyIn('k'.repeat(65))
  expect(long).toMatch(/^[0-9a-f]{64}$/)
  expect(keyIn('k'.repeat(65))).toBe(long)
  expect(keyIn('k'.repeat(66))).not.toBe(long)
})

test('a body with more answers begins with the previous body, except for its end', () => {
  const ends = [0, 1, 2, 8, 9, 10, 11]
  for (const [index, end] of ends.entries()) {
    const before = buildBody(encode(items.slice(0, end), surface), bodyOptions)
    const after = buildBody(encode(items.slice(0, ends[index + 1]), surface), bodyOptions)
    const shared = before.length - ']}'.length
    expect(after.toString('utf8', 0, shared)).toBe(before.toString('utf8', 0, shared))
  }
})

test('the texts of an answer precede its calls, so that results follow their calls directly', () => {
  const answered = [reply(1, 'a'), called(2), reply(3, 'b'), called(4)]
  const results = [resulted(5, 'call_2'), resulted(6, 'call_4'), called(7)]
  const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'x' })
  const messages = [
    { role: 'assistant', content: 'a' },
    { role: 'assistant', content: 'b', tool_calls: [asCall('call_2'), asCall('call_4')] },
    result('call_2'),
    result('call_4'),
    { role: 'assistant', content: null, tool_calls: [asCall('call_7')] },
  ]
  expect(messagesOf([...answered, ...results])).toEqual(messages)
  // Reasoning is never sent back, and does not change this.
  for (const dialect of ['chat', 'messages']) {
    const thought = { kind: 'reasoning', seq: 1, dialect, model: 'gpt-x', item: { a: 1 } } as const
    const thoughtful = answered.flatMap((item) => [thought, item, thought])
    expect(messagesOf([...thoughtful, ...results])).toEqual(messages)
  }
})

test('text of several Events stays separate, and several parts of one Event are one message', () => {
  const parts = [text('b'), text(' '), blob('image/png', { handle: '@x' })]
  expect(messagesOf([reply(1, 'a'), { kind: 'assistant', seq: 2, parts }, called(3)])).toEqual([
    { role: 'assistant', content: 'a' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'b' },
        { type: 'text', text: '[@x is not shown: this model does not accept image/png.]' },
      ],
      tool_calls: [asCall('call_3')],
    },
  ])
})

test('images are sent, unless the model is known not to accept them', () => {
  for (const media_type of ['image/png', 'image/jpeg', 'image/gif', 'image/webp']) {
    const url = `data:${media_type};base64,Ynl0ZXM=`
    expect(contentOf(blob(media_type))).toEqual({ type: 'image_url', image_url: { url } })
    expect(contentOf(blob(media_type), { images: false })).toEqual({
      type: 'text',
      text: `[A stored file is not shown: this model does not accept ${media_type}.]`,
    })
  }
})

test('a PDF is a file if the model is known to accept files', () => {
  const file_data = 'data:application/pdf;base64,Ynl0ZXM='
  const part = blob('application/pdf')
  expect(contentOf(part)).toEqual({ type: 'file', file: { filename: 'file.pdf', file_data } })
  const { files: _, ...unknown } = params
  for (const of of [under({ files: false }), { ...surface, params: unknown }]) {
    const words = '[A stored file is not shown: this model does not accept application/pdf.]'
    expect(messagesOf([{ kind: 'user', seq: 1, parts: [part] }], of)).toEqual([
      { role: 'user', content: [{ type: 'text', text: words }] },
    ])
  }
})

test('a text file is text under its name, and what cannot be sent is replaced by a sentence', () => {
  const words = (of: string) => ({ type: 'text', text: of })
  const handle = '@x'
  expect(contentOf(blob('text/csv', { handle }))).toEqual(words('[Content of @x]\nbytes'))
  expect(contentOf(blob('text/plain'))).toEqual(words('bytes'))
  const long = 'é "a"\n'.repeat(20_000)
  expect(contentOf(blob('text/plain', { bytes: Buffer.from(long) }))).toEqual(words(long))
  const { bytes: _, ...unloaded } = blob('image/png', { handle })
  const empty = blob('image/gif', { handle, bytes: Buffer.alloc(0) })
  for (const part of [unloaded, empty, blob('image/bmp', { handle })]) {
    const sentence = `[@x is not shown: this model does not accept ${part.media_type}.]`
    expect(contentOf(part)).toEqual(words(sentence))
  }
})

test('text of the harness has the role that the surface defines', () => {
  const parts = [text('mode: plan'), blob('text/markdown'), blob('image/png', { handle: '@x' })]
  const bodyWith = (late_role: string) =>
    bodyOf([{ kind: 'developer', seq: 1, parts }], under({ late_role }))['messages']
  const words = ['mode: plan', 'bytes', '[@x is not shown: this model does not accept image/png.]']
  const messages = (role: string, contents: readonly string[]) =>
    contents.map((content) => ({ role, content }))
  const system = ['Layer “0”', 'Layer 1']
  expect(bodyWith('developer')).toEqual(messages('developer', [...system, ...words]))
  expect(bodyWith('system')).toEqual(messages('system', [...system, ...words]))
  expect(bodyWith('another')).toEqual(messages('system', [...system, ...words]))
  expect(bodyWith('user')).toEqual([
    ...messages('system', system),
    ...words.map((one) => ({
      role: 'user',
      content: [{ type: 'text', text: `<harness-note>\n${one}\n</harness-note>` }],
    })),
  ])
})

test('blank text is omitted', () => {
  const blank = [text(''), text(' \n\t'), blob('text/plain', { bytes: Buffer.from(' ') })]
  const kinds = ['user', 'developer', 'assistant'] as const
  const all = kinds.map((kind, seq) => ({ kind, seq, parts: blank }))
  expect(encode([...all, { kind: 'assistant', seq: 4, parts: [] }], surface)).toEqual(
    encode([], surface),
  )
})

test('ids and names that the vendor would refuse are replaced, the same way in a call and its result', () => {
  const call_id = `toolu:${'x'.repeat(100)}`
  const name = 'a tool!'
  const messages = messagesOf([
    { kind: 'tool_call', seq: 1, call_id, name, arguments: '{}' },
    { kind: 'tool_result', seq: 2, call_id, name, outcome: 'failed', output: 'no' },
  ])
  const id = /call_[0-9a-f]{24}/.exec(JSON.stringify(messages))?.[0] ?? ''
  expect(messages).toEqual([
    { role: 'assistant', content: null, tool_calls: [asCall(id, 'a_tool_')] },
    { role: 'tool', tool_call_id: id, content: '[outcome: failed]\nno' },
  ])
})

test('arguments are sent back as written; those that are not an object are wrapped in one', () => {
  const sent = (written: string) => {
    const [segment] = encode([called(1, 'c', written)], surface).slice(5)
    const call = z.object({ function: z.object({ arguments: z.string() }) })
    return call.parse(JSON.parse(segment?.bytes.toString() ?? '')).function.arguments
  }
  for (const written of ['{}', ' { "a" : 1.0, "a":2 }\n', '{"a":"\\u00e9\\ud83d\\ude00"}']) {
    expect(sent(written)).toBe(written)
  }
  expect(sent('')).toBe('{}')
  const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`
  for (const written of ['{"path":"a', '{"a":1}{"b":2}', '[1]', 'null', '"a"', deep]) {
    expect(JSON.parse(sent(written))).toEqual({ unreadable_arguments: written })
  }
  expect(sent('{"a":"\\ud800"}')).toBe('{"a":"\uFFFD"}')
})

test('half a character is never sent', () => {
  const half = 'a\uD800b'
  const tools = [{ name: 't', description: half, parameters: { [half]: half } }]
  const segments = encode(
    [
      { kind: 'user', seq: 1, parts: [text(half)] },
      { kind: 'developer', seq: 2, parts: [text(half)] },
      { kind: 'assistant', seq: 4, parts: [text(half)] },
      { kind: 'assistant', seq: 5, parts: [text(half), text(half)] },
      { kind: 'tool_call', seq: 6, call_id: half, name: half, arguments: half },
      { kind: 'tool_result', seq: 7, call_id: half, name: half, outcome: 'ok', output: half },
    ],
    { ...surface, model: half, system: [half], tools },
  )
  const body = buildBody(segments, { cacheKey: half }).toString()
  expect(body).not.toContain('\\ud')
  expect(body.match(/a\uFFFDb/g)).toHaveLength(13)
  expect(requestErrors('chat', JSON.parse(body))).toEqual([])
})

/** Items that are recorded together: calls are always followed by their results. */
const answer = array(constantFrom('user', 'developer', 'text', 'blank', 'call', 'reasoning'))

function itemsOf(answers: readonly (readonly string[])[]): ConversationItem[][] {
  let seq = 0
  const next = () => (seq += 1)
  return answers.map((kinds) => {
    const questions = kinds.flatMap((kind): ConversationItem[] =>
      kind === 'user' || kind === 'developer'
        ? [{ kind, seq: next(), parts: [text('a'), blob('image/png')] }]
        : [],
    )
    const answered = kinds.flatMap((kind): ConversationItem[] => {
      if (kind === 'call') return [called(next())]
      if (kind === 'text' || kind === 'blank') return [reply(next(), kind === 'text' ? 'a' : ' ')]
      if (kind !== 'reasoning') return []
      return [{ kind, seq: next(), dialect: 'chat', model: 'gpt-x', item: {} }]
    })
    const ids = answered.flatMap((item) => (item.kind === 'tool_call' ? [item.call_id] : []))
    return [...questions, ...answered, ...ids.map((id) => resulted(next(), id))]
  })
}

test('answers encoded a few at a time give the same segments and the same body as all at once', () => {
  assert(
    property(array(answer, { maxLength: 6 }), nat(6), (answers, cut) => {
      const all = itemsOf(answers)
      const first = encode(all.slice(0, cut).flat(), surface)
      const rest = encode(all.slice(cut).flat(), surface, first.at(-1))
      const apart = [...first, ...rest.slice(encode([], surface).length)]
      const whole = encode(all.flat(), surface)
      expect(apart.map(summaryOf)).toEqual(whole.map(summaryOf))
      expect(buildBody(apart, bodyOptions).equals(buildBody(whole, bodyOptions))).toBe(true)
    }),
  )
})

test('the body of any answers is valid for the vendor, and results follow their calls directly', () => {
  assert(
    property(array(answer, { maxLength: 6 }), (answers) => {
      const all = itemsOf(answers).flat()
      const body = bodyOf(all)
      expect(requestErrors('chat', body)).toEqual([])
      const waiting: (string | undefined)[] = []
      for (const { role, tool_call_id, tool_calls = [] } of body.messages) {
        if (role === 'tool') expect(waiting.shift()).toBe(tool_call_id)
        else expect(waiting).toEqual([])
        waiting.push(...tool_calls.map(({ id }) => id))
      }
      expect(waiting).toEqual([])
      const calls = all.filter(({ kind }) => kind === 'tool_call')
      expect(body.messages.flatMap(({ tool_calls = [] }) => tool_calls)).toHaveLength(calls.length)
    }),
    { numRuns: 60 },
  )
})
