import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { serverProgram, type ServedPlace } from '../../support/http/local-server.ts'
import { startProgram } from '../../support/cli/program.ts'
import {
  newSession,
  permit,
  turn,
  watch,
  type StreamClient,
} from '../../support/http/stream-client.ts'
import { numbersBetween } from '../../support/session/watching.ts'

/** A client of its own: it watches the Session, runs Turns and answers. */
interface Client {
  readonly seen: StreamClient
  readonly say: (text: string) => Promise<StreamClient>
  readonly answer: (question: number) => Promise<number>
}

async function client(server: ServedPlace, id: string): Promise<Client> {
  const seen = await watch(server, id)
  return {
    seen,
    say: (text) => turn(server, id, text),
    answer: async (question) => {
      await seen.until(() => seen.of('permission:request').length > question)
      const { requestId } = seen.of('permission:request')[question] ?? {}
      return (await permit(server, requestId, { decision: 'allowed' })).status
    },
  }
}

test('two HTTP clients and a command line on one Session: each sees everything, and the second answer gets 409', async () => {
  const root = await freshFolder()
  const server = await serverProgram(root)
  const id = await newSession(server)
  const [a, b] = [await client(server, id), await client(server, id)]
  const follower = await startProgram({ root }, ['log', 'show', id, '--follow', '--json'])
  await follower.waitFor('"session_started"')

  const first = await a.say('Write "one" to 1.txt')
  expect([await b.answer(0), await a.answer(0)]).toEqual([200, 409])
  await first.ended
  const second = await b.say('Write "two" to 2.txt')
  expect([await a.answer(1), await b.answer(1)]).toEqual([200, 409])
  await second.ended
  // Both at once: one of them counts.
  const third = await a.say('Write "three" to 3.txt')
  const both = await Promise.all([a.answer(2), b.answer(2)])
  expect(both.toSorted((x, y) => x - y)).toEqual([200, 409])
  await third.ended
  const run = await startProgram({ root }, ['run', '--session', id, 'Thanks.'])
  expect(await run.ended).toEqual({ code: 0, signal: null })

  await a.seen.until(() => a.seen.of('process:exit').length === 4)
  const last = a.seen.ids.at(-1) ?? -1
  await b.seen.until(() => b.seen.ids.at(-1) === last)
  expect(a.seen.ids).toEqual(numbersBetween(-1, last))
  // The same Events, deltas and questions, in the same order.
  expect(b.seen.received).toEqual(a.seen.received)
  expect(a.seen.of('permission:settled').map(({ decision }) => decision)).toEqual([
    'allowed',
    'allowed',
    'allowed',
  ])
  await follower.waitFor(`"seq":${last},`)
  await expect.poll(() => follower.stdout().endsWith('\n')).toBe(true)
  const lines = follower.stdout().trimEnd().split('\n')
  const seqs = lines.map((line) => (JSON.parse(line) as { seq: number }).seq)
  expect(seqs).toEqual(numbersBetween(-1, last))
})
