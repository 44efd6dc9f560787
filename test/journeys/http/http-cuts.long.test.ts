import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localServer } from '../../support/http/local-server.ts'
import { random } from '../../support/host/random.ts'
import { newSession, turn, watch } from '../../support/http/stream-client.ts'
import { numbersBetween } from '../../support/session/watching.ts'

const CUTS = 200
const PLACES = 24
const CHECKPOINTS = 4
const SEED = 21

test('a stream that is cut 200 times and resumed loses and repeats no Event, also across checkpoints', async () => {
  const server = await localServer()
  const id = await newSession(server)
  await writeFile(join(server.workspace, 'a.txt'), 'The quay has forty berths. '.repeat(400))
  const chance = random(SEED)
  const seen: number[] = []
  const enough = new AbortController()
  const work = (async () => {
    let checkpoints = 0
    while (!enough.signal.aborted) {
      await (
        await turn(server, id, 'read a.txt')
      ).ended
      const { body } = await server.api('POST', `/api/harness/session/${id}/compact`, {})
      if ((body as { compaction: { compacted: boolean } }).compaction.compacted) checkpoints += 1
    }
    return checkpoints
  })()
  for (let cut = 0; cut < CUTS; cut += 1) {
    const stream = await watch(server, id, seen.at(-1) ?? -1)
    const wanted = 1 + chance.below(6)
    await stream.until(() => stream.ids.length >= wanted)
    await stream.cut()
    seen.push(...stream.ids)
  }
  enough.abort()
  expect(await work).toBeGreaterThan(0)
  expect(seen.length).toBeGreaterThanOrEqual(CUTS)
  expect(seen).toEqual(numbersBetween(-1, seen.at(-1) ?? -1))
  const last = seen.at(-1) ?? -1
  const all = await watch(server, id)
  await all.until(() => all.ids.includes(last))
  const checkpoints = all.received.flatMap(({ id: seq = last, data }) =>
    data['type'] === 'history_compaction' && seq < last ? [seq] : [],
  )
  expect(checkpoints.length).toBeGreaterThan(0)
  const chosen = Array.from({ length: CHECKPOINTS }, () => chance.below(checkpoints.length))
  const around = chosen.flatMap((at) => [-1, 0, 1].map((by) => (checkpoints[at] ?? 0) + by))
  const anywhere = Array.from({ length: PLACES }, () => chance.below(last))
  for (const from of new Set([-1, 0, ...around, ...anywhere])) {
    const again = await watch(server, id, from)
    await again.until(() => again.ids.includes(last))
    await again.cut()
    expect(again.ids.slice(0, last - from)).toEqual(numbersBetween(from, last))
  }
})
