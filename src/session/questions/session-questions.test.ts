import { expect, test } from 'vitest'
import {
  askedQuestions,
  permissionQuestion,
  SECRET,
  SESSION,
  TURN,
} from '../../../test/support/session/asked-questions.ts'
import { virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { TurnId } from '../../model/ids.ts'
import { verdictDraft } from '../../turn/parts/verdict.ts'

const WAIT_MS = 120_000
const YES = { isAllowed: true, scope: 'once', by: 'person' }
const NO = { isAllowed: false, scope: 'once', by: 'person' }
const TIMEOUT = { isAllowed: false, scope: 'once', by: 'timeout' }
const INTERRUPTED = { isAllowed: false, scope: 'once', by: 'interrupt' }
const OTHER_TURN = TurnId.parse(`trn_${'1'.repeat(26)}`)

function open(waitMs = WAIT_MS) {
  const clock = virtualClock()
  const { questions, published } = askedQuestions(clock, waitMs)
  const interrupt = new AbortController()
  const ask = (asked = permissionQuestion(), turn = TURN) =>
    questions.ask(turn, asked, interrupt.signal)
  /** Reports that the decision about a question is durable. */
  const record = ({ about } = permissionQuestion(), outcome: Result<void> = ok(undefined)) => {
    const { data } = verdictDraft(about, { isAllowed: true, scope: 'once', by: 'person' })
    questions.noteRecord(data, outcome)
  }
  return { clock, questions, published, interrupt, ask, record }
}

/** Whether a promise is settled, after all work that is due. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.finally(() => {
    settled = true
  })
  await new Promise((resolve) => void setImmediate(resolve))
  return settled
}

function aboutCall(call_id: string): ReturnType<typeof permissionQuestion> {
  const { about } = permissionQuestion()
  return permissionQuestion({ about: { ...about, call_id } })
}

const failure = (result: Result<void>) => (result.ok ? 'ok' : result.error.kind)

test('open questions are listed in order, and each can be answered, the last one first too', async () => {
  const { questions, ask } = open()
  questions.attach()
  const answers = [ask(aboutCall('c1')), ask(aboutCall('c2')), ask(aboutCall('c3'))]
  expect(questions.open.map(({ call_id, request_id }) => [call_id, request_id])).toEqual([
    ['c1', 'req_1'],
    ['c2', 'req_2'],
    ['c3', 'req_3'],
  ])
  void questions.answer('req_3', { choice: 2, text: 'later' })
  void questions.answer('req_1', { choice: 1 })
  expect(questions.open.map(({ call_id }) => call_id)).toEqual(['c2'])
  void questions.answer('req_2', { choice: 2 })
  expect(await Promise.all(answers)).toEqual([YES, NO, { ...NO, reason: 'later' }])
})

test('a question contains everything that a person needs to answer, and no function', () => {
  const { questions, ask } = open()
  questions.attach()
  const rule = { kind: 'prefix', answer: 'allow', words: ['npm', 'test'] } as const
  const upload = { handle: '@img1', name: 'a.png', kind: 'image', size_bytes: 3 } as const
  void ask(
    permissionQuestion({
      claim: { tool: 'bash', effect: 'run', paths: ['sub'], network: true, upload },
      diff: '--- a\n+++ b\n',
      offers: [{ rule, scopes: ['session'], reword: () => ok(rule) }],
    }),
  )
  const expected = {
    request_id: 'req_1',
    call_id: 'c1',
    subject: 'bash',
    tool: 'bash',
    effect: 'run',
    paths: ['sub'],
    network: true,
    arguments: '{"command":"npm test"}',
    diff: '--- a\n+++ b\n',
    upload,
    reason: 'it runs a program',
    choices: [
      { number: 1, decision: 'allowed', scope: 'once' },
      { number: 2, decision: 'allowed', scope: 'session', rule },
      { number: 3, decision: 'denied', scope: 'once' },
    ],
  }
  expect(questions.open).toMatchObject([expected])
  expect(structuredClone(questions.open)).toEqual(questions.open)
})

test('the first answer counts: a second one is question_closed, and an unknown id is not_found', async () => {
  const { questions, ask, record } = open()
  questions.attach()
  const asked = ask()
  const first = questions.answer('req_1', { choice: 1 })
  expect(failure(await questions.answer('req_1', { choice: 2 }))).toBe('question_closed')
  record()
  expect([await asked, failure(await first)]).toEqual([YES, 'ok'])
  expect(failure(await questions.answer('req_1', { choice: 2 }))).toBe('question_closed')
  expect(failure(await questions.answer('req_2', { choice: 1 }))).toBe('not_found')
  expect([questions.knows('req_1'), questions.knows('req_2')]).toEqual([true, false])
})

test('a wrong number and text that does not fit are invalid_args, and the question stays open', async () => {
  const { questions, ask } = open()
  questions.attach()
  const rule = { kind: 'prefix', answer: 'allow', words: ['npm'] } as const
  const reword = () => failed('invalid_args', 'It does not cover this command.')
  const asked = ask(permissionQuestion({ offers: [{ rule, scopes: ['session'], reword }] }))
  const wrong = [0, 4, -1, 1.5, Number.NaN].map((choice) => questions.answer('req_1', { choice }))
  const unfit = questions.answer('req_1', { choice: 2, text: 'git' })
  expect((await Promise.all([...wrong, unfit])).map(failure)).toEqual(Array(6).fill('invalid_args'))
  expect(questions.open.length).toBe(1)
  void questions.answer('req_1', { choice: 3 })
  expect(await asked).toEqual(NO)
})

test('a question waits without limit while a client is attached that can answer', async () => {
  const { questions, clock, ask } = open()
  questions.attach()
  const asked = ask()
  expect(clock.pending()).toEqual([])
  clock.advance(WAIT_MS * 1_000)
  expect([await isSettled(asked), questions.open.length]).toEqual([false, 1])
})

test('the time limit starts when the last able client leaves, and ends the question as a timeout', async () => {
  const { questions, clock, ask } = open()
  const leave = [questions.attach(), questions.attach()]
  const asked = ask()
  leave[0]?.()
  leave[0]?.()
  expect(clock.pending()).toEqual([])
  leave[1]?.()
  expect([clock.pending(), questions.canAsk]).toEqual([[WAIT_MS], true])
  clock.advance(WAIT_MS - 1)
  expect(await isSettled(asked)).toBe(false)
  clock.advance(1)
  expect([await asked, questions.open]).toEqual([TIMEOUT, []])
  expect(failure(await questions.answer('req_1', { choice: 1 }))).toBe('question_closed')
})

test('a client that comes back in time stops the time limit, and the next one is a whole one', async () => {
  const { questions, clock, ask } = open()
  const leave = questions.attach()
  const asked = ask()
  leave()
  clock.advance(WAIT_MS - 1)
  const leaveAgain = questions.attach()
  clock.advance(WAIT_MS)
  expect([await isSettled(asked), clock.pending()]).toEqual([false, []])
  leaveAgain()
  expect(clock.pending()).toEqual([WAIT_MS])
  void questions.answer('req_1', { choice: 1 })
  expect([await asked, clock.pending()]).toEqual([YES, []])
})

test('a question that is asked after the able client left has the whole time limit', async () => {
  const { questions, clock, ask } = open()
  questions.attach()()
  const asked = ask()
  expect(clock.pending()).toEqual([WAIT_MS])
  clock.advance(WAIT_MS)
  expect(await asked).toEqual(TIMEOUT)
})

test('nothing can be asked before an able client was attached; without a wait, nothing after it left', async () => {
  const { questions } = open()
  expect(questions.canAsk).toBe(false)
  const leave = questions.attach()
  expect(questions.canAsk).toBe(true)
  leave()
  expect(questions.canAsk).toBe(true)
  const atOnce = open(0)
  const leaveNow = atOnce.questions.attach()
  const asked = atOnce.ask()
  leaveNow()
  expect([await asked, atOnce.questions.canAsk, atOnce.clock.set]).toEqual([TIMEOUT, false, 0])
})

test('an interrupt ends open questions of the Turn, and those that come too late', async () => {
  const { questions, ask, interrupt } = open()
  questions.attach()
  const asked = [ask(aboutCall('c1')), ask(aboutCall('c2'))]
  interrupt.abort()
  expect(await Promise.all([...asked, ask(aboutCall('c3'))])).toEqual([
    INTERRUPTED,
    INTERRUPTED,
    INTERRUPTED,
  ])
  expect(questions.open).toEqual([])
  expect(failure(await questions.answer('req_1', { choice: 1 }))).toBe('question_closed')
  expect(questions.knows('req_3')).toBe(false)
})

test('an interrupt after the answer changes nothing', async () => {
  const { questions, ask, interrupt, published } = open()
  questions.attach()
  const asked = ask()
  void questions.answer('req_1', { choice: 1 })
  interrupt.abort()
  expect([await asked, published.length]).toEqual([YES, 2])
})

test('an answer resolves only when its own decision is durable', async () => {
  const { questions, ask, record } = open()
  questions.attach()
  void ask(aboutCall('c1'))
  void ask(aboutCall('c2'))
  const first = questions.answer('req_1', { choice: 1 })
  const second = questions.answer('req_2', { choice: 1 })
  const { about } = aboutCall('c1')
  record(permissionQuestion({ about: { ...about, subject: 'upload' } }))
  expect([await isSettled(first), await isSettled(second)]).toEqual([false, false])
  record(aboutCall('c2'))
  expect([await isSettled(first), await isSettled(second)]).toEqual([false, true])
  record(aboutCall('c1'), failed('storage_failed', 'The disk is full.'))
  expect([failure(await first), failure(await second)]).toEqual(['storage_failed', 'ok'])
})

test('the end of a Turn ends the wait for its decisions with an error, and for no others', async () => {
  const { questions, ask, record } = open()
  questions.attach()
  void ask(aboutCall('c1'))
  void ask(aboutCall('c2'), OTHER_TURN)
  const lost = questions.answer('req_1', { choice: 1 })
  const other = questions.answer('req_2', { choice: 1 })
  questions.turnEnded(TURN)
  expect([failure(await lost), await isSettled(other)]).toEqual(['interrupted', false])
  record(aboutCall('c2'))
  expect(failure(await other)).toBe('ok')
})

test('listeners hear of each question that is asked or settled, until they stop', async () => {
  const { questions, ask, interrupt } = open()
  questions.attach()
  const heard: string[] = []
  const stop = questions.listen((change) => {
    const by = change.kind === 'settled' ? ` ${change.settlement.by}` : ''
    heard.push(`${change.kind} ${change.question.request_id}${by}, open ${questions.open.length}`)
  })
  void ask(aboutCall('c1'))
  void ask(aboutCall('c2'))
  void questions.answer('req_1', { choice: 2, text: 'no' })
  interrupt.abort()
  stop()
  void ask(aboutCall('c3'))
  expect(heard).toEqual([
    'requested req_1, open 1',
    'requested req_2, open 2',
    'settled req_1 person, open 1',
    'settled req_2 interrupt, open 0',
  ])
})

test('watchers receive each question once; a late one receives those open and the newest settled', () => {
  const { questions, ask, published } = open()
  questions.attach()
  void ask(aboutCall('c1'))
  void ask(aboutCall('c2'))
  void questions.answer('req_1', { choice: 2, text: 'not now' })
  const own = { session_id: SESSION, turn_id: TURN }
  const [second] = questions.open
  const settled = {
    type: 'permission_settled',
    ...own,
    data: {
      request_id: 'req_1',
      call_id: 'c1',
      decision: 'denied',
      scope: 'once',
      by: 'person',
      reason: 'not now',
    },
  }
  const requested = { type: 'permission_requested', ...own, data: second }
  expect(published).toEqual([
    expect.objectContaining({ type: 'permission_requested' }),
    requested,
    settled,
  ])
  expect(questions.updates).toEqual([requested, settled])
})

test('of very many settled questions, the oldest are forgotten', async () => {
  const { questions, ask } = open()
  questions.attach()
  for (let n = 1; n <= 257; n++) {
    void ask(aboutCall(`c${n}`))
    void questions.answer(`req_${n}`, { choice: 1 })
  }
  expect(questions.updates.length).toBe(256)
  expect([
    failure(await questions.answer('req_1', { choice: 1 })),
    failure(await questions.answer('req_2', { choice: 1 })),
  ]).toEqual(['not_found', 'question_closed'])
})

test('a listener that throws neither holds up the Turn nor hides the question from others', async () => {
  const { questions, ask } = open()
  questions.attach()
  const seen: string[] = []
  questions.listen(({ kind }) => {
    if (kind === 'settled') throw new Error('a defect of a client')
  })
  questions.listen(({ kind }) => void seen.push(kind))
  const answer = ask()
  await expect(questions.answer('req_1', { choice: 1 })).rejects.toThrow('a defect of a client')
  expect(await isSettled(answer)).toBe(true)
  expect([await answer, seen, questions.open]).toEqual([YES, ['requested', 'settled'], []])
})

test('a question of a Turn that ended by a defect is not left open', async () => {
  const { questions, published, ask } = open()
  questions.attach()
  const [own, other] = [ask(aboutCall('c1')), ask(aboutCall('c2'), OTHER_TURN)]
  questions.turnEnded(TURN)
  expect(await own).toEqual(INTERRUPTED)
  expect(questions.open.map(({ call_id }) => call_id)).toEqual(['c2'])
  expect(published.at(-1)).toMatchObject({ type: 'permission_settled', data: { call_id: 'c1' } })
  expect(await isSettled(other)).toBe(false)
})

test('the text of an answer is redacted before anyone receives it', async () => {
  const { questions, ask } = open()
  questions.attach()
  const answer = ask()
  void questions.answer('req_1', { choice: 2, text: `not with ${SECRET}` })
  expect(await answer).toEqual({ ...NO, reason: 'not with [redacted key]' })
  expect(JSON.stringify(questions.updates)).not.toContain(SECRET)
})
