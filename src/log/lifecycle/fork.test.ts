import { expect, test } from 'vitest'
import { CrashDisk, PowerCut } from '../../../test/support/host/crash-disk.ts'
import { random } from '../../../test/support/host/random.ts'
import {
  addNote,
  blobsOf,
  collect,
  deleteAt,
  eventsOf,
  forkAt,
  newLog,
} from '../../../test/support/log/branches.ts'
import { immediateClock, testPlace, type TestPlace } from '../../../test/support/log/log-place.ts'
import { rawBytes } from '../../../test/support/log/raw-log.ts'
import { value } from '../../../test/support/log/story.ts'
import type { SessionId } from '../../model/ids.ts'
import { openReader } from '../reader.ts'

interface Scene {
  readonly disk: CrashDisk
  readonly storage: TestPlace
  readonly root: SessionId
  readonly child: SessionId
}

/** A root with four lines and a child that shares two of them and has one of its own. */
async function scene(seed: number): Promise<Scene> {
  const disk = new CrashDisk(seed)
  const storage = await testPlace(disk.folder(), immediateClock)
  const root = await newLog(storage)
  for (const text of ['one', 'two', 'three']) value(await addNote(storage, root, text))
  const child = value(await forkAt(storage, root, 1)).session_id
  value(await addNote(storage, child, 'of the child'))
  return { disk, storage, root, child }
}

/** Runs `work` with a power cut, and with a kill, at each of its steps, and `look` at what the next process finds. */
async function cutAtEveryStep<T>(
  work: (scene: Scene) => Promise<T>,
  look: (after: TestPlace, before: Scene, done: T | undefined) => Promise<void>,
): Promise<number> {
  const whole = await scene(0)
  const begun = whole.disk.steps
  await work(whole)
  const steps = whole.disk.steps - begun
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    for (const how of ['afterCrash', 'afterKill'] as const) {
      const before = await scene(cutAt)
      before.disk.injectFaults({ powerCutAt: cutAt })
      const done = await work(before).catch((error: unknown) => {
        if (!(error instanceof PowerCut)) throw error
        return undefined
      })
      const after = await testPlace(before.disk[how](cutAt).folder(), immediateClock)
      await look(after, before, done)
    }
  }
  return steps
}

async function isThere(storage: TestPlace, id: SessionId): Promise<boolean> {
  const reader = await openReader(storage.place, id)
  if (reader.ok) await reader.value.close()
  else expect(reader.error.kind).toBe('not_found')
  expect((await storage.place.logs.list()).includes(id)).toBe(reader.ok)
  return reader.ok
}

/** The Sessions that exist: of one whose creation was torn, a Log may be left. */
async function openable(storage: TestPlace): Promise<SessionId[]> {
  const all: SessionId[] = []
  for (const id of await storage.place.logs.list()) {
    const reader = await openReader(storage.place, id)
    if (!reader.ok) continue
    await reader.value.close()
    all.push(id)
  }
  return all
}

/** The files of Logs, without leases, which stay, and Logs without a whole line. */
async function filesOf({ place: { folders } }: TestPlace): Promise<string[]> {
  const names = await folders.sessions.names()
  const kept: string[] = []
  for (const name of names.filter((one) => /^ses_.*\.(ndjson|deleted|torn|index)/.test(one))) {
    const bytes = await rawBytes(folders.sessions, name)
    if (!name.endsWith('.ndjson') || bytes.includes(10)) kept.push(name)
  }
  return kept.toSorted()
}

test('a fork that is cut or killed at any step is whole or not there, and its parent is as before', async () => {
  const steps = await cutAtEveryStep(
    ({ storage, root }) => forkAt(storage, root),
    async (after, { root, child }, done) => {
      const all = await after.place.logs.list()
      expect(await eventsOf(after, root)).toHaveLength(4)
      expect(await eventsOf(after, child)).toHaveLength(4)
      if (done !== undefined) expect(all).toContain(value(done).session_id)
      await collect(after)
      const files = await filesOf(after)
      for (const id of await openable(after)) {
        if (id !== root && id !== child) expect(await eventsOf(after, id)).toHaveLength(5)
        expect(files).toContain(`${id}.ndjson`)
      }
      const kept = await after.place.logs.list()
      expect(files.filter((name) => !kept.some((id) => name.startsWith(id)))).toEqual([])
    },
  )
  expect(steps).toBeGreaterThan(10)
})

test('a follower learns that its Session was deleted, also if a fork still needs it', async () => {
  const { storage, root, child } = await scene(1)
  const reader = value(await openReader(storage.place, root))
  const { cursor } = value(await reader.forward(() => {}))
  const followed: unknown[] = []
  const following = (async () => {
    for await (const one of reader.follow(cursor, new AbortController().signal)) followed.push(one)
  })()
  value(await deleteAt(storage, root))
  await following
  expect(followed).toMatchObject([{ ok: false, error: { kind: 'not_found' } }])
  await reader.close()
  expect(await storage.place.logs.listHidden()).toEqual([root])
  expect(await eventsOf(storage, child)).toHaveLength(4)
})

test('deleting a parent that is cut or killed at any step hides it or not, and its fork never notices', async () => {
  const steps = await cutAtEveryStep(
    ({ storage, root }) => deleteAt(storage, root),
    async (after, { root, child }, done) => {
      const stays = await isThere(after, root)
      if (done !== undefined) expect([value(done), stays]).toEqual([undefined, false])
      if (stays) expect(await eventsOf(after, root)).toHaveLength(4)
      expect(await eventsOf(after, child)).toHaveLength(4)
      await collect(after)
      expect(await eventsOf(after, child)).toHaveLength(4)
      expect((await blobsIn(after)).length).toBe(stays ? 4 : 2)
      if (stays) value(await deleteAt(after, root))
      value(await deleteAt(after, child))
      await collect(after)
      expect([await filesOf(after), await blobsIn(after)]).toEqual([[], []])
    },
  )
  expect(steps).toBeGreaterThan(6)
})

test('of a Session that no fork needs, a deletion that is cut or killed at any step leaves nothing that a sweep does not find', async () => {
  let unfinished = 0
  await cutAtEveryStep(
    ({ storage, child }) => deleteAt(storage, child),
    async (after, { root, child }, done) => {
      const stays = await isThere(after, child)
      if (done !== undefined) expect([value(done), stays]).toEqual([undefined, false])
      if (stays) expect(await eventsOf(after, child)).toHaveLength(4)
      else if ((await after.place.heads.list()).includes(child)) unfinished += 1
      await collect(after)
      if (stays) value(await deleteAt(after, child))
      expect((await filesOf(after)).filter((name) => name.startsWith(child))).toEqual([])
      expect(await after.place.heads.list()).toEqual([root])
      expect(await eventsOf(after, root)).toHaveLength(4)
    },
  )
  expect(unfinished).toBeGreaterThan(0)
})

test('a sweep that is cut or killed at any step loses nothing, and the next one ends its work', async () => {
  const steps = await cutAtEveryStep(
    async ({ storage, root, child }) => {
      const other = value(await forkAt(storage, root, 2)).session_id
      value(await deleteAt(storage, root))
      value(await deleteAt(storage, child))
      await collect(storage)
      return other
    },
    async (after, { root, child }) => {
      const others = (await openable(after)).filter((id) => id !== root && id !== child)
      for (const id of others) expect(await eventsOf(after, id)).toHaveLength(4)
      await collect(after)
      for (const id of others) expect(await eventsOf(after, id)).toHaveLength(4)
      for (const id of await openable(after)) value(await deleteAt(after, id))
      await collect(after)
      expect([await filesOf(after), await blobsIn(after)]).toEqual([[], []])
    },
  )
  expect(steps).toBeGreaterThan(30)
})

async function blobsIn({ blobs }: TestPlace): Promise<string[]> {
  return (await blobs.names()).filter((name) => name.endsWith('.txt')).toSorted()
}

/** What each Session that is there must have. */
type Expected = Map<SessionId, readonly string[]>

test('in random trees of forks, notes, deletions and sweeps at once, every Session keeps its Events and blobs, and nothing else stays', async () => {
  let forks = 0
  let hidden = 0
  for (let seed = 1; seed <= 12; seed++) {
    const chance = random(seed)
    const disk = new CrashDisk(seed)
    // Each is another process.
    const processes = await Promise.all(
      [1, 2, 3].map(() => testPlace(disk.folder(), immediateClock)),
    )
    const [first = expect.fail('no process')] = processes
    const expected: Expected = new Map()
    for (let n = 0; n < 2; n++) {
      const id = await newLog(first)
      expected.set(id, await eventsOf(first, id))
    }
    for (let round = 0; round < 15; round++) {
      const done = await Promise.all(
        processes.map((storage, n) => step(storage, chance, expected, `${seed}:${round}:${n}`)),
      )
      forks += done.filter((one) => one === 'forked').length
      for (const id of await first.place.logs.list()) {
        const events = await eventsOf(first, id)
        const before = expected.get(id)
        if (before !== undefined) expect(events.slice(0, before.length)).toEqual(before)
        expected.set(id, events)
      }
      for (const id of expected.keys()) {
        if (!(await isThere(first, id))) expected.delete(id)
      }
      hidden += (await first.place.logs.listHidden()).length
      const blobs = new Set(await blobsIn(first))
      for (const id of expected.keys())
        for (const key of await blobsOf(first, id)) expect(blobs.has(key)).toBe(true)
    }
    await collect(first)
    const mentioned = await Promise.all([...expected.keys()].map((id) => blobsOf(first, id)))
    expect(await blobsIn(first)).toEqual([...new Set(mentioned.flat())].toSorted())
    for (const id of expected.keys()) value(await deleteAt(first, id))
    await collect(first)
    expect([await filesOf(first), await blobsIn(first)]).toEqual([[], []])
  }
  expect([forks > 50, hidden > 10]).toEqual([true, true])
})

/** One random act; what another process took away meanwhile, or is writing, is refused. */
async function step(
  storage: TestPlace,
  chance: ReturnType<typeof random>,
  expected: Expected,
  name: string,
): Promise<string> {
  const known = [...expected.keys()]
  const id = known.length === 0 ? await newLog(storage) : chance.pick(known)
  const length = expected.get(id)?.length ?? 1
  const act = chance.below(10)
  if (act < 4) {
    const forked = await forkAt(
      storage,
      id,
      chance.below(2) === 0 ? undefined : chance.below(length),
    )
    return expectedOutcome(forked, 'forked', ['not_found'])
  }
  if (act < 7)
    return expectedOutcome(await addNote(storage, id, name), 'noted', [
      'not_found',
      'session_busy',
      'storage_failed',
    ])
  if (act < 9)
    return expectedOutcome(await deleteAt(storage, id), 'deleted', ['not_found', 'session_busy'])
  // A blob that a note is about to mention is old here, too: only Logs are collected while others write.
  return 'nothing'
}

function expectedOutcome(
  result: { readonly ok: true } | { readonly ok: false; readonly error: { readonly kind: string } },
  done: string,
  refusals: readonly string[],
): string {
  if (result.ok) return done
  expect(refusals).toContain(result.error.kind)
  return result.error.kind
}
