import { expect, test } from 'vitest'
import { Asking } from './asking.ts'
import type { Key } from './keys.ts'
import { Questions, type Question } from './questions.ts'

const QUESTION: Question = {
  call_id: 'c1',
  claim: { tool: 'bash', effect: 'run', paths: [], command: 'make', network: false },
  reason: 'it runs a program',
  mayGrant: true,
}
const typed = (text: string): Key => ({ kind: 'text', text })

/** A clock whose alarms are rung by hand. */
class Bell {
  #alarms = new Set<() => void>()

  readonly clock = {
    now: () => 0,
    monotonicMs: () => 0,
    after: (_ms: number, then: () => void) => {
      this.#alarms.add(then)
      return () => void this.#alarms.delete(then)
    },
  }

  ring(): void {
    const alarms = [...this.#alarms]
    this.#alarms.clear()
    for (const alarm of alarms) alarm()
  }
}

function open() {
  const questions = new Questions()
  const bell = new Bell()
  let came = 0
  const asking = new Asking(
    questions,
    bell.clock,
    () => {},
    () => {
      came += 1
    },
  )
  const interrupt = new AbortController()
  const ask = (more: Partial<Question> = {}) =>
    questions.ask({ ...QUESTION, ...more }, interrupt.signal)
  return { questions, bell, asking, interrupt, ask, came: () => came }
}

const shown = (asking: Asking) => ({
  rows: asking
    .rows(60, () => '{"command":"make\\nmake test"}')
    .map((row) => row.map(({ text }) => text).join('')),
  hint: asking
    .hint()
    .map(({ text }) => text)
    .join(''),
})

test('a question shows what would be done, and its keys as soon as they count', async () => {
  const { asking, bell, ask, came } = open()
  const answer = ask()
  expect(shown(asking)).toEqual({
    rows: ['? bash make …', '  Asked because it runs a program.', '  $ make', '    make test'],
    hint: 'A question …',
  })
  bell.ring()
  expect([shown(asking).hint, came()]).toEqual(['Allow? y once · a for this Session · n no', 1])
  expect(asking.take(typed('y'))).toBe(true)
  expect(await answer).toEqual({ allowed: true, scope: 'once', by: 'person' })
  expect([asking.waits, asking.take(typed('y'))]).toEqual([false, false])
})

test('keys of someone who goes on typing are no answer, however long that takes', async () => {
  const { asking, bell, ask } = open()
  const answer = ask()
  expect(asking.take(typed('y'))).toBe(false)
  expect(asking.take(typed('a'))).toBe(false)
  bell.ring()
  expect([asking.take({ kind: 'paste', text: 'y' }), asking.take(typed('?'))]).toEqual([
    false,
    true,
  ])
  asking.take({ kind: 'press', chord: 'escape' })
  expect(await answer).toEqual({ allowed: false, scope: 'once', by: 'person' })
})

test('a yes for the Session is offered and taken only where it may be given', async () => {
  const { asking, bell, ask } = open()
  const answer = ask({ mayGrant: false })
  bell.ring()
  expect(shown(asking).hint).toBe('Allow? y once · n no')
  expect([asking.take(typed('a')), asking.waits]).toEqual([true, true])
  asking.take(typed('N'))
  expect(await answer).toMatchObject({ allowed: false })
})

test('questions are put one after the other, and each waits for its own key', async () => {
  const { asking, bell, ask, came } = open()
  const answers = [ask(), ask({ call_id: 'c2' })]
  bell.ring()
  asking.take(typed('s'))
  expect(asking.take(typed('y'))).toBe(false)
  bell.ring()
  asking.take(typed('n'))
  expect(await Promise.all(answers)).toMatchObject([
    { allowed: true, scope: 'session' },
    { allowed: false, scope: 'once' },
  ])
  expect(came()).toBe(2)
})

test('an interrupted Turn takes its question back, and after leaving there is nobody to ask', async () => {
  const { asking, interrupt, ask } = open()
  const taken = ask()
  interrupt.abort()
  const nobody = { allowed: false, scope: 'once', by: 'nobody' }
  expect([await taken, asking.waits]).toEqual([nobody, false])
  expect(await ask()).toEqual(nobody)
  const other = open()
  const left = other.ask()
  other.asking.close()
  expect([await left, await other.ask()]).toEqual([nobody, nobody])
  expect(await new Questions().ask(QUESTION, new AbortController().signal)).toEqual(nobody)
})

test('before a Resource goes to the model, the person is asked by its handle, name and size', () => {
  const { asking, ask } = open()
  const upload = {
    handle: '@img1',
    name: 'a\u202eb.png',
    kind: 'image',
    size_bytes: 12_595,
  } as const
  void ask({
    call_id: undefined,
    claim: { tool: 'upload', effect: 'none', paths: [], network: false, upload },
    reason: 'images are sent only when asked',
    mayGrant: true,
  })
  expect(shown(asking).rows).toEqual([
    '? Send @img1 a\\u{202e}b.png (12.3 KiB) to the model?',
    '  Asked because images are sent only when asked.',
  ])
})
