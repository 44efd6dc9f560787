import { readdir } from 'node:fs/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import type { Question } from '../../../src/session/questions/session-questions.ts'
import type { SessionUpdate } from '../../../src/session/watch/session-stream.ts'
import { startChild } from '../../faults/support/child.ts'
import {
  askingMessage,
  askingParts,
  ASKING_KINDS,
  type AskingKind,
} from '../../support/session/asking-story.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { ASKING, QUESTION_MS } from '../../support/session/live-parts.ts'
import { withChanges } from '../../support/session/harness-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { decisionsIn, everyQuestionDecided } from '../../support/session/question-check.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { talking } from '../../support/session/talking-provider.ts'
import { virtualClock } from '../../support/host/virtual-clock.ts'
import { numbersBetween, questionOf, Watching } from '../../support/session/watching.ts'

const HOUR_MS = 60 * 60 * 1000

/** A Session with a question open about `kind`, asked while a client is attached that can answer. */
async function waiting(kind: AskingKind, { onlyOne = false } = {}) {
  const clock = virtualClock()
  const place = await livePlace({ clock, changes: askingParts() })
  const client = value(await place.harness.create(ASKING, { answers: true }))
  // It cannot answer, so that questions do not wait for it.
  const watcher = onlyOne ? client : value(await place.harness.open(client.id))
  const { text, options } = askingMessage(kind)
  const turn = value(await client.admit(text, options))
  const question = await questionOf(client)
  return { ...place, clock, client, watcher, turn, question }
}

/** Who decided, and how, in the order of the Log; no question is left open. */
function verdicts({ events }: Pick<Session, 'events'>): string[] {
  expect(everyQuestionDecided(events)).toEqual([])
  return decisionsIn(events).map(({ by, decision }) => `${decision} by ${by}`)
}

function count({ events }: Pick<Session, 'events'>, type: string): number {
  return events.filter((event) => event.type === type).length
}

/** Lets everything run that waits for nothing but the disk. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}

describe.each(ASKING_KINDS)('a question about a %s', (kind) => {
  test('waits for an hour while a client is attached that can answer, and is then answered', async () => {
    const { clock, client, question, turn } = await waiting(kind)
    for (let minute = 0; minute < 61; minute += 1) clock.advance(HOUR_MS / 60)
    await settled()
    expect(client.questions).toEqual([question])
    expect(count(client, 'permission_decision')).toBe(0)
    value(await client.answer(question.request_id, { choice: 1 }))
    // The decision is durable when the answer is acknowledged.
    expect(verdicts(client)).toEqual(['allowed by person'])
    expect(value(await turn.done).status).toBe('completed')
    expect(count(client, 'permission_asked')).toBe(1)
    await client.close()
  })

  test('is denied 120 s after the last client that can answer has left, unless one comes back', async () => {
    const { harness, clock, client, watcher, turn, question } = await waiting(kind)
    await client.detach()
    clock.advance(QUESTION_MS - 100)
    await settled()
    expect(watcher.questions).toEqual([question])
    const back = value(await harness.open(watcher.id, { answers: true }))
    clock.advance(HOUR_MS)
    await settled()
    expect(back.questions).toEqual([question])
    await back.detach()
    clock.advance(QUESTION_MS - 1)
    await settled()
    expect(watcher.questions).toEqual([question])
    clock.advance(1)
    expect(watcher.questions).toEqual([])
    expect(value(await turn.done).status).toBe('completed')
    expect(verdicts(watcher)).toEqual(['denied by timeout'])
    expect(await harness.answer(question.request_id, { choice: 1 })).toMatchObject({
      error: { kind: 'question_closed' },
    })
    await watcher.close()
    expect([harness.openSessions, clock.pending()]).toEqual([0, []])
  })

  test('times out and ends its Turn also if every client has left, and the Session is closed then', async () => {
    const { harness, clock, client, turn } = await waiting(kind, { onlyOne: true })
    await client.detach()
    clock.advance(QUESTION_MS - 1)
    await settled()
    expect(harness.openSessions).toBe(1)
    clock.advance(1)
    expect(value(await turn.done).status).toBe('completed')
    await settled()
    expect(harness.openSessions).toBe(0)
    const again = value(await harness.open(client.id))
    expect(verdicts(again)).toEqual(['denied by timeout'])
    await again.close()
  })

  test('stays open if a client stops watching, and ends with an interrupt', async () => {
    const { client, watcher, question, turn } = await waiting(kind)
    const seen = new Watching(client)
    await seen.until(() => seen.requested.length === 1)
    await seen.stop()
    const unheard = client.openQuestions.listen(() => {
      throw new Error('the client no longer listens')
    })
    unheard()
    expect(watcher.questions).toEqual([question])
    watcher.interrupt()
    expect(watcher.questions).toEqual([])
    expect(value(await turn.done).status).toBe('interrupted')
    expect(verdicts(client)).toEqual(['denied by interrupt'])
    expect(await client.answer(question.request_id, { choice: 1 })).toMatchObject({
      error: { kind: 'question_closed' },
    })
    await Promise.all([client.close(), watcher.close()])
  })

  test('ends with an interrupt when its last client closes', async () => {
    const { harness, client, turn } = await waiting(kind, { onlyOne: true })
    await client.close()
    expect(harness.openSessions).toBe(0)
    expect(value(await turn.done).status).toBe('interrupted')
    const again = value(await harness.open(client.id))
    expect(verdicts(again)).toEqual(['denied by interrupt'])
    await again.close()
  })

  test('is not asked where no client can answer', async () => {
    const place = await livePlace({ clock: virtualClock(), changes: askingParts() })
    const session = value(await place.harness.create(ASKING))
    const seen = new Watching(session)
    const { text, options } = askingMessage(kind)
    expect(await say(session, text, options)).toBe('completed')
    expect(verdicts(session)).toEqual(['denied by nobody'])
    expect(count(session, 'permission_asked')).toBe(0)
    await seen.untilSeq(session.nextSeq - 1)
    expect(seen.requested).toEqual([])
    await session.close()
  })

  test('is decided once after a process was killed that asked it', async () => {
    const { root, workspace, harness } = await livePlace({ changes: askingParts() })
    const folder = await freshFolder()
    const script = await bundleScript(
      new URL('../../support/session/asking-child.ts', import.meta.url),
      folder,
    )
    const child = startChild(script, { root, kind })
    onTestFinished(async () => void (await child.kill()))
    const asked = await child.waitFor(({ what }) => what === 'opened')
    if (asked?.what !== 'opened') throw new Error((await child.ended).complaint)
    expect((await child.kill()).signal).toBe('SIGKILL')
    const session = value(await harness.open(asked.session))
    expect([count(session, 'permission_asked'), count(session, 'permission_decision')]).toEqual([
      1, 0,
    ])
    expect(await say(session, 'Thanks.')).toBe('completed')
    expect(verdicts(session)).toEqual(['denied by interrupt', ...later(kind)])
    const first = session.events.find(({ type }) => type === 'turn_started')?.turn_id
    const results = session.events.flatMap((e) =>
      e.type === 'tool_result' && e.turn_id === first
        ? [`${e.data.outcome} ${e.data.error?.kind}`]
        : [],
    )
    expect(results).toEqual(kind === 'tool call' ? ['denied interrupted'] : [])
    const endings = session.events.flatMap((e) => (e.type === 'turn_ended' ? [e.data] : []))
    expect(endings).toMatchObject([
      { status: 'interrupted', crash_recovered: true },
      { status: 'completed' },
    ])
    expect(await readdir(workspace)).toEqual(['.hawser'])
    await session.close()
  })
})

/** The bytes of a file whose Turn sent nothing are shown in the next Turn, so that there is another decision about it. */
function later(kind: AskingKind): string[] {
  return kind === 'upload' ? ['denied by nobody'] : []
}

test('a reader that comes late is informed once about the open question, and when it is settled', async () => {
  const { client, question, turn } = await waiting('tool call')
  const late = new Watching(client)
  const latest = new Watching(client, client.nextSeq - 1)
  await Promise.all([
    late.until(() => late.requested.length > 0),
    latest.until(() => latest.requested.length > 0),
  ])
  expect([late.requested, latest.requested]).toEqual([[question], [question]])
  value(await client.answer(question.request_id, { choice: 1 }))
  expect(value(await turn.done).status).toBe('completed')
  const last = client.nextSeq - 1
  await Promise.all([late.untilSeq(last), latest.untilSeq(last)])
  for (const { requested, settled: ended } of [late, latest]) {
    expect(requested).toEqual([question])
    expect(ended.map(({ request_id, by }) => [request_id, by])).toEqual([
      [question.request_id, 'person'],
    ])
  }
  const after = new Watching(client)
  await after.untilSeq(last)
  expect([after.requested, after.settled]).toEqual([[], []])
  await client.close()
})

test('a question that is asked while a reader catches up is reported to it once', async () => {
  const { harness } = await livePlace()
  const client = value(await harness.create(ASKING, { answers: true }))
  expect(await say(client, 'Hello')).toBe('completed')
  const reader = client.stream({ after_seq: -1 })
  const seen = [await reader.next()]
  const turn = value(await client.admit(askingMessage('tool call').text))
  const { request_id } = await questionOf(client)
  value(await client.answer(request_id, { choice: 1 }))
  expect(value(await turn.done).status).toBe('completed')
  const again = value(await client.admit('Write "sail" to sail.txt'))
  const second = await questionOf(client)
  while (!isRequest(seen.at(-1)?.value, second)) seen.push(await reader.next())
  value(await client.answer(second.request_id, { choice: 1 }))
  expect(value(await again.done).status).toBe('completed')
  const last = client.nextSeq - 1
  while (!isEvent(seen.at(-1)?.value, last)) seen.push(await reader.next())
  const requested = seen.flatMap(({ value: one }) =>
    one?.kind === 'ephemeral' && one.ephemeral.type === 'permission_requested'
      ? [one.ephemeral.data.request_id]
      : [],
  )
  expect(requested.toSorted()).toEqual([request_id, second.request_id].toSorted())
  await reader.return()
  await client.close()
})

function isRequest(update: SessionUpdate | void, { request_id }: Question): boolean {
  if (update?.kind !== 'ephemeral' || update.ephemeral.type !== 'permission_requested') return false
  return update.ephemeral.data.request_id === request_id
}

function isEvent(update: SessionUpdate | void, seq: number): boolean {
  return update?.kind === 'event' && update.raw.seq === seq
}

test('a reader that lagged behind is informed that the question it knows is settled', async () => {
  const { harness } = await livePlace({
    changes: withChanges(askingParts(), talking('tide ', MORE_THAN_WAITS)),
  })
  const client = value(await harness.create(ASKING, { answers: true }))
  const { text, options } = askingMessage('upload')
  const turn = value(await client.admit(text, options))
  const question = await questionOf(client)
  const after_seq = client.nextSeq - 1
  const reader = client.stream({ after_seq })
  const first = await reader.next()
  expect(first.value).toMatchObject({ ephemeral: { data: { request_id: question.request_id } } })
  value(await client.answer(question.request_id, { choice: 1 }))
  expect(value(await turn.done).status).toBe('completed')
  const seen: SessionUpdate[] = []
  while (!seen.some(isSettled)) {
    const { value: update } = await reader.next()
    if (update === undefined) throw new Error('the stream ended')
    seen.push(update)
  }
  // It missed notices, but no Event, and so it was disconnected in between.
  const events = seen.flatMap((one) => (one.kind === 'event' ? [one.raw.seq] : []))
  expect(events).toEqual(numbersBetween(after_seq, client.nextSeq - 1))
  expect(seen.filter((one) => one.kind === 'ephemeral')).toMatchObject([
    { ephemeral: { data: { request_id: question.request_id, by: 'person' } } },
  ])
  await reader.return()
  await client.close()
})

/** So many notices do not wait for a reader. */
const MORE_THAN_WAITS = 5000

function isSettled(update: SessionUpdate): boolean {
  return update.kind === 'ephemeral' && update.ephemeral.type === 'permission_settled'
}
