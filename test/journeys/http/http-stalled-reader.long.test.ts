import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { localServer, type LocalServer } from '../../support/http/local-server.ts'
import { newSession, turn, watch } from '../../support/http/stream-client.ts'
import { numbersBetween } from '../../support/session/watching.ts'

test('a reader that does not read is dropped and asked to resync, and then misses nothing', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const stalled = await stalledReader(server, id)
  const other = await watch(server, id)
  const text = 'The quay has forty berths. '.repeat(30_000)
  let turns = 0
  while (turns < 24) {
    await (
      await turn(server, id, text)
    ).ended
    turns += 1
  }
  await other.until(() => other.of('process:exit').length === turns)
  const last = other.ids.at(-1) ?? -1
  expect(other.ids).toEqual(numbersBetween(-1, last))
  const received = await stalled()
  expect(received.slice(-200)).toMatch(/event: resync\ndata: .*\n\n$/)
  const ids = [...received.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number))
  expect(ids).toEqual(numbersBetween(-1, ids.at(-1) ?? -1))
  const again = await watch(server, id, ids.at(-1))
  await again.until(() => again.ids.at(-1) === last)
  expect([...ids, ...again.ids]).toEqual(numbersBetween(-1, last))
})

/** Opens the stream and reads nothing, until the returned function reads all of it. */
async function stalledReader({ port, token }: LocalServer, id: string) {
  const request = httpRequest({
    port,
    path: `/api/harness/session/${id}/events`,
    headers: { authorization: `Bearer ${token}` },
  })
  onTestFinished(() => void request.destroy())
  request.end()
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.pause()
  return async () => {
    let all = ''
    for await (const piece of answer.setEncoding('utf8')) all += String(piece)
    return all
  }
}
