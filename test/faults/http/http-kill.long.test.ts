import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { serverProgram, type ServerProgram } from '../../support/http/local-server.ts'
import { newSession, turn, watch, type StreamClient } from '../../support/http/stream-client.ts'

const TURNS = 20

async function watched(server: ServerProgram, id: string, ends: number): Promise<StreamClient> {
  const stream = await watch(server, id)
  await stream.until(() => stream.of('process:exit').length === ends)
  return stream
}

test('after kill -9 of the server during 20 Turns, each ends truthfully and can be repeated by its key', async () => {
  const root = await freshFolder()
  const server = await serverProgram(root)
  const ids: string[] = []
  const streams: StreamClient[] = []
  for (let at = 0; at < TURNS; at += 1) {
    const id = await newSession(server)
    ids.push(id)
    const stream = await turn(server, id, `Write "${at}" to ${at}.txt`, { idempotencyKey: 'one' })
    streams.push(stream)
  }
  await Promise.all(streams.map((one) => one.first('session:init')))
  // Half of them wait for an answer; the others are wherever they happen to be.
  await Promise.all(streams.slice(0, TURNS / 2).map((one) => one.first('permission:request')))
  await server.kill()
  await Promise.all(streams.map((one) => one.ended))
  const next = await serverProgram(root)
  for (const [at, id] of ids.entries()) {
    // The next writer of a Session ends the Turn that crashed. The same key starts none.
    const again = await turn(next, id, `Write "${at}" to ${at}.txt`, { idempotencyKey: 'one' })
    await again.ended
    expect(again.of('session:init')).toMatchObject([
      { repeated: true, turnId: streams[at]?.of('session:init')[0]?.['turnId'] },
    ])
    expect(again.received.at(-1)).toMatchObject({
      event: 'process:exit',
      data: { exitCode: 130, interrupted: true, crashRecovered: true },
    })
    const seen = await watched(next, id, 1)
    expect(again.ids.filter((seq) => !seen.ids.includes(seq))).toEqual([])
    // What a client saw before the crash with a number is in the Log.
    expect(streams[at]?.ids.filter((seq) => !seen.ids.includes(seq))).toEqual([])
    const later = await turn(next, id, 'Thanks.')
    await later.ended
    expect(later.of('process:exit')).toMatchObject([{ exitCode: 0 }])
  }
})

test('a key that was acknowledged before kill -9 never runs again', async () => {
  const root = await freshFolder()
  let server = await serverProgram(root)
  const id = await newSession(server)
  const first = await turn(server, id, 'Hello', { idempotencyKey: 'k' })
  await first.ended
  for (let round = 0; round < 3; round += 1) {
    await server.kill()
    server = await serverProgram(root)
    const again = await turn(server, id, 'Hello', { idempotencyKey: 'k' })
    await again.ended
    expect(again.ids).toEqual(first.ids)
    expect(again.of('chat:complete')).toEqual(first.of('chat:complete'))
  }
  expect((await watched(server, id, 1)).of('session:init')).toHaveLength(1)
})
