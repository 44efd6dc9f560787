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

test('forks work without files: in a chain, after a power cut, without their deleted parents, and gc removes those', async () => {
  const engine = new MemoryEngine()
  const blobs = memoryStore(systemClock)
  const first = await harnessPlace(inMemory(engine, blobs))
  const begin = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  const root = value(await first.harness.create(begin))
  for (const text of ['Write "one" into a.txt.', 'Hello.'])
    value(await value(await root.admit(text)).done)
  const child = value(await first.harness.fork(root.id, { turn: 1 })).session_id
  await root.close()

  const rebooted = engine.afterCrash()
  const second = await harnessPlace(inMemory(rebooted, blobs.afterEnd(1)), first.root)
  const opened = value(await second.harness.open(child))
  value(await value(await opened.admit('And then?')).done)
  const grandchild = value(await second.harness.fork(child)).session_id
  const shared = opened.events
  await opened.close()
  for (const parent of [root.id, child]) value(await second.harness.delete(parent))
  expect((await second.harness.list()).map(({ id }) => id)).toEqual([grandchild])
  expect(value(await second.harness.gc({ dryRun: false })).deleted_sessions).toBe(0)

  const third = await harnessPlace(inMemory(rebooted.afterKill(), blobs), first.root)
  const last = value(await third.harness.open(grandchild))
  expect(last.events.slice(0, shared.length).map(({ id }) => id)).toEqual(
    shared.map(({ id }) => id),
  )
  value(await value(await last.admit('Hello again.')).done)
  await last.close()
  expect(value(await third.harness.verify(grandchild, { requests: true }))).toMatchObject({
    requests: { mismatches: [] },
  })
  value(await third.harness.delete(grandchild))
  expect(value(await third.harness.gc({ dryRun: false })).deleted_sessions).toBe(2)
  const { logs } = memoryStores(rebooted.afterKill(), thisProcess('hawser'))
  expect([await logs.list(), await logs.listHidden()]).toEqual([[], []])
  for (const folder of ['workspace/.hawser/sessions', 'workspace/.hawser/blobs', 'home/heads'])
    expect(await readdir(join(first.root, folder))).toEqual([])
})

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
