import { expect, onTestFinished, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { startChild } from '../../faults/support/child.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { ASKING } from '../../support/session/live-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { everyQuestionDecided } from '../../support/session/question-check.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { numbersBetween, questionOf, Watching } from '../../support/session/watching.ts'

/** Two clients of one Session in this process that both can answer, and what each of them sees. */
async function twoClients() {
  const place = await livePlace()
  const a = value(await place.harness.create(ASKING, { answers: true }))
  const b = value(await place.harness.open(a.id, { answers: true }))
  const seenA = new Watching(a)
  const seenB = new Watching(b)
  await Promise.all([seenA.untilSeq(a.nextSeq - 1), seenB.untilSeq(a.nextSeq - 1)])
  return { ...place, a, b, seenA, seenB }
}

type Clients = Awaited<ReturnType<typeof twoClients>>

async function admitted(session: Session, text: string, whenBusy?: 'queue' | 'replace') {
  return value(await session.admit(text, whenBusy === undefined ? {} : { whenBusy }))
}

async function ending(turn: Awaited<ReturnType<typeof admitted>>): Promise<string> {
  return value(await turn.done).status
}

/** Both clients saw the whole Log once and in order, and the same deltas in the same places. */
async function bothSawAll({ a, seenA, seenB }: Clients): Promise<void> {
  const last = a.nextSeq - 1
  await Promise.all([seenA.untilSeq(last), seenB.untilSeq(last)])
  expect(seenA.seqs).toEqual(numbersBetween(-1, last))
  expect(seenB.updates).toEqual(seenA.updates)
  expect(seenA.text).toBe(answersIn(a.events))
  expect(everyQuestionDecided(a.events)).toEqual([])
}

function answersIn(events: readonly WholeEvent[]): string {
  return events
    .flatMap((event) => (event.type === 'assistant_message' ? [event.data.text] : []))
    .join('')
}

test('two clients see every Event and delta, either answers, and the second answer is refused', async () => {
  const clients = await twoClients()
  const { harness, a, b, seenA, seenB } = clients
  const ways: ((id: string) => Promise<readonly [unknown, unknown]>)[] = [
    async (id) => [await b.answer(id, YES), await a.answer(id, NO)],
    async (id) => [await a.answer(id, YES), await b.answer(id, YES)],
    async (id) => Promise.all([a.answer(id, YES), b.answer(id, NO)]),
    async (id) => Promise.all([b.answer(id, YES), harness.answer(id, NO)]),
  ]
  for (const [at, way] of ways.entries()) {
    const turn = await admitted(at % 2 === 0 ? a : b, `Write "${at}" to ${at}.txt`)
    const { request_id } = await questionOf(a)
    const [first, second] = await way(request_id)
    expect([first, second]).toMatchObject([
      { ok: true },
      { ok: false, error: { kind: 'question_closed' } },
    ])
    expect(await ending(turn)).toBe('completed')
    expect(await harness.answer(request_id, NO)).toMatchObject({
      error: { kind: 'question_closed' },
    })
  }
  await bothSawAll(clients)
  expect(seenB.requested.map(({ request_id }) => request_id)).toEqual(
    seenA.settled.map(({ request_id }) => request_id),
  )
  expect(seenA.settled.map(({ by, decision }) => `${by} ${decision}`)).toEqual(
    ways.map(() => 'person allowed'),
  )
  await Promise.all([a.close(), b.close()])
})

const YES = { choice: 1 } as const
/** No choice of a question has this number, but a closed question is refused first. */
const NO = { choice: 99 } as const

test('an answer that does not fit leaves the question open', async () => {
  const { a, b } = await twoClients()
  const turn = await admitted(a, 'Write "a" to a.txt')
  const { request_id } = await questionOf(b)
  expect(await b.answer(request_id, NO)).toMatchObject({
    error: { kind: 'invalid_args' },
  })
  expect(await b.answer('req_0', YES)).toMatchObject({ error: { kind: 'not_found' } })
  expect(b.questions).toHaveLength(1)
  value(await a.answer(request_id, YES))
  expect(await ending(turn)).toBe('completed')
  await Promise.all([a.close(), b.close()])
})

test('either client steers, interrupts and queues', async () => {
  const clients = await twoClients()
  const { a, b } = clients
  for (const [one, other] of [[a, b] as const, [b, a] as const]) {
    const steered = await admitted(one, 'Write "s" to s.txt')
    const asked = await questionOf(other)
    expect(await other.admit('Thanks.')).toMatchObject({ error: { kind: 'turn_in_progress' } })
    expect(other.steer('Thank you!')).toBe(true)
    value(await other.answer(asked.request_id, YES))
    expect(await ending(steered)).toBe('completed')
    const steers = one.events.filter((e) => e.type === 'user_message' && e.data.steer === true)
    expect(steers.at(-1)?.turn_id).toBe(steered.turn)
    const cut = await admitted(one, 'Write "i" to i.txt')
    await questionOf(one)
    const queued = admitted(other, 'Thanks.', 'queue')
    other.interrupt()
    expect(await ending(cut)).toBe('interrupted')
    expect(await ending(await queued)).toBe('completed')
    const replaced = await admitted(one, 'Write "r" to r.txt')
    await questionOf(one)
    const next = admitted(other, 'Thanks again.', 'replace')
    expect(await ending(replaced)).toBe('interrupted')
    expect(await ending(await next)).toBe('completed')
  }
  await bothSawAll(clients)
  await Promise.all([a.close(), b.close()])
})

test.each(['detach', 'close'] as const)(
  'after one client leaves by %s during a question, the other sees, answers and continues',
  async (leave) => {
    const { harness, a, b, seenA, seenB } = await twoClients()
    const turn = await admitted(a, 'Write "a" to a.txt')
    const { request_id } = await questionOf(b)
    await seenA.until(() => seenA.requested.length === 1)
    await a[leave]()
    await seenA.ended
    const seen = seenA.updates.length
    expect(harness.openSessions).toBe(1)
    expect(b.questions.map((one) => one.request_id)).toEqual([request_id])
    value(await b.answer(request_id, YES))
    expect(await ending(turn)).toBe('completed')
    expect(await say(b, 'Thanks.')).toBe('completed')
    const last = b.nextSeq - 1
    await seenB.untilSeq(last)
    expect(seenB.seqs).toEqual(numbersBetween(-1, last))
    expect(seenB.text).toBe(answersIn(b.events))
    expect(seenA.updates.length).toBe(seen)
    expect(seenB.updates.slice(0, seen)).toEqual(seenA.updates)
    expect(await a.admit('Hello')).toMatchObject({ error: { kind: 'invalid_args' } })
    expect(a.steer('Hello')).toBe(false)
    await b.close()
    expect(harness.openSessions).toBe(0)
  },
)

test('the stream of a client that has left ends at once, whether others stay or not', async () => {
  const { a, b } = await twoClients()
  await a.detach()
  const afterDetach = new Watching(a)
  await afterDetach.ended
  expect(await takeAll(a)).toEqual([])
  await b.close()
  const afterClose = new Watching(b)
  await afterClose.ended
  expect(await takeAll(b)).toEqual([])
  expect([afterDetach.updates, afterClose.updates]).toEqual([[], []])
})

async function takeAll(session: Session): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const update of session.subscribe()) all.push(update)
  return all
}

test('closing the harness ends the Turns, the streams and the clients of every Session', async () => {
  const { harness, a, b, seenA, seenB } = await twoClients()
  const turn = await admitted(a, 'Write "a" to a.txt')
  await questionOf(b)
  await harness.close()
  await Promise.all([seenA.ended, seenB.ended])
  expect(await ending(turn)).toBe('interrupted')
  expect(everyQuestionDecided(a.events)).toEqual([])
  expect(harness.openSessions).toBe(0)
  const late = new Watching(b)
  await late.ended
  expect(await b.admit('Hello')).toMatchObject({ ok: false })
  await Promise.all([a.close(), b.close()])
  expect(harness.openSessions).toBe(0)
})

test('while another process and another harness write, both clients see everything in exact order', async () => {
  const clients = await twoClients()
  const { root, a, b, seenA, seenB } = clients
  const other = value(await (await livePlace({ root })).harness.open(a.id))
  const script = await bundleScript(
    new URL('../../support/session/live-writer.ts', import.meta.url),
    await freshFolder(),
  )
  const child = startChild(script, { root, session: a.id })
  onTestFinished(async () => void (await child.kill()))
  expect((await child.waitFor(({ what }) => what === 'opened'))?.what).toBe('opened')
  const spoken = (text: string) => {
    const before = child.reports.length
    child.send(text)
    return child.waitFor(
      (report) => report.what === 'turn' && child.reports.indexOf(report) >= before,
    )
  }
  for (let round = 0; round < 3; round++) {
    expect(await say(a, 'Thanks.')).toBe('completed')
    expect(await spoken(`Remember ${round}.`)).toMatchObject({ status: 'completed' })
    expect(await say(other, 'Thanks again.')).toBe('completed')
    expect(await say(b, 'Thank you.')).toBe('completed')
  }
  // All at once: who finds the Log locked tries again.
  const together = [a, b, other].map((one) => sayInTurn(one, 3))
  for (let round = 0; round < 3; round++) {
    expect(await spoken(`Meanwhile ${round}.`)).toMatchObject({ status: 'completed' })
  }
  await Promise.all(together)
  const log = await logOf(clients.harness, a)
  const last = log.length - 1
  expect(log.filter((type) => type === 'turn_started')).toHaveLength(12 + 12)
  await Promise.all([seenA.untilSeq(last), seenB.untilSeq(last)])
  for (const seen of [seenA, seenB]) {
    expect(seen.seqs).toEqual(numbersBetween(-1, last))
    expect(seen.types).toEqual(log)
    // Only Turns of this process have deltas here, and both clients see all of those.
    expect(seen.text).toBe(seenA.text)
  }
  child.send('')
  expect((await child.ended).complaint).toBe('')
  await Promise.all([a.close(), b.close(), other.close()])
})

/** Completes this many Turns, each as soon as no other process or client writes. */
async function sayInTurn(session: Session, count: number): Promise<void> {
  for (let done = 0; done < count;) {
    const turn = await session.admit('Hello there.', { whenBusy: 'queue' })
    if (turn.ok) {
      expect(await ending(turn.value)).toBe('completed')
      done += 1
    } else {
      expect(turn.error.kind).toBe('session_busy')
      await new Promise(setImmediate)
    }
  }
}

async function logOf(harness: Harness, session: Session): Promise<string[]> {
  const types: string[] = []
  value(await harness.read(session.id, {}, ({ raw }) => void types.push(raw.type)))
  return types
}

test('a reader that stops during catch-up gets nothing more', async () => {
  const { harness } = await livePlace()
  const client = value(await harness.create(ASKING))
  value(await value(await client.admit('Hello')).done)
  const stop = new AbortController()
  const seqs: number[] = []
  for await (const update of client.stream({ after_seq: -1, signal: stop.signal })) {
    if (update.kind === 'event') seqs.push(update.raw.seq)
    stop.abort()
  }
  expect(seqs).toEqual([0])
  await client.close()
})
