import { expect, test } from 'vitest'
import { sampleDescriptor } from '../../test/support/history/sample-resources.ts'
import { value } from '../../test/support/log/story.ts'
import { toolWorld, type WorldOptions } from '../../test/support/skills/tool-world.ts'
import { failed, ok } from '../model/errors.ts'
import type {
  EventPage,
  HistoryFindings,
  HistoryMatch,
  HistorySearch,
} from '../model/events/event-search.ts'
import { historySearch } from './history-search.ts'
import type { ToolContext, ToolResources } from './tool.ts'

interface World extends Pick<WorldOptions, 'outputBytes' | 'signal'> {
  readonly findings?: Partial<HistoryFindings>
  readonly text?: string
  readonly page?: Partial<EventPage>
  readonly resources?: Partial<ToolResources>
}

async function call(args: object, world: World = {}) {
  const { findings, text = '', page, resources, ...options } = world
  const searches: HistorySearch[] = []
  const { context, close } = await toolWorld({
    ...options,
    history: {
      searchHistory: async (search) => {
        searches.push(search)
        return ok({
          matches: [],
          matchCount: 0,
          isCounted: true,
          turns: 9,
          unread: [],
          ...findings,
        })
      },
      readEvent: async (seq, { offset, length }) => {
        const part = text.slice(offset, offset + length)
        return ok({ seq, type: 'tool_result', text: part, characters: text.length, ...page })
      },
    },
  })
  const own: ToolContext = { ...context, resources: { ...context.resources, ...resources } }
  const outcome = await value(historySearch.parse(JSON.stringify(args))).run(own)
  await close()
  return { outcome, output: outcome.output, searches }
}

const match = (more: Partial<HistoryMatch> = {}): HistoryMatch => ({
  seq: 12,
  turn: 3,
  type: 'user_message',
  field: 'text',
  text: 'the harbour code is 7421',
  start: 4,
  end: 11,
  ...more,
})

test('each match is a line with its Turn, its Event, its source and its field', async () => {
  const findings = {
    matchCount: 5,
    matches: [
      match(),
      match({ type: 'tool_result', tool: 'bash', field: 'output' }),
      match({ type: 'tool_call', tool: 'grep', field: 'arguments.pattern' }),
      match({ type: 'text_pinned', turn: undefined }),
      match({
        type: 'user_message',
        field: 'resources.0.content',
        resource: sampleDescriptor('@txt1'),
      }),
    ],
  }
  const { outcome, output } = await call({ query: 'harbour' }, { findings })
  expect(output).toBe(
    [
      'Turn 3, Event 12, person, text: the harbour code is 7421',
      'Turn 3, Event 12, result of bash, output: the harbour code is 7421',
      'Turn 3, Event 12, call of grep, arguments.pattern: the harbour code is 7421',
      'Event 12, pinned text, text: the harbour code is 7421',
      'Turn 3, Event 12, person, content of @txt1: the harbour code is 7421',
      '[5 matches, newest first.]\n',
    ].join('\n'),
  )
  expect(outcome).toEqual({ outcome: 'ok', output })
})

test('plain text is literal and case-insensitive, unless the call says otherwise', async () => {
  const patternOf = async (args: object) => (await call(args)).searches[0]?.pattern
  expect(await patternOf({ query: 'a.b' })).toEqual(/a\.b/iu)
  expect(await patternOf({ query: 'a.b', ignore_case: false })).toEqual(/a\.b/u)
  expect(await patternOf({ query: 'a.b', regex: true })).toEqual(/a.b/iu)
})

test('a Turn, an Event and a limit are passed on; 20 is the default and 100 the maximum', async () => {
  const { searches } = await call({ query: 'x', turn: 3, seq: 7, limit: 100 })
  expect(searches).toMatchObject([{ turn: 3, seq: 7, limit: 100 }])
  expect((await call({ query: 'x' })).searches).toMatchObject([{ limit: 20 }])
  expect(historySearch.parse('{"query":"x","limit":101}').ok).toBe(false)
})

test('the last line states how many more matches there are, and how to narrow', async () => {
  const more = { matchCount: 143, matches: [match()] }
  const { outcome, output } = await call({ query: 'x' }, { findings: more })
  expect(output).toContain('[1 of 143 matches, newest first; narrow the query, or pass turn')
  expect(outcome.truncated).toBe(true)
  const many = { matchCount: 1000, isCounted: false, matches: [match()] }
  expect((await call({ query: 'x' }, { findings: many })).output).toContain('1 of 1,000 or more')
})

test('the output has a limit, and states how many matches it shows', async () => {
  const matches = Array.from({ length: 100 }, () => match({ text: 'x'.repeat(240) }))
  const { output } = await call(
    { query: 'x', limit: 100 },
    { outputBytes: 2_000, findings: { matchCount: 100, matches } },
  )
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(2_000)
  expect(output).toMatch(/\[5 of 100 matches/)
})

test('a search without matches states what was searched', async () => {
  expect((await call({ query: 'x' })).output).toBe('[No matches in 9 Turns.]\n')
})

test('a search that stopped reports how far it came; without a match it failed', async () => {
  const stop = { turn: 4, why: 'timeout' } as const
  const some = await call({ query: 'x' }, { findings: { matchCount: 1, matches: [match()], stop } })
  expect(some.outcome.outcome).toBe('ok')
  expect(some.output).toContain(
    'The search stopped in Turn 4 of 9 at its time limit; what is older',
  )
  const none = await call({ query: 'x' }, { findings: { stop } })
  expect(none.outcome).toMatchObject({ outcome: 'failed', error: { kind: 'timeout' } })
  expect(none.output).toContain('in Turn 4 of 9')
  const complex = await call({ query: 'x' }, { findings: { stop: { why: 'too_complex' } } })
  expect(complex.output).toContain('because the regular expression is too complex')
})

test('what could not be searched is reported', async () => {
  const unread = [
    ...[3, 3, 4, 5, 6, 7, 8].map((seq) => ({ seq, why: 'damaged' as const })),
    { seq: 9, why: 'dropped' as const },
  ]
  const { error: damage } = failed('log_damaged', 'The Log is damaged at byte 7.')
  const { output } = await call({ query: 'x' }, { findings: { unread, damage } })
  expect(output).toBe(
    '[No matches in 9 Turns. Not searched, because stored text is lost: Events 3, 4, 5, 6, 7 and 1 more. Not searched, because it is not shown again: 1 attachment. Older Events cannot be read: The Log is damaged at byte 7.]\n',
  )
})

test('lines of an attachment are shown only if the attachment may be sent and has no key', async () => {
  const text = { kind: 'text', media_type: 'text/plain' }
  const [open, denied, keyed] = ['@txt1', '@txt2', '@txt3'].map((handle) =>
    sampleDescriptor(handle, text),
  )
  const asked: string[] = []
  const matches = [open, denied, denied, keyed].map((resource) => match({ resource }))
  const { output } = await call(
    { query: 'harbour' },
    {
      findings: { matchCount: 4, matches },
      resources: {
        mayShow: async ({ handle }) => {
          asked.push(handle)
          return ok({ isAllowed: handle !== '@txt2', reason: '' })
        },
        holdsKey: async ({ blob }) => keyed?.kind === 'text' && blob === keyed.blob,
      },
    },
  )
  expect(asked).toEqual(['@txt1', '@txt2', '@txt3'])
  expect(output.match(/content of @txt\d/g)).toEqual(['content of @txt1'])
  expect(output).toContain('Matches in @txt2, @txt3 are not shown: sending them was not permitted.')
})

test('the text of an Event is read in pages that join without a gap', async () => {
  const text = Array.from({ length: 900 }, (_, at) => `${at} 😀é\n`).join('')
  let read = ''
  let offset = 0
  for (;;) {
    const { output, outcome } = await call({ seq: 57, offset }, { text, outputBytes: 1_000 })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1_000)
    const lines = output.split('\n')
    const last = lines.at(-2) ?? ''
    const [, to = '0'] =
      /^\[Event 57, result of a tool: characters [\d,]+ to ([\d,]+) of/.exec(last) ?? []
    read += text.slice(offset, Number(to.replaceAll(',', '')))
    expect(output.startsWith(text.slice(offset, offset + 100))).toBe(true)
    if (outcome.truncated !== true) break
    offset = Number(/continue with offset (\d+)/.exec(last)?.[1])
    expect(offset).toBe(read.length)
  }
  expect(read).toBe(text)
})

test('a short text is read at once; a lost whole output is reported', async () => {
  const page = { turn: 2, tool: 'bash' }
  const { outcome } = await call({ seq: 5 }, { text: 'done', page })
  expect(outcome).toEqual({
    outcome: 'ok',
    output: 'done\n[Turn 2, Event 5, result of bash: all 4 characters.]\n',
  })
  const lost = await call({ seq: 5 }, { text: 'done', page: { ...page, unread: 'damaged' } })
  expect(lost.output).toContain('The whole output is damaged; this is a part of it.')
})

test('an interrupted call searches nothing', async () => {
  const { outcome, searches } = await call({ query: 'x' }, { signal: AbortSignal.abort() })
  expect(outcome.error?.kind).toBe('interrupted')
  expect(searches).toEqual([])
})
