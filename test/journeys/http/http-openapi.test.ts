import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemClock } from '../../../src/host/clock.ts'
import { httpApp } from '../../../src/presenters/http/app.ts'
import type { ServerParts } from '../../../src/presenters/http/server-parts.ts'
import { RESPONSES, STREAM_EVENTS, type ResponseName } from '../../documents/http-responses.ts'
import { OPERATIONS } from '../../documents/openapi.ts'
import { openFakeTether } from '../../support/tether/fake-tether.ts'
import { userMessage } from '../../support/tether/frames.ts'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, openStream, permit, turn, watch } from '../../support/http/stream-client.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

/** The page for browsers, and what only the command line uses. */
const NOT_API = new Set([
  'GET /',
  'GET /s/{id}',
  'GET /icon.svg',
  'GET /assets/{name}',
  'POST /control/page',
  'POST /control/stop',
  'POST /control/telegram',
])

test('every route is described, and nothing else', () => {
  const parts: Partial<ServerParts> = { token: '', clock: systemClock }
  const { routes } = httpApp(parts as ServerParts)
  const served = routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .filter((route) => !NOT_API.has(route))
  expect(Object.keys(OPERATIONS).toSorted()).toEqual(served.toSorted())
})

test('the description is valid OpenAPI 3.1, and one with an error is not', async () => {
  const text = await readFile(new URL('../../../docs/openapi.yaml', import.meta.url), 'utf8')
  const validator = new Validator()
  expect(await validator.validate(text)).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  const wrong = text.replace('in: path', 'in: nowhere')
  expect(await new Validator().validate(wrong)).toMatchObject({ valid: false })
})

/** Fields that are not described are errors, so that the description cannot fall behind. */
function described(shape: z.ZodType, value: unknown): unknown {
  return shape instanceof z.ZodObject && shape.def.catchall === undefined
    ? shape.strict().safeParse(value).error
    : shape.safeParse(value).error
}

test('responses and events are as described', async () => {
  const server = await localServer()
  const { api, workspace, root } = server
  const fits = async (name: ResponseName, answer: ReturnType<typeof api>) =>
    expect([name, described(RESPONSES[name], (await answer).body)]).toEqual([name, undefined])
  const file = join(root, 'notes.txt')
  await writeFile(file, 'Forty berths.\n')
  const list = `/api/harness/session/list?projectRoot=${encodeURIComponent(workspace)}`
  const id = await newSession(server)
  const at = `/api/harness/session/${id}`
  await fits('Health', api('GET', '/healthz'))
  await fits('Limits', api('GET', '/api/harness/limits'))
  await fits('Models', api('GET', '/api/harness/models'))
  await fits(
    'CreatedSession',
    api('POST', '/api/harness/session/create', { projectRoot: workspace }),
  )
  await fits('Upload', api('PUT', '/api/harness/attachments?name=a.txt', Buffer.from('a')))
  await fits('Verdicts', api('POST', '/api/harness/attachments/check', { paths: [file, '/no'] }))
  const watching = await watch(server, id)
  const stream = await turn(server, id, 'Write "a" to a.txt', { attachments: [file, '/no.png'] })
  const { requestId } = await stream.first('permission:request')
  await fits('Answered', permit(server, requestId, { decision: 'allowed' }))
  await stream.ended
  const stopped = await turn(server, id, 'Write "b" to b.txt')
  await stopped.first('permission:request')
  await fits('PageToken', api('POST', '/page/token', { code: server.running.pageCode() }))
  await fits('Draft', api('PUT', `${at}/draft`, { text: 'a' }))
  await fits('MessageQueue', api('POST', `${at}/queue`, { messageKey: 'k', text: 'a' }))
  await fits('RemovedMessage', api('DELETE', `${at}/queue/k`))
  await fits('Steered', api('POST', '/api/harness/steer', { sessionId: id, text: 'a' }))
  await fits('Workspaces', api('GET', '/api/harness/workspaces'))
  await fits('LogPage', api('GET', `${at}/log`))
  await fits('Mentions', api('GET', `${at}/mentions?text=a`))
  await fits('Skills', api('GET', `${at}/skills`))
  await fits('Interrupted', api('POST', '/api/harness/interrupt', { sessionId: id }))
  await watching.until(() => watching.of('process:exit').length === 2)
  await fits('Compacted', api('POST', `${at}/compact`, { dryRun: true }))
  await fits('OneSession', api('GET', at))
  await fits('Sessions', api('GET', list))
  await watching.cut()
  await fits('DeletedSession', api('DELETE', at))
  await fits('Failure', api('GET', at))
  const all = [...watching.received, ...stream.received, ...stopped.received]
  const wrong = all.flatMap(({ event, data }) => {
    const problem = described(STREAM_EVENTS[event] ?? z.never(), data)
    return problem === undefined ? [] : [{ event, data, problem }]
  })
  expect(wrong).toEqual([])
  expect(all.length).toBeGreaterThan(40)
})

test('responses and events of Instances are as described', async () => {
  const server = await localServer({ openTether: openFakeTether })
  const { api, origin, token } = server
  const fits = (name: ResponseName, body: unknown) =>
    expect([name, described(RESPONSES[name], body)]).toEqual([name, undefined])
  const boat = '/v1/instances/boat'
  fits('Instance', (await api('POST', '/v1/instances', { handle: 'boat' })).body)
  fits('Instance', (await api('POST', `${boat}/start`)).body)
  fits('Instance', (await api('PATCH', boat, { workspace: 'own' })).body)
  fits('Instances', (await api('GET', '/v1/instances')).body)
  fits('AcceptedFrame', (await api('POST', `${boat}/tether`, userMessage('m1'))).body)
  fits('FramePage', (await api('GET', `${boat}/tether/poll`)).body)
  const stored = await fetch(`${origin}${boat}/blobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/png' },
    body: new Uint8Array(TINY_IMAGES.png),
  })
  fits('StoredImage', await stored.json())
  const stream = await openStream(server, { path: `${boat}/tether/stream?after_seq=0` })
  const frame = await stream.first('frame')
  expect(described(STREAM_EVENTS['frame'] ?? z.never(), frame)).toBeUndefined()
  fits('DeletedInstance', (await api('DELETE', boat)).body)
  fits('Failure', (await api('GET', boat)).body)
})
