import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { thisProcess } from '../../../src/host/process/holder.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { MemoryEngine } from '../../support/log/memory-engine.ts'
import { memoryStores } from '../../support/log/memory-stores.ts'
import { memoryStore } from '../../support/resources/memory-store.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { value } from '../../support/log/story.ts'

/** Everything that a Session stores, in memory; each call is another process. */
function inMemory(engine: MemoryEngine, blobs: ReturnType<typeof memoryStore>): Changes {
  const stores = memoryStores(engine, thisProcess('hawser'))
  const place = {
    ...stores,
    clock: systemClock,
    ids: systemIds(systemClock),
    schemas: 'of the tests',
  }
  return { log: { place, store: blobs.store } }
}

test('Sessions work without files: Turns, another process, gc, a power cut, verification and deletion', async () => {
  const engine = new MemoryEngine()
  const blobs = memoryStore(systemClock)
  const first = await harnessPlace(inMemory(engine, blobs))
  const begin = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  const session = value(await first.harness.create(begin))
  value(await value(await session.admit('Write "one" into a.txt.')).done)
  await session.close()
  expect((await first.harness.list()).map(({ id }) => id)).toEqual([session.id])

  const second = await harnessPlace(inMemory(engine, blobs), first.root)
  const resumed = value(await second.harness.open(session.id))
  const before = resumed.events
  value(await value(await resumed.admit('Hello.')).done)
  expect(resumed.events.slice(0, before.length)).toEqual(before)
  const written = resumed.events
  await resumed.close()
  expect(value(await second.harness.gc({ dryRun: false }))).toMatchObject({ deleted: [] })

  const rebooted = engine.afterCrash()
  const third = await harnessPlace(inMemory(rebooted, blobs.afterEnd(1)), first.root)
  const again = value(await third.harness.open(session.id))
  expect(again.events).toEqual(written)
  value(await value(await again.admit('Hello again.')).done)
  await again.close()
  expect(value(await third.harness.verify(session.id, { requests: true }))).toMatchObject({
    requests: { mismatches: [] },
  })
  value(await third.harness.delete(session.id))
  expect(await third.harness.list()).toEqual([])
  for (const folder of ['workspace/.hawser/sessions', 'workspace/.hawser/blobs', 'home/heads'])
    expect(await readdir(join(first.root, folder))).toEqual([])
})
