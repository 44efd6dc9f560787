import { cp, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../../support/cli/cli.ts'
import { localServer } from '../../support/http/local-server.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { newSession, turn, watch } from '../../support/http/stream-client.ts'
import { numbersBetween } from '../../support/session/watching.ts'

/** A watched Session whose second Turn, written by another process, can be lost. */
async function watched() {
  const server = await localServer()
  const id = await newSession(server)
  await (
    await turn(server, id, 'Hello')
  ).ended
  const log = join(server.workspace, '.hawser', 'sessions', `${id}.ndjson`)
  const [heads, kept] = [join(server.root, 'home', 'heads'), join(server.root, 'kept')]
  const { length } = await readFile(log)
  await cp(heads, kept, { recursive: true })
  const say = async (text: string) =>
    (await runCli({ root: server.root }, 'run', '--session', id, text)).code
  const watching = await watch(server, id)
  expect(await say('Lost')).toBe(0)
  await watching.until(() => watching.of('process:exit').length === 2)
  const before = watching.received.length
  const after = () => watching.received.slice(before)
  const restoreHeads = async () => {
    await rm(heads, { recursive: true })
    await cp(kept, heads, { recursive: true })
  }
  return { server, id, log, length, say, watching, after, restoreHeads }
}

test('a watcher is informed that Events were lost before they were durable, and gets all again', async () => {
  const { server, id, log, length, say, watching, after, restoreHeads } = await watched()
  const last = watching.ids.at(-1) ?? -1
  await restoreHeads()
  await truncate(log, length)
  await watching.first('rewound')
  expect(await say('Other')).toBe(0)
  await watching.until(() => after().at(-1)?.event === 'process:exit' && after().some(isOther))
  const [rewound, ...rest] = after()
  expect(rewound).toEqual({ event: 'rewound', data: { afterSeq: -1 }, id: -1 })
  expect(rest.flatMap(({ id: seq }) => seq ?? [])).toEqual(numbersBetween(-1, last))
  expect(JSON.stringify(rest)).not.toContain('"Lost"')
  // A client that reconnects by the last number that it has gets the same.
  const again = await watch(server, id, rewound?.id)
  await again.until(() => again.ids.at(-1) === last)
  expect(again.received).toEqual(rest.filter(({ event }) => event !== 'chat:delta'))
})

const isOther = ({ data }: { data: object }) => JSON.stringify(data).includes('"Other"')

test('a Log that cannot be read any further ends the stream with the reason', async () => {
  const { server, id, log, length, watching, after } = await watched()
  await registerDamage(server.workspace, 'log', 'the end of the Log is cut, and the head knows it')
  await truncate(log, length)
  await watching.ended
  expect(after().at(-1)).toMatchObject({
    event: 'stream:error',
    data: {
      kind: 'log_damaged',
      message: expect.stringContaining('the end of the Log is missing'),
    },
  })
  expect(after().at(-1)).not.toHaveProperty('id')
  const path = `/api/harness/session/${id}`
  expect(await server.api('GET', `${path}/events`)).toMatchObject({
    status: 409,
    body: { error: { type: 'SESSION_DAMAGED', kind: 'log_damaged' } },
  })
  expect(
    await server.api('POST', '/api/harness/turn', { sessionId: id, message: 'Hi' }),
  ).toMatchObject({
    status: 409,
    body: { error: { type: 'SESSION_DAMAGED' } },
  })
})
