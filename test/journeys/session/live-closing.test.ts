import { expect, test } from 'vitest'
import { ASKING } from '../../support/session/live-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { until } from '../../support/host/virtual-clock.ts'
import { numbersBetween, questionOf, Watching } from '../../support/session/watching.ts'

test('a Turn continues after its only client has detached, and then the Session is closed', async () => {
  const { harness } = await livePlace()
  const client = value(await harness.create(ASKING))
  const { done } = value(await client.admit('Write "a" to a.txt'))
  await client.detach()
  expect(harness.openSessions).toBe(1)
  expect(value(await done).status).toBe('completed')
  await until(() => harness.openSessions === 0)
  const again = value(await harness.open(client.id))
  expect(again.events.at(-1)).toMatchObject({ type: 'turn_ended', data: { status: 'completed' } })
  await again.close()
})

test('Turns that wait run too after every client has detached', async () => {
  const { harness } = await livePlace()
  const client = value(await harness.create(ASKING))
  const first = value(await client.admit('Hello'))
  const waiting = [1, 2, 3].map((at) => client.admit(`Thanks ${at}.`, { whenBusy: 'queue' }))
  await client.detach()
  expect(value(await first.done).status).toBe('completed')
  for (const one of waiting) {
    expect(value(await value(await one).done).status).toBe('completed')
  }
  await until(() => harness.openSessions === 0)
})

test('a client that comes back during a Turn shares it, and keeps the Session open', async () => {
  const { harness } = await livePlace()
  const client = value(await harness.create(ASKING, { answers: true }))
  const { done } = value(await client.admit('Write "a" to a.txt'))
  const { request_id } = await questionOf(client)
  await client.detach()
  const back = value(await harness.open(client.id, { answers: true }))
  expect([back.busy, back.questions.map((one) => one.request_id)]).toEqual([true, [request_id]])
  value(await back.answer(request_id, { choice: 1 }))
  expect(value(await done).status).toBe('completed')
  expect(await say(back, 'Thanks.')).toBe('completed')
  expect(harness.openSessions).toBe(1)
  await back.close()
  expect(harness.openSessions).toBe(0)
})

test('a client may attach while the Session is being closed', async () => {
  const { harness } = await livePlace()
  let session = value(await harness.create(ASKING))
  for (let round = 0; round < 20; round += 1) {
    const leaving = round % 2 === 0 ? session.close() : session.detach()
    // Closing takes several steps; each round, the client comes after one step more.
    for (let step = 0; step < round; step += 1) await Promise.resolve()
    const opened = await harness.open(session.id)
    await leaving
    session = value(opened)
    const seen = new Watching(session)
    expect(await say(session, 'Hello')).toBe('completed')
    await seen.untilSeq(session.nextSeq - 1)
    expect(seen.seqs).toEqual(numbersBetween(-1, session.nextSeq - 1))
    expect(harness.openSessions).toBe(1)
  }
  await session.close()
  expect(harness.openSessions).toBe(0)
})

test('clients that open a Session at the same time share it', async () => {
  const { harness } = await livePlace()
  const first = value(await harness.create(ASKING))
  await first.close()
  const all = await Promise.all(Array.from({ length: 10 }, () => harness.open(first.id)))
  const sessions = all.map((one) => value(one))
  expect(harness.openSessions).toBe(1)
  const turns = await Promise.all(
    sessions.map((session, at) => session.admit(`Hello ${at}`, { whenBusy: 'refuse' })),
  )
  expect(turns.filter(({ ok }) => ok)).toHaveLength(1)
  expect(turns.filter((one) => !one.ok && one.error.kind === 'turn_in_progress')).toHaveLength(9)
  await Promise.all(turns.flatMap((one) => (one.ok ? [one.value.done] : [])))
  expect(new Set(sessions.map(({ events }) => events)).size).toBe(1)
  await Promise.all(sessions.map((session) => session.close()))
  expect(harness.openSessions).toBe(0)
})

test('leaving twice counts once', async () => {
  const { harness } = await livePlace()
  const a = value(await harness.create(ASKING, { answers: true }))
  const b = value(await harness.open(a.id, { answers: true }))
  await Promise.all([a.close(), a.close(), a.detach()])
  await a.close()
  expect(harness.openSessions).toBe(1)
  const { done } = value(await b.admit('Write "a" to a.txt'))
  const { request_id } = await questionOf(b)
  value(await b.answer(request_id, { choice: 1 }))
  expect(value(await done).status).toBe('completed')
  await b.close()
  expect(harness.openSessions).toBe(0)
})
