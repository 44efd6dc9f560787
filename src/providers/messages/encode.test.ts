import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { BlobPart, ConversationItem, Part } from '../../model/conversation.ts'
import { BlobKey, ResourceId } from '../../model/ids.ts'
import type { Surface } from '../../model/surface.ts'
import { buildBody, encode } from './encode.ts'

const surface: Surface = {
  contract_version: 'hw1',
  model: 'claude',
  system: ['Layer 0', 'Layer 1'],
  tools: [
    { name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } },
    { name: 'read', description: 'Reads.', parameters: { type: 'object', required: ['path'] } },
  ],
  params: { replay: 'attach-turn', late_role: 'system', tool_choice: 'auto', limits: {} },
}

const resource = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z12')

function text(words: string): Part {
  return { type: 'text', text: words, lifetime: 'stable' }
}

function blob(media_type: string, given: Partial<BlobPart> = {}): BlobPart {
  const file = { blob: BlobKey.parse(`${'a'.repeat(64)}.png`), bytes: Buffer.from('a\nb') }
  return {
    type: 'blob',
    media_type,
    resource,
    handle: '@img1',
    lifetime: 'turn',
    ...file,
    ...given,
  }
}

type Speaker = 'user' | 'developer' | 'assistant'

function message(kind: Speaker, ...parts: readonly (string | Part)[]): ConversationItem {
  return {
    kind,
    seq: 1,
    parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
  }
}

function thought(thinking: string, more: { model?: string; dialect?: string } = {}) {
  const item = { type: 'thinking', thinking, signature: 'c2ln' }
  return { kind: 'reasoning', seq: 1, dialect: 'messages', model: 'claude', item, ...more } as const
}

function call(call_id: string, args = '{}', name = 'read'): ConversationItem {
  return { kind: 'tool_call', seq: 1, call_id, name, arguments: args }
}

type Outcome = Extract<ConversationItem, { kind: 'tool_result' }>['outcome']

function result(call_id: string, output = 'x', outcome: Outcome = 'ok'): ConversationItem {
  return { kind: 'tool_result', seq: 1, call_id, name: 'read', outcome, output }
}

function under(params: Partial<Surface['params']>): Surface {
  return { ...surface, params: { ...surface.params, ...params } }
}

/** The content blocks, parsed from JSON. */
function blocks(items: readonly ConversationItem[], by: Surface = surface): unknown[] {
  const fixed = encode([], by).length
  return encode(items, by)
    .slice(fixed)
    .map(({ bytes }): unknown => JSON.parse(bytes.toString()))
}

describe('segments', () => {
  test('are in cache order, one per block, with seq, lifetime and Resource of their origin', () => {
    const items: ConversationItem[] = [
      { ...message('user', 'look “here”', blob('image/png')), seq: 3 },
      { ...message('developer', 'mode: build'), seq: 4 },
      { ...thought('hm'), seq: 5 },
      { ...message('assistant', 'I look.'), seq: 6 },
      { ...call('toolu_1', '{ "path":"a.txt"}'), seq: 7 },
      { ...result('toolu_1', 'x\n'), seq: 8 },
    ]
    const segments = encode(items, surface)
    const fixed = { seq: -1, lifetime: 'stable' }
    const stable = { lifetime: 'stable' }
    const facts = segments.map(({ bytes, length, bracket: _bracket, ...segment }) => {
      expect(length).toBe(bytes.length)
      return [segment, bytes.toString()]
    })
    expect(facts).toEqual([
      [
        { role: 'params', ...fixed },
        '"model":"claude","max_tokens":4096,"stream":true,"tool_choice":{"type":"auto"}',
      ],
      [
        { role: 'tool', ...fixed },
        '{"name":"bash","description":"Runs.","input_schema":{"properties":{},"type":"object"}}',
      ],
      [
        { role: 'tool', ...fixed },
        '{"name":"read","description":"Reads.","input_schema":{"required":["path"],"type":"object"}}',
      ],
      [{ role: 'system', ...fixed }, '{"type":"text","text":"Layer 0"}'],
      [{ role: 'system', ...fixed }, '{"type":"text","text":"Layer 1"}'],
      [{ role: 'user', seq: 3, ...stable }, '{"type":"text","text":"look “here”"}'],
      [
        { role: 'user', seq: 3, lifetime: 'turn', resource },
        '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"YQpi"},"transformations":{"oversized_image":"error"}}',
      ],
      [{ role: 'developer', seq: 4, ...stable }, '{"type":"text","text":"mode: build"}'],
      [
        { role: 'reasoning', seq: 5, ...stable },
        '{"signature":"c2ln","thinking":"hm","type":"thinking"}',
      ],
      [{ role: 'assistant', seq: 6, ...stable }, '{"type":"text","text":"I look."}'],
      [
        { role: 'tool_call', seq: 7, ...stable },
        '{"type":"tool_use","id":"toolu_1","name":"read","input":{ "path":"a.txt"}}',
      ],
      [
        { role: 'tool_result', seq: 8, ...stable },
        '{"type":"tool_result","tool_use_id":"toolu_1","content":"x\\n"}',
      ],
    ])
  })

  test('of a surface are encoded once, and do not share memory', () => {
    const segments = encode([message('user', 'a', 'b')], surface)
    expect(segments.every(({ bytes }) => bytes.buffer.byteLength === bytes.length)).toBe(true)
    expect(encode([], surface)[0]).toBe(segments[0])
  })

  test('of a surface contain an effort, a limit, and a choice only if there are tools', () => {
    const bare = { ...under({ effort: 'high', limits: { output_tokens: 99 } }), tools: [] }
    const [params, ...rest] = encode([], { ...bare, system: [' ', 'Be useful.'] })
    expect(params?.bytes.toString()).toBe(
      '"model":"claude","max_tokens":99,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}',
    )
    expect(rest.map(({ bytes }) => bytes.toString())).toEqual([
      '{"type":"text","text":"Be useful."}',
    ])
  })
})

describe('parts', () => {
  test.each(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])(
    'of type %s are images that the vendor may not scale down',
    (media_type) => {
      const source = { type: 'base64', media_type, data: 'YQpi' }
      const transformations = { oversized_image: 'error' }
      expect(blocks([message('user', blob(media_type))])).toEqual([
        { type: 'image', source, transformations },
      ])
    },
  )

  test('that are PDF files or text are documents under their handle', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'YQpi' }
    const csv = { type: 'text', media_type: 'text/plain', data: 'a\nb' }
    expect(
      blocks([
        message('user', blob('application/pdf', { handle: '@pdf1' })),
        message('user', blob('text/csv', { handle: '@txt2' })),
      ]),
    ).toEqual([
      { type: 'document', source: pdf, title: '@pdf1' },
      { type: 'document', source: csv, title: '@txt2' },
    ])
  })

  test('that are text without a handle are text', () => {
    const { handle: _, ...nameless } = blob('text/markdown')
    expect(blocks([message('user', nameless)])).toEqual([{ type: 'text', text: 'a\nb' }])
  })

  test('that are text are sent completely, however long they are', () => {
    const data = 'é "a"\n'.repeat(20_000)
    const named = blob('text/csv', { handle: '@txt2', bytes: Buffer.from(data) })
    const { handle: _, ...nameless } = named
    const source = { type: 'text', media_type: 'text/plain', data }
    expect(blocks([message('user', named, nameless)])).toEqual([
      { type: 'document', source, title: '@txt2' },
      { type: 'text', text: data },
    ])
  })

  test('that cannot be sent are replaced by a sentence', () => {
    const { bytes: _, ...lost } = blob('image/png')
    const items = [
      message('user', lost, blob('image/png', { bytes: Buffer.alloc(0) }), blob('image/bmp')),
      message('developer', blob('application/pdf')),
      message('assistant', blob('image/png')),
    ]
    const types = ['image/png', 'image/png', 'image/bmp', 'application/pdf', 'image/png']
    expect(blocks(items)).toEqual(
      types.map((type) => {
        return { type: 'text', text: `[@img1 is not shown: this model does not accept ${type}.]` }
      }),
    )
  })

  test('are not sent to a model that does not accept images or PDF files', () => {
    const items = [message('user', blob('image/png'), blob('application/pdf'), blob('text/plain'))]
    expect(blocks(items, under({ images: false }))).toEqual([
      { type: 'text', text: '[@img1 is not shown: this model does not accept image/png.]' },
      expect.objectContaining({ type: 'document' }),
      expect.objectContaining({ type: 'document' }),
    ])
    expect(blocks(items, under({ files: false }))).toEqual([
      expect.objectContaining({ type: 'image' }),
      { type: 'text', text: '[@img1 is not shown: this model does not accept application/pdf.]' },
      expect.objectContaining({ type: 'document' }),
    ])
  })

  test('that are blank have no block, but an empty file with a name does', () => {
    const empty = { bytes: Buffer.from(' \n') }
    const { handle: _, ...nameless } = blob('text/plain', empty)
    const items = [
      message('user', '', ' \t', nameless, blob('text/plain', empty), 'a'),
      message('developer', '\n'),
      message('assistant', ' ', 'b'),
    ]
    expect(blocks(items)).toEqual([
      { type: 'text', text: '[Content of @img1]\n \n' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ])
  })

  test('of the harness are fenced for a model that does not accept system messages', () => {
    const { handle: _, ...body } = blob('text/markdown')
    for (const late_role of ['user', 'developer', 'something']) {
      const segments = encode(
        [message('developer', 'mode: build', body)],
        under({ late_role }),
      ).slice(5)
      expect(segments.map(({ role, bytes }) => [role, bytes.toString()])).toEqual([
        ['user', '{"type":"text","text":"<harness-note>\\nmode: build\\n</harness-note>"}'],
        ['user', '{"type":"text","text":"<harness-note>\\na\\nb\\n</harness-note>"}'],
      ])
    }
  })

  test('never contain half a surrogate', () => {
    const half = 'a\uD800b'
    const items = [
      message('user', half, blob('text/plain', { handle: half })),
      message('developer', half),
      thought(half),
      message('assistant', half),
      call(half, `{"a":"${half}"}`, half),
      call('b', '{"a":"\\ud800","b":"\\ud83d\\ude00"}'),
      call('c', half),
      result(half, half),
    ]
    const bytes = buildBody(encode(items, { ...surface, model: 'claude' }), { marks: [] })
    expect(bytes.toString()).not.toMatch(/\\ud/i)
    expect(Buffer.from(bytes.toString())).toEqual(bytes)
    expect(blocks([call('b', '{"a":"\\ud800","b":"\\ud83d\\ude00"}')])).toMatchObject([
      { input: { a: '\uFFFD', b: '😀' } },
    ])
  })
})

describe('calls', () => {
  test('contain arguments byte for byte if they are an object', () => {
    for (const args of ['{}', '{ "b" : 1,\n"a":1.0e2, "a":"\\u00e4\\ud83d\\ude00" }']) {
      const [segment] = encode([call('toolu_1', args)], surface).slice(5)
      expect(segment?.bytes.toString()).toBe(
        `{"type":"tool_use","id":"toolu_1","name":"read","input":${args}}`,
      )
    }
  })

  test('contain anything else as text in an object, and nothing as an empty one', () => {
    const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`
    for (const args of ['{"path": "a', '[1]', '"a"', 'null', ' ', deep]) {
      expect(blocks([call('toolu_1', args)])).toMatchObject([
        { input: { unreadable_arguments: args } },
      ])
    }
    expect(blocks([call('toolu_1', '')])).toEqual(blocks([call('toolu_1', '{}')]))
  })

  test('and their results stay matched whatever ids a model uses', () => {
    const id = 'call|ä'.repeat(20)
    const [one, other] = blocks([call(id, '{}', 'read file'), result(id)])
    expect(one).toEqual({
      type: 'tool_use',
      id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
      name: 'read_file',
      input: {},
    })
    expect(other).toMatchObject({ tool_use_id: z.object({ id: z.string() }).parse(one).id })
  })

  test('have results that state their outcome, and are never blank', () => {
    expect(
      blocks([
        result('a', ''),
        result('b', ' \n'),
        result('c', 'no', 'failed'),
        result('d', '', 'denied'),
        result('e', 'lost', 'unknown'),
      ]),
    ).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: '[no output]' },
      { type: 'tool_result', tool_use_id: 'b', content: '[no output]' },
      ...[
        ['c', '[outcome: failed]\nno'],
        ['d', '[outcome: denied]'],
        ['e', '[outcome: unknown]\nlost'],
      ].map(([tool_use_id, content]) => {
        return { type: 'tool_result', tool_use_id, content, is_error: true }
      }),
    ])
  })
})

describe('reasoning', () => {
  const redacted = { ...thought(''), item: { type: 'redacted_thinking', data: 'x' } }

  test('is sent back as recorded, before what follows it', () => {
    expect(blocks([thought('a'), redacted, call('toolu_1')])).toMatchObject([
      { type: 'thinking', thinking: 'a', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'tool_use' },
    ])
  })

  test.each<[string, ConversationItem[]]>([
    ['of another model', [thought('a', { model: 'another' }), message('assistant', 'b')]],
    ['of another dialect', [thought('a', { dialect: 'responses' }), message('assistant', 'b')]],
    ['that nothing follows', [message('assistant', 'b'), thought('a')]],
    [
      'that only blank text follows',
      [message('assistant', 'b'), thought('a'), message('assistant', ' ')],
    ],
    [
      'that is not signed',
      [{ ...thought('a'), item: { type: 'thinking', thinking: 'a' } }, message('assistant', 'b')],
    ],
    ['of no known shape', [{ ...thought('a'), item: 'a' }, message('assistant', 'b')]],
  ])('%s is left out', (_, items) => {
    expect(blocks([message('user', 'hi'), ...items])).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'text', text: 'b' },
    ])
  })
})
