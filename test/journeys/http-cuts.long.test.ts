import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localServer } from '../support/local-server.ts'
import { random } from '../support/random.ts'
import { newSession, turn, watch } from '../support/stream-client.ts'
import { numbersBetween } from '../support/watching.ts'

const CUTS = 200
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
  for (const from of [-1, 0, chance.below(seen.length), chance.below(seen.length)]) {
    const last = seen.at(-1) ?? -1
    const again = await watch(server, id, from)
    await again.until(() => again.ids.includes(last))
    expect(again.ids.slice(0, last - from)).toEqual(numbersBetween(from, last))
  }
})
