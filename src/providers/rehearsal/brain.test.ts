import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { random } from '../../../test/support/random.ts'
import { canonicalJson } from '../../encoding/json.ts'
import { think } from './brain.ts'
import type { Call } from './english/reading.ts'
import type { RehearsalRequest, RehearsalSegment } from './schema.ts'

const Calls = z.array(
  z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
)

/** `written` says when: before the rules, after them without a look at them, or after they were mended for those. */
const Vector = z
  .looseObject({
    written: z.enum(['before', 'after', 'held out']),
    say: z.string(),
    calls: Calls,
  })
  .transform(({ written, say, calls, ...more }) => {
    const later = z.array(Calls).default([]).parse(more['then'])
    return { written, say, rounds: [calls, ...later].filter((round) => round.length > 0) }
  })
type Vector = z.output<typeof Vector>

const file = new URL('../../../test/vectors/rehearsal-requests.json', import.meta.url)
const vectors = z.array(Vector).parse(JSON.parse(readFileSync(file, 'utf8')))

const TOOLS = ['bash', 'edit', 'glob', 'grep', 'read', 'update_plan', 'write']

function opening(say: string, tools: readonly string[] = TOOLS): RehearsalSegment[] {
  return [
    { role: 'params', model: 'rehearsal', contract_version: 'hw1', tool_choice: 'auto' },
    ...tools.map((name) => ({ role: 'tool' as const, name, description: '', parameters: {} })),
    { role: 'system', text: 'Be useful.' },
    user(say),
  ]
}

function user(text: string): RehearsalSegment {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

function said(role: 'assistant' | 'developer', text: string): RehearsalSegment {
  return { role, parts: [{ type: 'text', text }] }
}

function thinkOf(...segments: RehearsalSegment[]) {
  const request: RehearsalRequest = { dialect: 'rehearsal', segments }
  return think(request)
}

type Outcome = Extract<RehearsalSegment, { role: 'tool_result' }>['outcome']

function answered(
  calls: readonly Call[],
  outcome: Outcome = 'ok',
  output = 'fine\n',
): RehearsalSegment[] {
  const made = calls.map((call) => ({ ...call, call_id: `call ${canonicalJson(call)}` }))
  return [
    ...made.map(({ call_id, name, arguments: args }) => {
      return { role: 'tool_call' as const, call_id, name, arguments: canonicalJson(args) }
    }),
    ...made.map(({ call_id, name }) => {
      return { role: 'tool_result' as const, call_id, name, outcome, output }
    }),
  ]
}

/** Every round of calls that a text leads to, when all of them go well. */
function rounds(say: string): Call[][] {
  const segments = opening(say)
  const all: Call[][] = []
  for (;;) {
    const { calls } = thinkOf(...segments)
    if (calls.length === 0) return all
    all.push([...calls])
    segments.push(...answered(calls))
  }
}

test('there are 120 requests, half of them written after the rules, and more held out', () => {
  const count = (written: Vector['written']) =>
    vectors.filter((vector) => vector.written === written).length
  expect([count('before'), count('after')]).toEqual([60, 60])
  expect(count('held out')).toBeGreaterThanOrEqual(40)
  expect(new Set(vectors.map(({ say }) => say)).size).toBe(vectors.length)
})

test.each(vectors)('the right calls follow from $say', (vector) => {
  expect(rounds(vector.say)).toEqual(vector.rounds)
})

test('other names in the same sentences lead to the same calls with those names', () => {
  const named = vectors.filter((vector) => namesIn(vector).length > 0)
  fc.assert(
    fc.property(fc.constantFrom(...named), fc.nat(), (vector, seed) => {
      const renamed = rename(vector, seed)
      expect(rounds(renamed.say)).toEqual(renamed.rounds)
    }),
    { numRuns: 500 },
  )
})

/** Paths and patterns that stand in the sentence as they stand in the arguments. */
function namesIn({ say, rounds: wanted }: Vector): string[] {
  const names = wanted.flat().flatMap(({ name, arguments: { path, pattern } }) => {
    const bare = typeof pattern === 'string' ? pattern.replace(/^\*\*\//, '') : ''
    const isName = name === 'grep' ? /^\w+$/ : /^[\w-]+\.[\w.-]+$/
    return [...(typeof path === 'string' ? [path] : []), ...(isName.test(bare) ? [bare] : [])]
  })
  // A file without an extension is known by its customary name, so it has to keep it.
  const customary = /^(?:[A-Z][a-z]+|[A-Z]+)$/
  return [...new Set(names)].filter((name) => !customary.test(name) && whole(name).test(say))
}

function whole(name: string): RegExp {
  const literally = name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  return new RegExp(`(?<![\\w/.~-])${literally}(?![\\w-]|[./]\\w)`, 'g')
}

/** The vector with other letters in its names, of the same case. */
function rename(vector: Vector, seed: number): Vector {
  const chance = random(seed)
  const letters = (like: string) => {
    const word = Array.from({ length: 5 + chance.below(4) }, () =>
      'bcdfghjklmnpqrstvwxz'.charAt(chance.below(20)),
    ).join('')
    if (like === like.toUpperCase()) return word.toUpperCase()
    return /^[A-Z]/.test(like) ? word.charAt(0).toUpperCase() + word.slice(1) : word
  }
  const others = namesIn(vector).map((name) => {
    return { name, other: name.replaceAll(/[A-Z]?[a-z]+|[A-Z]+/g, letters) }
  })
  const inText = (text: string) => {
    const marked = others.reduce(
      (before, { name }, index) => before.replaceAll(whole(name), `⟦${index}⟧`),
      text,
    )
    return marked.replaceAll(/⟦(\d+)⟧/g, (_, index: string) => others[Number(index)]?.other ?? '')
  }
  const inValue = (value: unknown) => {
    if (typeof value !== 'string') return value
    return value.startsWith('**/') ? `**/${inText(value.slice(3))}` : inText(value)
  }
  const inCall = ({ name, arguments: args }: Call) => ({
    name,
    arguments: Object.fromEntries(
      Object.entries(args).map(([key, value]) => [key, inValue(value)]),
    ),
  })
  return {
    ...vector,
    say: inText(vector.say),
    rounds: vector.rounds.map((round) => round.map(inCall)),
  }
}

test('whatever is said, an answer comes, and the same one twice', () => {
  const words = fc.constantFrom(
    ...'read write to in with and then not the file a.txt `ls` "x y" “q” src/ *.ts for find'.split(
      ' ',
    ),
    ..."search replace run don't , . : \n ``` ' where is what 10 lines of it \uE000 \uE805".split(
      ' ',
    ),
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(words, { maxLength: 30 }).map((all) => all.join(' ')),
  )
  fc.assert(
    fc.property(texts, (say) => {
      const thought = thinkOf(...opening(say))
      expect(thought.text).not.toBe('')
      expect(thinkOf(...opening(say))).toEqual(thought)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['words of order', 'please '.repeat(280)],
  ['joints', `read ${'a and '.repeat(300)}`],
  ['prepositions', `find x ${'in '.repeat(600)}`],
  ['lines', 'a\n'.repeat(20_000)],
  ['sentences', 'Read the docs. '.repeat(3000)],
  ['brackets', `${'[ '.repeat(400)}x${' ]'.repeat(400)}`],
])(
  'a text of nothing but %s is read in passable time',
  (_, say) => {
    expect(thinkOf(...opening(say)).text).not.toBe('')
  },
  5000,
)

const READ: Call = { name: 'read', arguments: { path: 'a.txt' } }
const RUN: Call = { name: 'bash', arguments: { command: 'ls' } }

test('what came back is reported with its outcome and the head of its output', () => {
  const output = Array.from({ length: 30 }, (_, line) => `line ${line + 1}\n`).join('')
  const { text, calls } = thinkOf(...opening('read a.txt'), ...answered([READ], 'ok', output))
  expect(calls).toEqual([])
  expect(text).toContain('read a.txt')
  expect(text).toContain('> line 1\n')
  expect(text).toContain('22 more lines')
  expect(text).not.toContain('line 20')
})

test('every result of several calls is reported', () => {
  const segments = [...opening('read a.txt and run `ls`'), ...answered([READ, RUN])]
  const { text } = thinkOf(...segments)
  expect(text).toContain('read a.txt')
  expect(text).toContain('run “ls”')
})

test('what waits for a call that did not go well is not tried, and that is said', () => {
  for (const outcome of ['failed', 'denied', 'unknown'] as const) {
    const first = answered([READ], outcome, 'no')
    const { text, calls } = thinkOf(...opening('read a.txt and then run `ls`'), ...first)
    expect(calls).toEqual([])
    expect(text).toContain('I have not tried to run “ls”')
  }
})

test('a call without a result is reported as such', () => {
  const [call] = answered([READ])
  const { text, calls } = thinkOf(...opening('read a.txt'), ...(call === undefined ? [] : [call]))
  expect(calls).toEqual([])
  expect(text).toContain('nothing has come back')
})

test('a tool that is not offered is named and not called', () => {
  const { text, calls } = thinkOf(...opening('read a.txt and run `ls`', ['read']))
  expect(calls).toEqual([READ])
  expect(text).toContain('bash')
  const nothing = thinkOf(...opening('run `ls`', ['read']))
  expect(nothing.calls).toEqual([])
  expect(nothing.text).toContain('bash')
})

test('no tool is called where the request forbids it', () => {
  const [, ...rest] = opening('read a.txt')
  const params = {
    role: 'params' as const,
    model: 'm',
    contract_version: 'hw1',
    tool_choice: 'none',
  }
  expect(thinkOf(params, ...rest).calls).toEqual([])
})

test('a person who steers after results gives a new task', () => {
  const steered = [
    ...opening('read a.txt and then run `pwd`'),
    ...answered([READ]),
    user('run `ls`'),
  ]
  expect(thinkOf(...steered).calls).toEqual([RUN])
  const { text, calls } = thinkOf(...steered, ...answered([RUN]))
  expect(calls).toEqual([])
  expect(text).not.toContain('a.txt')
})

test('what is shown after results without asking for anything does not end the task', () => {
  const note = user('[View of @img1, by model: shown for this Turn]')
  const segments = [...opening('read a.txt, then run `ls`'), ...answered([READ]), note]
  expect(thinkOf(...segments).calls).toEqual([RUN])
})

test('a Turn that is over is not taken up again', () => {
  const over = [...opening('read a.txt'), ...answered([READ]), said('assistant', 'Done.')]
  expect(thinkOf(...over, user('Thank you!')).text).toContain('Thank you!')
  const cut = [...opening('read a.txt'), ...answered([READ]), said('developer', '[interrupted]')]
  expect(thinkOf(...cut, user('Never mind.')).text).toContain('Never mind.')
})

test('"it" is the file of the Turn before', () => {
  const over = [...opening('read a.txt'), ...answered([READ]), said('assistant', 'Done.')]
  expect(thinkOf(...over, user('Now change foo to bar in it.')).calls).toEqual([
    { name: 'edit', arguments: { path: 'a.txt', old_text: 'foo', new_text: 'bar' } },
  ])
})

test('facts about here and now are no request', () => {
  const late = said('developer', 'Run `rm -rf /` in the workspace.')
  expect(thinkOf(...opening('read a.txt'), late).calls).toEqual([READ])
})

test.each([
  'Who are you?',
  'What can you do?',
  'Are you a real AI?',
  'help',
  'which model is this?',
])('asked "%s" it says that it follows rules and does not think', (say) => {
  const { text, calls } = thinkOf(...opening(say))
  expect(calls).toEqual([])
  expect(text).toContain('I am the rehearsal model: I follow rules, I do not think')
  expect(text).toContain('grep')
})

test('without a task it says what it received, parts that are not text included', () => {
  const { text, calls } = thinkOf(...opening('Lovely day.').slice(0, -1), {
    role: 'user',
    parts: [
      { type: 'text', text: 'Lovely day.' },
      { type: 'blob', media_type: 'image/png', handle: '@img1', data: '' },
      { type: 'other', of: 'document' },
    ],
  })
  expect(calls).toEqual([])
  expect(text).toContain('“Lovely day.”')
  expect(text).toContain('@img1 and document')
})

test.each([
  ['Delete a.txt', 'none for deleting'],
  ['Add a line "x" to a.txt', 'none for adding'],
  ['Write a poem about the sea to sea.txt', 'what to write into sea.txt'],
  ['Run the tests', 'which command'],
  ['Replace foo with bar', 'which file'],
])('"%s" is not guessed at', (say, lack) => {
  const { text, calls } = thinkOf(...opening(say))
  expect(calls).toEqual([])
  expect(text).toContain(lack)
})

test('a request without anything said gets an answer too', () => {
  expect(thinkOf().text).toContain('I received no text')
})
