import { Hono } from 'hono'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { failed, ok } from '../../../model/errors.ts'
import { ofSession, route, type Route } from './route.ts'
import type { RequestVariables } from './answer.ts'

interface Parts {
  readonly harbour: string
}

const MOOR = route('POST /berths/:berth', {
  summary: 'Moors a boat.',
  query: z.object({ after_seq: z.string().optional() }),
  resumes: true,
  body: z.strictObject({ boat: z.string() }),
  limit: 40,
  status: 201,
  handle: ({ harbour }: Parts, { context, query, body }) => {
    const berth = context.req.param('berth')
    if (berth === 'taken') return failed('not_found', 'No such berth.')
    if (berth === 'gone') return ofSession(failed('not_found', 'No such Session.'))
    if (berth === 'raw') return context.text('as it is')
    return ok({ harbour, berth, ...body, ...query })
  },
})

function post(one: Route<Parts>, path: string, body: unknown, headers = {}) {
  const app = new Hono<RequestVariables>()
  app.on(one.method, one.path, (context) => one.serve({ harbour: 'Kiel' }, context))
  const json = { 'content-type': 'application/json', ...headers }
  return app.request(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
}

test('a route gets its checked query and body, and its value is sent with its status', async () => {
  const sent = await post(MOOR, '/berths/7?after_seq=3', { boat: 'Anna' })
  expect([sent.status, await sent.json()]).toEqual([
    201,
    { ok: true, harbour: 'Kiel', berth: '7', boat: 'Anna', after_seq: '3' },
  ])
})

test('a client that reconnects by itself continues after the last event that it has', async () => {
  const headers = { 'last-event-id': '9' }
  const sent = await post(MOOR, '/berths/7?after_seq=3', { boat: 'Anna' }, headers)
  expect(await sent.json()).toMatchObject({ after_seq: '9' })
})

test.each([
  ['/berths/7', { boat: 1 }, 400, 'INVALID_REQUEST'],
  ['/berths/7', { boat: 'A'.repeat(40) }, 413, 'TOO_LARGE'],
  ['/berths/taken', { boat: 'Anna' }, 404, 'NOT_FOUND'],
  ['/berths/gone', { boat: 'Anna' }, 404, 'SESSION_NOT_FOUND'],
])('a failure at %s with %j is %i %s', async (path, body, status, type) => {
  const sent = await post(MOOR, path, body)
  expect([sent.status, await sent.json()]).toMatchObject([status, { ok: false, error: { type } }])
})

test('a response is sent as it is', async () => {
  const sent = await post(MOOR, '/berths/raw', { boat: 'Anna' })
  expect([sent.status, await sent.text()]).toEqual([200, 'as it is'])
})
