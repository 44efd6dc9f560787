import { expect, test } from 'vitest'
import { localServer, serverProgram, type ServedPlace } from '../../support/http/local-server.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { newSession, permit, turn, watch } from '../../support/http/stream-client.ts'

function at(id: string, more = ''): string {
  return `/api/harness/session/${id}/queue${more}`
}

async function keys(server: ServedPlace, id: string): Promise<string[]> {
  const { body } = await server.api('GET', at(id))
  return (body as { queue: { messageKey: string }[] }).queue.map(({ messageKey }) => messageKey)
}

/** A Turn that waits for an answer, so that everything after it waits. */
async function held(server: ServedPlace) {
  const id = await newSession(server)
  const watching = await watch(server, id)
  const stream = await turn(server, id, 'Write "a" to a.txt')
  const { requestId } = await stream.first('permission:request')
  const release = () => permit(server, requestId, { decision: 'allowed' })
  return { id, watching, release }
}

function texts(watching: Awaited<ReturnType<typeof watch>>): unknown[] {
  return watching.of('user:message').map(({ text }) => text)
}

test('waiting messages are shown, changed, ordered and withdrawn, and run in their order', async () => {
  const server = await localServer()
  const { id, watching, release } = await held(server)
  for (const messageKey of ['k1', 'k2', 'k3']) {
    const added = await server.api('POST', at(id), { messageKey, text: `Say ${messageKey}` })
    expect(added.status).toBe(201)
  }
  const again = await server.api('POST', at(id), { messageKey: 'k1', text: 'Other' })
  expect(again.body).toMatchObject({ queue: [{ text: 'Say k1' }, {}, {}] })
  await server.api('PATCH', at(id, '/k2'), { text: 'Say two' })
  const order = await server.api('POST', at(id, '/order'), { messageKeys: ['k3', 'k2', 'k1'] })
  expect(order.status).toBe(200)
  expect(await server.api('DELETE', at(id, '/k1'))).toMatchObject({
    status: 200,
    body: { message: { messageKey: 'k1', text: 'Say k1' } },
  })
  expect(await keys(server, id)).toEqual(['k3', 'k2'])
  for (const messageKeys of [['k3'], ['k3', 'k3'], ['k3', 'k2', 'k1'], []]) {
    const refused = await server.api('POST', at(id, '/order'), { messageKeys })
    expect(refused.status).toBe(400)
  }
  await release()
  await watching.until(() => watching.of('process:exit').length === 3)
  expect(texts(watching)).toEqual(['Write "a" to a.txt', 'Say k3', 'Say two'])
  expect(await keys(server, id)).toEqual([])
  for (const gone of [
    server.api('PATCH', at(id, '/k2'), { text: 'x' }),
    server.api('DELETE', at(id, '/k2')),
  ]) {
    expect(await gone).toMatchObject({ status: 404 })
  }
})

test('a message that cannot be sent stays with its reason, and is sent once it is changed', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const watching = await watch(server, id)
  await server.api('POST', at(id), {
    messageKey: 'k1',
    text: '',
    attachments: [{ path: '/missing.png', name: 'missing.png' }],
  })
  await server.api('POST', at(id), { messageKey: 'k2', text: 'Say two' })
  await expect
    .poll(async () => (await server.api('GET', at(id))).body)
    .toMatchObject({
      queue: [{ refused: { kind: 'attachments_failed' } }, { messageKey: 'k2' }],
    })
  const changed = await server.api('PATCH', at(id, '/k1'), { text: 'Say one', attachments: [] })
  // A key that was refused stays refused.
  expect(changed.body).toMatchObject({ queue: [{ messageKey: 'k1~2' }, { messageKey: 'k2' }] })
  await watching.until(() => watching.of('process:exit').length >= 2)
  await expect.poll(() => keys(server, id)).toEqual([])
  expect(texts(watching).slice(-2)).toEqual(['Say one', 'Say two'])
})

test('at most eight messages wait, and a queue of no Session is refused', async () => {
  const server = await localServer()
  const { id, release, watching } = await held(server)
  for (let count = 1; count <= 8; count += 1) {
    await server.api('POST', at(id), { messageKey: `k${count}`, text: 'Say it' })
  }
  const more = await server.api('POST', at(id), { messageKey: 'k9', text: 'Say it' })
  expect([more.status, more.body]).toMatchObject([429, { error: { type: 'BACKPRESSURE' } }])
  for (const body of [{}, { messageKey: 'k', text: 1 }, { messageKey: '', text: 'a' }]) {
    expect((await server.api('POST', at(id), body)).status).toBe(400)
  }
  const other = `ses_${'0'.repeat(26)}`
  const nowhere = await server.api('POST', at(other), { messageKey: 'k', text: 'a' })
  expect(nowhere).toMatchObject({ status: 404, body: { error: { type: 'SESSION_NOT_FOUND' } } })
  for (let count = 1; count <= 8; count += 1) await server.api('DELETE', at(id, `/k${count}`))
  await release()
  await watching.first('process:exit')
})

test('what waits survives a kill of the server, and runs once after it', async () => {
  const root = await freshFolder()
  const server = await serverProgram(root)
  const { id } = await held(server)
  for (const messageKey of ['k1', 'k2']) {
    await server.api('POST', at(id), { messageKey, text: `Say ${messageKey}` })
  }
  await server.kill()
  const next = await serverProgram(root)
  const watching = await watch(next, id)
  await watching.until(() => watching.of('process:exit').length === 3)
  expect(texts(watching)).toEqual(['Write "a" to a.txt', 'Say k1', 'Say k2'])
  await expect.poll(() => keys(next, id)).toEqual([])
})

test('text is added to the running Turn, and to none when no Turn runs', async () => {
  const server = await localServer()
  const { id, watching, release } = await held(server)
  const steer = { sessionId: id, text: 'And then tie up' }
  expect((await server.api('POST', '/api/harness/steer', steer)).body).toMatchObject({
    steered: true,
  })
  await release()
  await watching.first('process:exit')
  expect(watching.of('user:message').at(-1)).toMatchObject({ text: steer.text, steer: true })
  await expect
    .poll(async () => (await server.api('POST', '/api/harness/steer', steer)).body)
    .toMatchObject({ steered: false })
})

test('text for a running Turn that is sent again with its key is added once, and a Turn can change the mode', async () => {
  const server = await localServer()
  const { id, watching, release } = await held(server)
  const steer = (text: string, messageKey: string) =>
    server.api('POST', '/api/harness/steer', { sessionId: id, text, messageKey })
  for (const key of ['k1', 'k1', 'k2'])
    expect((await steer('Say more', key)).body).toMatchObject({ steered: true })
  await release()
  await watching.first('process:exit')
  expect(texts(watching)).toEqual(['Write "a" to a.txt', 'Say more', 'Say more'])
  await (
    await turn(server, id, 'Say plan', { opts: { mode: 'plan' } })
  ).ended
  const { body } = await server.api('GET', `/api/harness/session/${id}`)
  expect(body).toMatchObject({ session: { mode: 'plan', runsHere: false, questions: 0 } })
})
