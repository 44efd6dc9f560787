import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer, type LocalServer } from '../../support/http/local-server.ts'
import {
  newSession,
  permit,
  turn,
  watch,
  type StreamClient,
} from '../../support/http/stream-client.ts'

const TURN = '/api/harness/turn'

async function place(more: object = {}) {
  const server = await localServer()
  return { server, id: await newSession(server, more) }
}

async function turnsOf({ api }: LocalServer, id: string) {
  const { body } = await api('GET', `/api/harness/session/${id}`)
  return (body as { session: { turns: number; turnOpen: boolean } }).session
}

/** The name of each event once, in the order of their first appearance. */
function order({ names }: StreamClient): string[] {
  return [...new Set(names)]
}

test('a Turn streams its events in order, and `process:exit` is the last', async () => {
  const { server, id } = await place()
  await writeFile(join(server.workspace, 'notes.txt'), 'The harbour opens at six.\n')
  const stream = await turn(server, id, 'read notes.txt')
  await stream.ended
  expect(order(stream)).toEqual([
    'session:init',
    'user:message',
    'chat:delta',
    'chat:complete',
    'tool:start',
    'tool:result',
    'session:complete',
    'process:exit',
  ])
  const [init] = stream.of('session:init')
  expect(init).toMatchObject({ sessionId: id, provider: 'rehearsal', model: 'rehearsal' })
  expect(init?.['turnId']).toMatch(/^trn_/)
  const whole = stream.of('chat:complete').map(({ text }) => text)
  expect(stream.text).toBe(whole.join(''))
  const [call] = stream.of('tool:start')
  expect(call).toMatchObject({ name: 'read', arguments: expect.stringContaining('notes.txt') })
  expect(stream.of('tool:result')).toMatchObject([
    { callId: call?.['callId'], ok: true, outcome: 'ok', truncated: false },
  ])
  expect(stream.of('session:complete')).toMatchObject([{ usage: { calls: 2 } }])
  expect(stream.of('process:exit')).toMatchObject([{ exitCode: 0 }])
  expect(stream.received.at(-1)?.event).toBe('process:exit')
  expect(stream.ids).toEqual(stream.ids.toSorted((a, b) => a - b))
  const { stdout } = await runCli({ root: server.root }, 'log', 'verify', id, '--requests')
  expect(stdout).toContain('identical to the record')
})

test.each([
  ['no message', { message: undefined }, 400, 'INVALID_REQUEST'],
  ['blank text', { message: ' \n' }, 400, 'INVALID_REQUEST'],
  ['an attachment that is no string', { attachments: [1] }, 400, 'INVALID_REQUEST'],
  ['metadata in place of a path', { attachments: [{ path: '/a.png' }] }, 400, 'INVALID_REQUEST'],
  ['an unknown field', { apiKey: 'x' }, 400, 'INVALID_REQUEST'],
  ['an unknown option', { opts: { tools: ['bash'] } }, 400, 'INVALID_REQUEST'],
  ['a long key', { idempotencyKey: 'k'.repeat(129) }, 400, 'INVALID_REQUEST'],
  ['no Session', { sessionId: 'ses_00000000000000000000000000' }, 404, 'SESSION_NOT_FOUND'],
  ['a path for a Session', { sessionId: '../../etc' }, 404, 'SESSION_NOT_FOUND'],
  ['too much text', { message: 'x'.repeat(1024 * 1024 + 1) }, 413, 'TOO_LARGE'],
  ['a body that is too long', { message: 'x'.repeat(9 * 1024 * 1024) }, 413, 'TOO_LARGE'],
  ['a model of another provider', { opts: { model: 'claude-opus-4-8' } }, 400, 'MODEL_NOT_FOUND'],
])('a Turn with %s is refused before its stream', async (_name, more, status, type) => {
  const { server, id } = await place()
  const answer = await server.api('POST', TURN, { sessionId: id, message: 'Hello', ...more })
  expect(answer).toMatchObject({ status, body: { ok: false, error: { type } } })
  expect(JSON.stringify(answer.body)).not.toContain('etc')
  expect(await turnsOf(server, id)).toMatchObject({ turns: 0 })
})

test('a second Turn is refused while one runs, waits for it, or replaces it', async () => {
  const { server, id } = await place()
  const first = await turn(server, id, 'Write "a" to a.txt')
  await first.first('permission:request')
  expect(await server.api('POST', TURN, { sessionId: id, message: 'Hello' })).toMatchObject({
    status: 409,
    body: { error: { type: 'TURN_IN_PROGRESS', kind: 'turn_in_progress' } },
  })
  // The refused request must not interrupt the Turn of the other client.
  expect(await turnsOf(server, id)).toMatchObject({ turnOpen: true })
  const queued = turn(server, id, 'Thanks.', { opts: { whenBusy: 'queue' } })
  const { requestId } = await first.first('permission:request')
  expect(await permit(server, requestId, { decision: 'allowed' })).toMatchObject({ status: 200 })
  await first.ended
  const second = await queued
  await second.ended
  expect(first.of('process:exit')).toMatchObject([{ exitCode: 0 }])
  expect(second.of('process:exit')).toMatchObject([{ exitCode: 0 }])
  expect(await readFile(join(server.workspace, 'a.txt'), 'utf8')).toMatch(/^a/)
  const third = await turn(server, id, 'Write "b" to b.txt')
  await third.first('permission:request')
  const fourth = await turn(server, id, 'Thanks.', { opts: { whenBusy: 'replace' } })
  await Promise.all([third.ended, fourth.ended])
  expect(third.of('process:exit')).toMatchObject([{ exitCode: 130, interrupted: true }])
  expect(fourth.of('process:exit')).toMatchObject([{ exitCode: 0 }])
})

test('without a key, a Turn is refused with 503 and nothing is recorded', async () => {
  const root = await freshFolder()
  const first = await localServer({ root })
  const id = await newSession(first, { provider: 'anthropic' })
  await first.running.close()
  const server = await localServer({ root, env: {} })
  expect(await server.api('POST', TURN, { sessionId: id, message: 'Hello' })).toMatchObject({
    status: 503,
    body: { error: { type: 'MISSING_API_KEY', kind: 'not_configured' } },
  })
  expect(await turnsOf(server, id)).toMatchObject({ turns: 0, turnOpen: false })
  expect(JSON.stringify(await server.api('GET', `/api/harness/session/${id}`))).not.toContain(
    CANARY_KEY,
  )
})

test('a model and a permission mode are recorded, and stay', async () => {
  const { server, id } = await place()
  const opts = { model: 'another-model', permissionMode: 'auto' }
  const stream = await turn(server, id, 'Write "a" to a.txt', { opts })
  await stream.ended
  expect(stream.of('session:init')).toMatchObject([{ model: 'another-model' }])
  expect(stream.names).not.toContain('permission:request')
  const { body } = await server.api('GET', `/api/harness/session/${id}`)
  expect(body).toMatchObject({ session: { model: 'another-model', permissionMode: 'auto' } })
  const next = await turn(server, id, 'Write "b" to b.txt')
  await next.ended
  expect([next.of('session:init'), next.of('process:exit')]).toMatchObject([
    [{ model: 'another-model' }],
    [{ exitCode: 0 }],
  ])
})

test('a Turn continues after its client has disconnected, and can be watched again', async () => {
  const { server, id } = await place()
  const stream = await turn(server, id, 'Write "a" to a.txt')
  const { requestId } = await stream.first('permission:request')
  const last = stream.ids.at(-1)
  await stream.cut()
  expect(await turnsOf(server, id)).toMatchObject({ turnOpen: true })
  const again = await watch(server, id, last)
  expect(await again.first('permission:request')).toMatchObject({ requestId })
  await permit(server, requestId, { decision: 'allowed' })
  await again.first('process:exit')
  expect(again.of('process:exit')).toMatchObject([{ exitCode: 0 }])
  expect(again.ids[0]).toBe(Number(last) + 1)
  expect(await readFile(join(server.workspace, 'a.txt'), 'utf8')).toMatch(/^a/)
})

test('a client that asked for it interrupts its Turn by disconnecting', async () => {
  const { server, id } = await place()
  const watching = await watch(server, id)
  const opts = { onDisconnect: 'interrupt' }
  const stream = await turn(server, id, 'Write "a" to a.txt', { opts })
  await stream.first('permission:request')
  await stream.cut()
  await watching.first('process:exit')
  expect(watching.of('process:exit')).toMatchObject([{ exitCode: 130, interrupted: true }])
  expect(watching.of('permission:settled')).toMatchObject([{ decision: 'denied', by: 'interrupt' }])
})

test('a Turn is interrupted by a request, and a Session without one is not', async () => {
  const { server, id } = await place()
  const interrupt = () => server.api('POST', '/api/harness/interrupt', { sessionId: id })
  expect(await interrupt()).toMatchObject({ status: 200, body: { interrupted: false } })
  const stream = await turn(server, id, 'Write "a" to a.txt')
  await stream.first('permission:request')
  expect(await interrupt()).toMatchObject({ status: 200, body: { interrupted: true } })
  await stream.ended
  expect(stream.received.at(-1)).toMatchObject({
    event: 'process:exit',
    data: { exitCode: 130, interrupted: true },
  })
  expect(await server.api('POST', '/api/harness/interrupt', { sessionId: 'no' })).toMatchObject({
    status: 404,
    body: { error: { type: 'SESSION_NOT_FOUND' } },
  })
})

test('the same idempotency key gives the same Turn, also after a restart', async () => {
  const root = await freshFolder()
  const first = await localServer({ root })
  const id = await newSession(first)
  const more = { idempotencyKey: 'key 1' }
  const stream = await turn(first, id, 'Hello', more)
  await stream.ended
  const again = await turn(first, id, 'Hello', more)
  await again.ended
  await first.running.close()
  const server = await localServer({ root })
  const later = await turn(server, id, 'Hello', more)
  await later.ended
  const [init] = stream.of('session:init')
  for (const one of [again, later]) {
    expect(one.of('session:init')).toMatchObject([{ turnId: init?.['turnId'], repeated: true }])
    expect(one.of('chat:complete')).toEqual(stream.of('chat:complete'))
    expect(one.ids).toEqual(stream.ids)
    expect(one.received.at(-1)).toMatchObject({ event: 'process:exit', data: { exitCode: 0 } })
  }
  expect(await turnsOf(server, id)).toMatchObject({ turns: 1 })
})

test('a repeated message joins its Turn while that runs', async () => {
  const { server, id } = await place()
  const more = { idempotencyKey: 'key 1' }
  const one = await turn(server, id, 'Write "a" to a.txt', more)
  const { requestId } = await one.first('permission:request')
  const other = await turn(server, id, 'Write "a" to a.txt', more)
  expect(await other.first('permission:request')).toMatchObject({ requestId })
  await permit(server, requestId, { decision: 'allowed' })
  await Promise.all([one.ended, other.ended])
  expect(other.ids).toEqual(one.ids)
  expect(other.of('process:exit')).toEqual(one.of('process:exit'))
})

test('a Skill is activated by the body, and an unknown one is an error', async () => {
  const { server, id } = await place()
  const folder = join(server.root, 'home', 'skills', 'greeting')
  await mkdir(folder, { recursive: true })
  const page = '---\nname: greeting\ndescription: Greets.\n---\nSay hello.\n'
  await writeFile(join(folder, 'SKILL.md'), page)
  const watching = await watch(server, id)
  const stream = await turn(server, id, 'Hello', { skills: [{ name: 'greeting', args: 'now' }] })
  await stream.ended
  await watching.first('process:exit')
  const events = watching.of('log:event').map(({ type, data }) => [type, data])
  expect(events).toContainEqual([
    'skill_activation',
    expect.objectContaining({ name: 'greeting', args: 'now', activated_by: 'user' }),
  ])
  expect(
    await server.api('POST', TURN, { sessionId: id, message: 'Hi', skills: [{ name: 'none' }] }),
  ).toMatchObject({ status: 404, body: { error: { type: 'NOT_FOUND' } } })
})

test('the server stops while a Turn runs, and the Turn has its end', async () => {
  const { server, id } = await place()
  const stream = await turn(server, id, 'Write "a" to a.txt')
  await stream.first('permission:request')
  await server.running.close()
  await stream.ended
  const { stdout } = await runCli({ root: server.root }, 'log', 'show', id, '--json')
  expect(stdout).toContain('"interrupted"')
  expect(
    JSON.parse((await runCli({ root: server.root }, 'sessions', '--json')).stdout),
  ).toMatchObject({ sessions: [{ session_id: id, turn_open: false }] })
})
