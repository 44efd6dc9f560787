import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { runCli } from '../../support/cli/cli.ts'
import { STREAM_EVENTS } from '../../documents/http-responses.ts'
import { localServer, type LocalServer } from '../../support/http/local-server.ts'
import { startProgram } from '../../support/cli/program.ts'
import { newSession, openStream, permit, turn, watch } from '../../support/http/stream-client.ts'
import { virtualClock } from '../../support/host/virtual-clock.ts'
import { numbersBetween } from '../../support/session/watching.ts'

async function place() {
  const server = await localServer()
  return { server, id: await newSession(server) }
}

async function lastSeq({ root }: LocalServer, id: string): Promise<number> {
  const { stdout } = await runCli({ root }, 'log', 'show', id, '--json')
  return (
    stdout
      .trimEnd()
      .split('\n')
      .filter((line) => line.includes('"seq":')).length - 1
  )
}

test('a watcher gets every Event once, past and present, and deltas as they happen', async () => {
  const { server, id } = await place()
  const early = await watch(server, id)
  await (
    await turn(server, id, 'Hello')
  ).ended
  const second = await turn(server, id, 'Thanks.')
  await second.ended
  await early.until(() => early.of('process:exit').length === 2)
  const last = await lastSeq(server, id)
  expect(early.ids).toEqual(numbersBetween(-1, last))
  expect(early.text).toContain(second.text)
  expect(early.of('user:message').map(({ text }) => text)).toEqual(['Hello', 'Thanks.'])
  const late = await watch(server, id)
  await late.until(() => late.ids.at(-1) === last)
  expect(late.received).toEqual(early.received.filter(({ event }) => event !== 'chat:delta'))
  expect(new Set(early.of('log:event').map(({ type }) => type))).toContain('provider_request')
})

test('`Last-Event-ID` counts before the query, and both must be numbers', async () => {
  const { server, id } = await place()
  await (
    await turn(server, id, 'Hello')
  ).ended
  const last = await lastSeq(server, id)
  const path = `/api/harness/session/${id}/events?after_seq=0`
  const stream = await openStream(server, { path, headers: { 'last-event-id': '3' } })
  await stream.until(() => stream.ids.at(-1) === last)
  expect(stream.ids).toEqual(numbersBetween(3, last))
  for (const bad of ['x', '-2', '1.5', '1e3', ''])
    expect(
      await server.api('GET', `/api/harness/session/${id}/events?after_seq=${bad}`),
    ).toMatchObject({ status: 400, body: { error: { type: 'INVALID_REQUEST' } } })
  expect(await server.api('GET', '/api/harness/session/ses_x/events')).toMatchObject({
    status: 404,
    body: { error: { type: 'SESSION_NOT_FOUND' } },
  })
})

test('a past Turn names the model that answered it, wherever a watcher starts', async () => {
  const { server, id } = await place()
  for (const model of ['first', 'second', 'third'])
    await (
      await turn(server, id, 'Hello', { opts: { model } })
    ).ended
  const all = await watch(server, id)
  await all.until(() => all.of('process:exit').length === 3)
  const names = (stream: typeof all) => stream.of('session:init').map(({ model }) => model)
  expect(names(all)).toEqual(['first', 'second', 'third'])
  const [, second] = all.received.filter(({ event }) => event === 'session:init')
  const later = await watch(server, id, Number(second?.id) - 1)
  await later.until(() => later.of('process:exit').length === 2)
  expect(names(later)).toEqual(['second', 'third'])
})

test('a connection on which nothing happens gets a heartbeat every 15 seconds', async () => {
  const clock = virtualClock()
  const server = await localServer({
    clock: { ...systemClock, after: (ms, then) => clock.after(ms, then) },
  })
  const id = await newSession(server)
  const stream = await watch(server, id)
  await stream.until(() => stream.ids.length > 0)
  for (const count of [1, 2, 3]) {
    clock.advance(15_000)
    await stream.until(
      () => stream.comments.filter((comment) => comment === ': heartbeat').length === count,
    )
  }
  clock.advance(14_999)
  expect(clock.pending()).toEqual([1])
  await stream.cut()
})

test('a stream says every 15 seconds which questions it waits for, until they are answered', async () => {
  const clock = virtualClock()
  const server = await localServer({
    clock: { ...systemClock, after: (ms, then) => clock.after(ms, then) },
  })
  const id = await newSession(server)
  const watching = await watch(server, id)
  const running = await turn(server, id, 'Write "a" to a.txt')
  const { requestId, subject, reason } = await running.first('permission:request')
  await watching.first('permission:request')
  for (const count of [1, 2]) {
    clock.advance(15_000)
    for (const stream of [running, watching]) {
      await stream.until(() => stream.of('permission:waiting').length === count)
      expect(stream.of('permission:waiting').at(-1)).toMatchObject({ requestId, subject, reason })
    }
  }
  expect(await permit(server, requestId, { decision: 'allowed' })).toMatchObject({ status: 200 })
  await running.ended
  const beats = watching.comments.filter((comment) => comment === ': heartbeat').length
  clock.advance(15_000)
  await watching.until(
    () => watching.comments.filter((comment) => comment === ': heartbeat').length > beats,
  )
  expect(watching.of('permission:waiting')).toHaveLength(2)
  await watching.cut()
})

test.each([
  [
    'this server',
    async ({ server, id }: Awaited<ReturnType<typeof place>>) => {
      const deleted = await server.api('DELETE', `/api/harness/session/${id}`)
      expect(deleted.status).toBe(200)
    },
  ],
  [
    'another process',
    async ({ server: { root }, id }: Awaited<ReturnType<typeof place>>) => {
      expect((await runCli({ root }, 'sessions', 'delete', id, '--yes')).code).toBe(0)
    },
  ],
])('the stream of a Session that %s deletes ends with the reason', async (_, remove) => {
  const here = await place()
  const stream = await watch(here.server, here.id)
  await stream.until(() => stream.ids.length > 0)
  await remove(here)
  await stream.ended
  expect(stream.received.at(-1)).toMatchObject({
    event: 'stream:error',
    data: { kind: 'not_found', message: expect.stringContaining('does not exist') },
  })
})

test('two clients and a command line on one Session: all see everything, either answers once', async () => {
  const { server, id } = await place()
  const [a, b] = [await watch(server, id), await watch(server, id)]
  const answers = [
    [{ decision: 'allowed' }, { decision: 'denied' }],
    [{ choice: 1 }, { choice: 1 }],
    [
      { decision: 'denied', text: 'Not now.' },
      { decision: 'allowed', scope: 'session' },
    ],
  ]
  for (const [at, [first, second]] of answers.entries()) {
    const stream = await turn(server, id, `Write "${at}" to ${at}.txt`)
    await Promise.all([a, b].map((one) => one.until(() => requests(one).length === at + 1)))
    const { requestId } = requests(b)[at] ?? {}
    expect(requests(a)[at]).toEqual(requests(b)[at])
    expect(await permit(server, requestId, first ?? {})).toMatchObject({ status: 200 })
    expect(await permit(server, requestId, second ?? {})).toMatchObject({
      status: 409,
      body: { error: { type: 'QUESTION_CLOSED', kind: 'question_closed' } },
    })
    await stream.ended
  }
  const { code } = await runCli({ root: server.root }, 'run', '--session', id, 'Thanks.')
  expect(code).toBe(0)
  const last = await lastSeq(server, id)
  for (const one of [a, b]) {
    await one.until(() => one.ids.at(-1) === last)
    expect(one.ids).toEqual(numbersBetween(-1, last))
    expect(one.of('permission:settled').map(({ decision }) => decision)).toEqual([
      'allowed',
      'allowed',
      'denied',
    ])
  }
  expect(b.received).toEqual(a.received)
  await expect(readFile(join(server.workspace, '2.txt'))).rejects.toThrow('ENOENT')
  const { requestId } = requests(a)[0] ?? {}
  await Promise.all([a.cut(), b.cut()])
  expect(await permit(server, requestId, { choice: 1 })).toMatchObject({ status: 409 })
})

const requests = (stream: Awaited<ReturnType<typeof watch>>) => stream.of('permission:request')

test('a Turn of another process is watched, and cannot be interrupted from here', async () => {
  const { server, id } = await place()
  await mkdir(join(server.root, 'home', 'skills'), { recursive: true })
  const watching = await watch(server, id)
  const program = await startProgram({ root: server.root }, [
    'run',
    '--session',
    id,
    '--permission',
    'auto',
    'run `sleep 60`',
  ])
  await watching.first('tool:start')
  expect(await server.api('POST', '/api/harness/interrupt', { sessionId: id })).toMatchObject({
    status: 409,
    body: { error: { kind: 'session_busy' } },
  })
  expect(
    await server.api('POST', '/api/harness/turn', { sessionId: id, message: 'Hi' }),
  ).toMatchObject({ status: 409, body: { error: { type: 'TURN_IN_PROGRESS' } } })
  program.child.kill('SIGINT')
  await program.ended
  await watching.first('process:exit')
  expect(watching.of('process:exit')).toMatchObject([{ exitCode: 130 }])
})

test('an answer that does not fit is refused, and the question stays open', async () => {
  const { server, id } = await place()
  const stream = await turn(server, id, 'Write "a" to a.txt')
  const { requestId, options } = await stream.first('permission:request')
  for (const bad of [{}, { decision: 'maybe' }, { choice: 99 }, { choice: 1, decision: 'denied' }])
    expect(await permit(server, requestId, bad)).toMatchObject({
      status: 400,
      body: { error: { type: 'INVALID_REQUEST' } },
    })
  expect(await permit(server, 'req_0', { choice: 1 })).toMatchObject({ status: 404 })
  expect(options).toContainEqual({
    number: 1,
    text: 'Yes, once',
    decision: 'allowed',
    scope: 'once',
  })
  expect(await permit(server, requestId, { decision: 'denied', text: 'No.' })).toMatchObject({
    status: 200,
    body: { ok: true, requestId },
  })
  await stream.ended
  expect(stream.of('tool:result')).toMatchObject([{ ok: false, outcome: 'denied' }])
})

test('a question that timed out or was interrupted is closed for good, also after its Session', async () => {
  const { server, id } = await place()
  const { code } = await runCli(
    { root: server.root },
    'config',
    'set',
    'limits.question_seconds',
    '0',
  )
  expect(code).toBe(0)
  const closed = { status: 409, body: { error: { type: 'QUESTION_CLOSED' } } }
  const left = await turn(server, id, 'Write "a" to a.txt')
  const timedOut = await left.first('permission:request')
  await left.cut()
  const shown = async () => (await server.api('GET', `/api/harness/session/${id}`)).body
  await expect.poll(shown).toMatchObject({ session: { turnOpen: false } })
  expect(await permit(server, timedOut['requestId'], { decision: 'allowed' })).toMatchObject(closed)
  const opts = { whenBusy: 'queue' }
  const stopped = await turn(server, id, 'Write "b" to b.txt', { opts })
  const interrupted = await stopped.first('permission:request')
  await server.api('POST', '/api/harness/interrupt', { sessionId: id })
  await stopped.ended
  const all = await watch(server, id)
  await all.until(() => all.of('process:exit').length === 2)
  const decisions = all
    .of('log:event')
    .flatMap(({ type, data }) =>
      type === 'permission_decision' ? [(data as { by: string }).by] : [],
    )
  expect(decisions).toEqual(['timeout', 'interrupt'])
  await all.cut()
  const remove = async () => (await server.api('DELETE', `/api/harness/session/${id}`)).status
  await expect.poll(remove).toBe(200)
  for (const { requestId } of [timedOut, interrupted])
    expect(await permit(server, requestId, { decision: 'allowed' })).toMatchObject(closed)
  expect(await permit(server, 'req_0', { decision: 'allowed' })).toMatchObject({ status: 404 })
})

test('what is allowed for a Session stays allowed while the server runs', async () => {
  const { server, id } = await place()
  const first = await turn(server, id, 'Write "a" to a.txt')
  const { requestId } = await first.first('permission:request')
  await permit(server, requestId, { decision: 'allowed', scope: 'session' })
  await first.ended
  // No request uses the workspace now, so it is closed.
  const second = await turn(server, id, 'Write "b" to a.txt')
  await second.ended
  expect(second.names).not.toContain('permission:request')
  expect(second.of('process:exit')).toMatchObject([{ exitCode: 0 }])
})

test('a compaction is planned and recorded, and its watchers see it', async () => {
  const { server, id } = await place()
  const text = 'The quay has forty berths. '.repeat(400)
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await writeFile(join(server.workspace, `${name}.txt`), text)
    await (
      await turn(server, id, `read ${name}.txt`)
    ).ended
  }
  const watching = await watch(server, id, await lastSeq(server, id))
  const path = `/api/harness/session/${id}/compact`
  const planned = await server.api('POST', path, { dryRun: true })
  expect(planned).toMatchObject({
    status: 200,
    body: {
      compaction: { dryRun: true, compacted: true, requestBytes: { before: expect.any(Number) } },
    },
  })
  const done = await server.api('POST', path, {})
  expect(done).toMatchObject({ status: 200, body: { compaction: { compacted: true } } })
  await watching.until(() =>
    watching.of('log:event').some(({ type }) => type === 'history_compaction'),
  )
  // The window of this model is unknown, so no share of it is known.
  const notice = await watching.first('context:pressure')
  expect(notice).toMatchObject({ tier: 'recovery', trigger: 'manual' })
  expect(STREAM_EVENTS['context:pressure']?.parse(notice)).toEqual(notice)
  const all = await watch(server, id)
  const last = await lastSeq(server, id)
  await all.until(() => all.ids.at(-1) === last)
  expect(all.ids).toEqual(numbersBetween(-1, last))
})
