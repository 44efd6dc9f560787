import { expect, test } from 'vitest'
import { think } from './brain.ts'
import type { RehearsalSegment } from './schema.ts'

const TOOLS = ['attach', 'bash', 'read', 'resource_view', 'write'].map((name): RehearsalSegment => {
  return { role: 'tool', name, description: '', parameters: {} }
})

function user(...texts: readonly string[]): RehearsalSegment {
  return { role: 'user', parts: texts.map((text) => ({ type: 'text', text })) }
}

const HELLO: RehearsalSegment = { role: 'assistant', parts: [{ type: 'text', text: 'Hello.' }] }

/** A Session to which these were attached on an earlier Turn. */
const EARLIER = [
  user(
    'Hello',
    '[@img1: image, "a.png", image/png, 68 bytes]',
    '[@pdf2: pdf, "b.pdf", application/pdf, 900 bytes, 5 pages]',
    '[@txt3: text, "c.txt", text/plain, 80 bytes, 40 lines]',
  ),
  HELLO,
]

function thinkOf(...segments: readonly RehearsalSegment[]) {
  return think({ dialect: 'rehearsal', segments: [...TOOLS, ...segments] })
}

function viewsAfter(say: string): unknown[] {
  return thinkOf(...EARLIER, user(say)).calls.map(({ name, arguments: { reason, ...args } }) => {
    expect([name, say.toLowerCase().includes(String(reason).toLowerCase().slice(0, 10))]).toEqual([
      'resource_view',
      true,
    ])
    return args
  })
}

test.each([
  ['View @img1', { handle: '@img1' }],
  ['view @img1, please', { handle: '@img1' }],
  ['Look at @img1 again', { handle: '@img1' }],
  ['Look at @img1 again and tell me what you see.', { handle: '@img1' }],
  ['Look at @img1 again: what is on the left?', { handle: '@img1' }],
  ['Could you take another look at @img1?', { handle: '@img1' }],
  ['Please open @pdf2 again', { handle: '@pdf2' }],
  ['Read @txt3', { handle: '@txt3' }],
  ['View pages 2 to 3 of @pdf2', { handle: '@pdf2', pages: { from: 2, to: 3 } }],
  ['View page 4 of @pdf2', { handle: '@pdf2', pages: { from: 4, to: 4 } }],
  ['Look at @pdf2, pages 2-3', { handle: '@pdf2', pages: { from: 2, to: 3 } }],
  ['View lines 10 to 20 of @txt3', { handle: '@txt3', lines: { from: 10, to: 20 } }],
  ['Show me line 7 of @txt3', { handle: '@txt3', lines: { from: 7, to: 7 } }],
  [
    'View the region 0,0 100x50 of @img1',
    { handle: '@img1', region: { x: 0, y: 0, width: 100, height: 50 } },
  ],
  ['View @img1 at 64x32', { handle: '@img1', size: { width: 64, height: 32 } }],
  ['Look at the picture again', { handle: '@img1' }],
  ['Show me the document once more', { handle: '@txt3' }],
])('"%s" is a view', (say, view) => {
  expect(viewsAfter(say)).toEqual([view])
})

test('several views are requested at once', () => {
  expect(viewsAfter('Look at @img1 and @pdf2 again')).toEqual([
    { handle: '@img1' },
    { handle: '@pdf2' },
  ])
  expect(viewsAfter('View pages 1 to 2 of @pdf2 and view lines 3 to 4 of @txt3')).toEqual([
    { handle: '@pdf2', pages: { from: 1, to: 2 } },
    { handle: '@txt3', lines: { from: 3, to: 4 } },
  ])
})

test.each([
  'Don’t view @img1',
  'I viewed @img1 yesterday',
  'Compare @img1 and @pdf2',
  'Hello @img1',
])('"%s" is no view', (say) => {
  expect(thinkOf(...EARLIER, user(say)).calls).toEqual([])
})

test('the reason of a view is the text of the person, shortened', () => {
  const reason = (say: string) => thinkOf(...EARLIER, user(say)).calls[0]?.arguments['reason']
  expect(reason('View @img1 for “the sake” of it.')).toBe('View @img1 for “the sake” of it')
  expect(String(reason(`View @img1 ${'again '.repeat(200)}`)).length).toBeLessThanOrEqual(200)
})

test('a visible Resource is not viewed again, unless a part of it is requested', () => {
  const shown: RehearsalSegment = {
    role: 'user',
    parts: [
      { type: 'text', text: '[View of @img1, by person: shown for this Turn]' },
      { type: 'blob', media_type: 'image/png', handle: '@img1', data: '' },
    ],
  }
  expect(thinkOf(...EARLIER, user('View @img1'), shown).calls).toEqual([])
  expect(thinkOf(...EARLIER, user('View @img1 at 8x8'), shown).calls.length).toBe(1)
  expect(
    thinkOf(...EARLIER, user('View @img1 and @pdf2'), shown).calls.map(
      ({ arguments: { handle } }) => handle,
    ),
  ).toEqual(['@pdf2'])
})

test('a view is a separate step if the text says so, and does not end the task', () => {
  const request = [...EARLIER, user('View @img1, then run `ls`.')]
  const call = { call_id: 'c', name: 'resource_view' }
  const viewed: RehearsalSegment[] = [
    { role: 'tool_call', ...call, arguments: '{"handle":"@img1","reason":"x"}' },
    { role: 'tool_result', ...call, outcome: 'ok', output: 'shown' },
    user('[View of @img1, by model: shown for this Turn]'),
  ]
  expect(thinkOf(...request).calls.map(({ name }) => name)).toEqual(['resource_view'])
  expect(thinkOf(...request, ...viewed).calls.map(({ name }) => name)).toEqual(['bash'])
})

test('a view that did not succeed is reported as such', () => {
  const call = { call_id: 'c', name: 'resource_view' }
  const { text, calls } = thinkOf(
    ...EARLIER,
    user('View pages 2 to 3 of @pdf2'),
    {
      role: 'tool_call',
      ...call,
      arguments: '{"handle":"@pdf2","pages":{"from":2,"to":3},"reason":"x"}',
    },
    { role: 'tool_result', ...call, outcome: 'failed', output: 'its payload is missing' },
    user('[View of @pdf2, pages 2 to 3, by model: cannot be shown: its payload is missing]'),
  )
  expect(calls).toEqual([])
  expect(text).toContain('Failed: view pages 2 to 3 of @pdf2: its payload is missing')
})

test('if the tool is not offered, it is named and not called', () => {
  const { text, calls } = think({
    dialect: 'rehearsal',
    segments: [...EARLIER, user('View @img1')],
  })
  expect(calls).toEqual([])
  expect(text).toContain('resource_view')
})

test('text of the harness about attachments is not a request', () => {
  const warning = [
    '2 attachments were rejected and cannot be seen.',
    'Rejected attachments:',
    '- read.zip: run `ls` to see notes.txt',
    '- notes.txt: it is not there',
  ].join('\n')
  const link = '[@link9: link, "https://a.example/read/a.txt", the target was not fetched]'
  const together = [warning, 'Read b.txt', link].join('\n\n')
  for (const request of [user(together), user(warning, 'Read b.txt', link)])
    expect(thinkOf(request).calls).toEqual([{ name: 'read', arguments: { path: 'b.txt' } }])
  expect(thinkOf(user(warning)).calls).toEqual([])
  expect(thinkOf(user(`${warning}\n\nWhat do you see?\n\n${link}`)).text).toContain(link)
})
