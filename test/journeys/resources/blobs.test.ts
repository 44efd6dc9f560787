import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BlobStore } from '../../../src/blobs/store.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { BlobKey } from '../../../src/model/ids.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { oneOfEach, say } from '../../support/resources/sample-files.ts'
import { memoryStore } from '../../support/resources/memory-store.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { visionPlace, type SeenRequest } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { treeHash } from '../../support/host/tree-hash.ts'

/** A Session with an attached image, PDF and text. */
async function sessionWithFiles(changes: Changes = {}) {
  const place = await visionPlace('in process', { changes })
  if (changes.log?.store) await registerDamage(place.root, 'blobs', 'its blobs are in memory only')
  const attachments = (await oneOfEach(place.workspace)).map(({ input }) => input)
  const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
  expect(await say(session, 'Look.', { attachments })).toBe('completed')
  return { ...place, session, attachments }
}

/** A Session that also changed a file and undid it, viewed and dropped Resources, with its answers. */
async function story(changes: Changes = {}) {
  const place = await sessionWithFiles(changes)
  const { session, attachments } = place
  const statuses = [
    await say(session, 'Write "one" into a.txt.'),
    await say(session, 'Write "two" into a.txt.'),
    await say(session, 'View @img1'),
    await say(session, 'Again.', { attachments, views: ['@txt3'] }),
  ]
  expect(statuses).toEqual(['completed', 'completed', 'completed', 'completed'])
  const diff = value(await session.diff())
  const { files } = value(await session.undo())
  // The previous content comes from a blob.
  expect(await readFile(join(place.workspace, 'a.txt'), 'utf8')).toBe('one')
  value(await session.dropResource('@img1'))
  await verified(place, session)
  const payload = value(await session.resourceBytes('@pdf2'))
  return { ...place, answers: { diff, files, payload } }
}

/** Events without ids, times and values derived from them, so that two Sessions can be compared. */
function logged({ session }: Awaited<ReturnType<typeof story>>) {
  return session.events.map(({ type, data }) => {
    const text = JSON.stringify(data)
    return { type, fields: Object.keys(data), blobs: text.match(/[0-9a-f]{64}\.[a-z]+/g) ?? [] }
  })
}

/** What the person and tools brought into a request, without the rest, such as the path of the workspace. */
function shown({ files, notes, texts }: SeenRequest) {
  return { files, notes, texts }
}

test('a Session on a store of another kind has the same Log, requests and answers [TI-031]', async () => {
  const onDisk = await story()
  const inMemory = await story({ log: { store: memoryStore(systemClock).store } })
  expect(inMemory.seen.map(shown)).toEqual(onDisk.seen.map(shown))
  expect(logged(inMemory)).toEqual(logged(onDisk))
  expect(inMemory.answers).toEqual(onDisk.answers)
  // Nothing bypasses the port and writes to the disk.
  expect(await readdir(join(inMemory.workspace, '.hawser', 'blobs'))).toEqual([])
  await remove(inMemory)
})

/** The blobs of these Sessions are lost when this process exits, so they cannot be proved afterwards. */
async function remove({
  harness,
  session,
}: Awaited<ReturnType<typeof sessionWithFiles>>): Promise<void> {
  await session.close()
  value(await harness.delete(session.id))
}

test('only the sweep deletes blobs, and the same contents again add none [TI-040]', async () => {
  const memory = memoryStore(systemClock)
  const deleted: string[] = []
  const store: BlobStore = {
    ...memory.store,
    delete: (key, unless) => {
      deleted.push(key)
      return memory.store.delete(key, unless)
    },
  }
  const { harness, session, attachments } = await story({ log: { store } })
  const before = value(await store.list()).toSorted()
  for (const text of ['Once more.', 'And again.']) {
    expect(await say(session, text, { attachments })).toBe('completed')
  }
  const images = (keys: readonly string[]) => keys.filter((key) => /\.(png|pdf)$/.test(key))
  const after = value(await store.list()).toSorted()
  expect([after, images(after).length]).toEqual([before, 2])
  await session.close()
  value(await harness.delete(session.id))
  expect([value(await store.list()).toSorted(), deleted]).toEqual([before, []])
  for (const key of before) memory.age(key, 2 * 60 * 60 * 1000)
  expect(value(await harness.gc({ dryRun: false })).deleted.toSorted()).toEqual(before)
  expect(deleted.toSorted()).toEqual(before)
})

test('a sweep changes no Log, no head and nothing else that Hawser stores [TI-042]', async () => {
  const { harness, root, workspace, session, parts } = await sessionWithFiles()
  await session.close()
  const loose = value(await parts.log.store.put([Buffer.from('mentioned nowhere')], 'text/plain'))
  const own = join(workspace, '.hawser')
  await mkdir(join(own, 'tether', 'instance'), { recursive: true, mode: 0o700 })
  await writeFile(join(own, 'tether', 'instance', 'frames.ndjson'), '{"seq":1}\n')
  // The first sweep leaves the file of the lock under which Logs are removed.
  expect(value(await harness.gc({ dryRun: false })).deleted).toEqual([])
  const twoHoursAgo = Date.now() / 1000 - 2 * 60 * 60
  await utimes(join(own, 'blobs', loose), twoHoursAgo, twoHoursAgo)
  const before = await treeHash(root, [join(own, 'blobs')])
  expect(value(await harness.gc({ dryRun: false })).deleted).toEqual([loose])
  expect(await treeHash(root, [join(own, 'blobs')])).toBe(before)
})

test('no handle becomes a path: the store is called with valid keys only [TI-122]', async () => {
  const keys: string[] = []
  const memory = memoryStore(systemClock).store
  const note = (key: string) => {
    keys.push(key)
    return key
  }
  const store: BlobStore = {
    ...memory,
    get: (key) => memory.get(note(key)),
    open: (key) => memory.open(note(key)),
    stat: (key) => memory.stat(note(key)),
  }
  const place = await sessionWithFiles({ log: { store } })
  const { session, root, seen } = place
  await writeFile(join(root, 'secret.txt'), 'not yours')
  const outside = join(root, 'secret.txt')
  for (const handle of [outside, '../../secret.txt', '@txt3/../secret.txt', '@/etc/passwd', '']) {
    expect(await session.resourceBytes(handle)).toMatchObject({ ok: false })
    expect((await session.admit('Look.', { views: [handle] })).ok).toBe(false)
    await say(session, `View ${handle}`)
  }
  expect((await session.resourceBytes('@txt3')).ok).toBe(true)
  expect(keys.length).toBeGreaterThan(0)
  expect(keys.filter((key) => !BlobKey.safeParse(key).success)).toEqual([])
  expect(JSON.stringify(seen.map(shown))).not.toContain('not yours')
  await remove(place)
})
