import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { requestErrors } from '../../../test/support/providers/vendor-schemas.ts'
import { wireBlocks } from '../../../test/support/providers/wire-blocks.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import { BlobKey } from '../../model/ids.ts'
import type { Segment } from '../../model/segment.ts'
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

function text(words: string): Part {
  return { type: 'text', text: words, lifetime: 'stable' }
}

function blob(media_type: string): Part {
  const file = { blob: BlobKey.parse(`${'a'.repeat(64)}.png`), bytes: Buffer.from('a') }
  return { type: 'blob', media_type, handle: '@img1', lifetime: 'turn', ...file }
}

function note(words: string): string {
  return `<harness-note>\n${words}\n</harness-note>`
}

type Speaker = 'user' | 'developer' | 'assistant'

function message(kind: Speaker, ...parts: readonly (string | Part)[]): ConversationItem {
  return {
    kind,
    seq: 1,
    parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
  }
}

/** Between two Turns. */
function noted(words: string): ConversationItem {
  return { kind: 'developer', seq: 1, parts: [text(words)], between: true }
}

function thought(thinking: string): ConversationItem {
  const item = { type: 'thinking', thinking, signature: 'c2ln' }
  return { kind: 'reasoning', seq: 1, dialect: 'messages', model: 'claude', item }
}

function call(call_id: string, args = '{}'): ConversationItem {
  return { kind: 'tool_call', seq: 1, call_id, name: 'read', arguments: args }
}

function result(call_id: string, output = 'x'): ConversationItem {
  return { kind: 'tool_result', seq: 1, call_id, name: 'read', outcome: 'ok', output }
}

function under(late_role: string): Surface {
  return { ...surface, params: { ...surface.params, late_role } }
}

const Body = z.looseObject({
  messages: z.array(
    z.strictObject({
      role: z.enum(['user', 'assistant', 'system']),
      content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).min(1),
    }),
  ),
})

function bodyOf(items: readonly ConversationItem[], by: Surface = surface) {
  return Body.parse(JSON.parse(buildBody(encode(items, by), { marks: [] }).toString()))
}

/** Messages as their role and the text of their blocks, or the type of a block without text. */
function messagesOf(items: readonly ConversationItem[]): unknown[] {
  return bodyOf(items).messages.map(({ role, content }) => {
    return [role, ...content.map((block) => block.text ?? block.type)]
  })
}

describe('the body', () => {
  test('contains parameters, tools, system blocks and messages, in this order', () => {
    const items = [message('user', 'a'), message('developer', 'b'), call('c'), result('c')]
    expect(buildBody(encode(items, surface), { marks: [] }).toString()).toBe(
      '{"model":"claude","max_tokens":4096,"stream":true,"tool_choice":{"type":"auto"}' +
        ',"tools":[{"name":"bash","description":"Runs.","input_schema":{"properties":{},"type":"object"}}' +
        ',{"name":"read","description":"Reads.","input_schema":{"required":["path"],"type":"object"}}]' +
        ',"system":[{"type":"text","text":"Layer 0"},{"type":"text","text":"Layer 1"}]' +
        ',"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}' +
        ',{"role":"system","content":[{"type":"text","text":"b"}]}' +
        ',{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"read","input":{}}]}' +
        ',{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}]}',
    )
  })

  test('omits empty parts', () => {
    const bare = { ...surface, tools: [], system: [] }
    expect(buildBody(encode([], bare), { marks: [] }).toString()).toBe(
      '{"model":"claude","max_tokens":4096,"stream":true,"messages":[]}',
    )
  })

  test.each<[string, ConversationItem[], unknown[]]>([
    [
      'behind a person and before the model',
      [
        message('user', 'a'),
        message('developer', 'b', 'c'),
        message('developer', 'd'),
        message('assistant', 'e'),
      ],
      [
        ['user', 'a'],
        ['system', 'b', 'c', 'd'],
        ['assistant', 'e'],
      ],
    ],
    [
      'behind results, at the end',
      [message('user', 'a'), call('1'), result('1'), message('developer', 'b')],
      [
        ['user', 'a'],
        ['assistant', 'tool_use'],
        ['user', 'tool_result'],
        ['system', 'b'],
      ],
    ],
  ])('has a system message of the harness %s', (_, items, messages) => {
    expect(messagesOf(items)).toEqual(messages)
  })

  test.each<[string, ConversationItem[], unknown[]]>([
    [
      'at the beginning',
      [message('developer', 'a'), message('user', 'b'), message('assistant', 'c')],
      [
        ['user', note('a'), 'b'],
        ['assistant', 'c'],
      ],
    ],
    ['alone', [message('developer', 'a')], [['user', note('a')]]],
    [
      'between two Turns',
      [message('user', 'a'), noted('b'), message('user', 'c')],
      [['user', 'a', note('b'), 'c']],
    ],
    [
      'behind the model',
      [
        message('user', 'a'),
        message('assistant', 'b'),
        message('developer', 'c'),
        message('user', 'd'),
      ],
      [
        ['user', 'a'],
        ['assistant', 'b'],
        ['user', note('c'), 'd'],
      ],
    ],
    [
      'between two answers of the model',
      [
        message('user', 'a'),
        message('assistant', 'b'),
        message('developer', 'c'),
        message('assistant', 'd'),
      ],
      [
        ['user', 'a'],
        ['assistant', 'b'],
        ['user', note('c')],
        ['assistant', 'd'],
      ],
    ],
  ])('fences text of the harness among the blocks of a user %s', (_, items, messages) => {
    expect(messagesOf(items)).toEqual(messages)
  })

  test('keeps a system message without an answer, and notes that before the next user message', () => {
    const before = [message('user', 'a'), message('developer', 'b')]
    expect(
      messagesOf([...before, noted('c'), message('user', 'd'), message('developer', 'e')]),
    ).toEqual([
      ['user', 'a'],
      ['system', 'b'],
      ['assistant', '[No answer was given.]'],
      ['user', note('c'), 'd'],
      ['system', 'e'],
    ])
  })

  test('joins successive parts of one role, and begins with a person', () => {
    const items = [
      thought('a'),
      message('assistant', 'b'),
      call('1'),
      result('1'),
      message('user', 'c'),
    ]
    expect(messagesOf(items)).toEqual([
      ['user', '[The conversation before this is not shown.]'],
      ['assistant', 'thinking', 'b', 'tool_use'],
      ['user', 'tool_result', 'c'],
    ])
  })
})

describe('cache marks', () => {
  const items = [
    message('user', 'a', blob('image/png')),
    thought('b'),
    call('1'),
    result('1'),
    message('developer', 'c'),
  ]
  const plain = encode(items, surface)
  const mark = ',"cache_control":{"type":"ephemeral"}'

  /** The segments that carry a mark if one is requested after each of these counts. */
  function carriers(...after: number[]): number[] {
    const body = buildBody(plain, { marks: after.map((count) => ({ after: count })) }).toString()
    return plain.flatMap(({ bytes }, index) => {
      const block = bytes.toString().slice(0, -1)
      return body.includes(`${block}${mark}}`) ? [index] : []
    })
  }

  test('are at the end of the last block that they cover', () => {
    const all = plain.map(({ role }) => role)
    expect(all.map((_, index) => carriers(index + 1))).toEqual([
      [],
      ...[1, 2, 3, 4, 5, 6, 6, 8, 9, 10].map((index) => [index]),
    ])
  })

  test('change nothing else, and several on one block are one', () => {
    expect(carriers(3, 5, 7, 8)).toEqual([2, 4, 6])
    const marked = buildBody(plain, {
      marks: [{ after: 3 }, { after: 7 }, { after: 8 }, { after: 99 }],
    })
    expect(marked.toString().split(mark)).toHaveLength(4)
    expect(marked.toString().replaceAll(mark, '')).toBe(buildBody(plain, { marks: [] }).toString())
    expect(Body.safeParse(JSON.parse(marked.toString())).success).toBe(true)
  })

  test('are omitted if no block can have them', () => {
    expect(carriers(0, 1)).toEqual([])
  })
})

describe('of any story', () => {
  test('segments depend on their item and what precedes it, unless an answer is split', () => {
    fc.assert(
      fc.property(stories, stories, late_roles, (before, after, late_role) => {
        const by = under(late_role)
        const first = encode(before, by)
        const rest = encode(after, by, first.at(-1)).slice(encode([], by).length)
        const plain = (segments: readonly Segment[]) =>
          segments.map(({ role, bracket, bytes }) => [role, bracket.toString(), bytes.toString()])
        expect(plain(encode([...before, ...after], by))).toEqual(plain([...first, ...rest]))
      }),
      { numRuns: 100 },
    )
  })

  test('a block that was sent stays in its message, with its role, whatever follows', () => {
    fc.assert(
      fc.property(stories, stories, late_roles, (before, after, late_role) => {
        const blocks = (items: readonly ConversationItem[]) =>
          wireBlocks('messages', buildBody(encode(items, under(late_role)), { marks: [] }))
        const sent = blocks(before)
        expect(blocks([...before, ...after]).slice(0, sent.length)).toEqual(sent)
      }),
      { numRuns: 100 },
    )
  })

  test('the body is valid for the vendor', () => {
    fc.assert(
      fc.property(stories, late_roles, (items, late_role) => {
        const body = bodyOf(items, under(late_role))
        expect(requestErrors('messages', body)).toEqual([])
        const { messages } = body
        expect(messages[0]?.role ?? 'user').toBe('user')
        for (const [index, { role, content }] of messages.entries()) {
          const before = messages[index - 1]
          const after = messages[index + 1]
          expect(role).not.toBe(before?.role)
          if (role === 'system') {
            expect([before?.role, after?.role ?? 'assistant']).toEqual(['user', 'assistant'])
          }
          const calls = before?.content.filter(({ type }) => type === 'tool_use') ?? []
          const answered = content.filter(({ type }) => type === 'tool_result')
          expect(content.slice(0, answered.length)).toEqual(answered)
          expect(answered.map((one) => one['tool_use_id'])).toEqual(calls.map((one) => one['id']))
        }
      }),
      { numRuns: 100 },
    )
  })
})

const late_roles = fc.constantFrom('system', 'user')
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('a', ' ', 'b', '"\\'),
)
const parts = fc.array(
  fc.oneof(
    words.map(text),
    fc
      .constantFrom('image/png', 'text/plain', 'application/pdf', 'audio/wav')
      .map((type) => blob(type)),
  ),
  { maxLength: 3 },
)

function itemOfKind(kind: Speaker): fc.Arbitrary<ConversationItem> {
  return parts.map((all) => message(kind, ...all))
}

/** Calls are at the end of an answer, directly followed by their results; an answer without calls is followed by a user. */
const answers = fc
  .tuple(
    fc.array(
      fc.oneof(
        words.map((one) => thought(one)),
        itemOfKind('assistant'),
      ),
      { maxLength: 3 },
    ),
    fc.array(fc.tuple(words, words), { maxLength: 3 }),
  )
  .map(([before, calls]): ConversationItem[] => [
    ...before,
    ...calls.map(([id, args], index) => call(`${id}${index}`, args)),
    ...calls.map(([id, output], index) => result(`${id}${index}`, output)),
    ...(calls.length === 0 ? [message('user', 'go on')] : []),
  ])

const stories = fc
  .array(
    fc.oneof(
      itemOfKind('user').map((item) => [item]),
      itemOfKind('developer').map((item) => [item]),
      answers,
    ),
    { maxLength: 6 },
  )
  .map((all) => all.flat())
