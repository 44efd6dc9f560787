import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CrashDisk, PowerCut } from '../../../../test/support/host/crash-disk.ts'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { MADE, madeFiles, restoreMadeHome } from '../../../../test/support/tether/made-home.ts'
import { value } from '../../../../test/support/log/story.ts'
import { virtualClock } from '../../../../test/support/host/virtual-clock.ts'
import { diskFolder } from '../../../host/files/disk.ts'
import { closing, ifThere, readSpan, writeAll, type Folder } from '../../../host/files/files.ts'
import { systemIds } from '../../../host/ids.ts'
import { folderSource } from '../../../host/files/raw-source.ts'
import { thisProcess } from '../../../host/process/holder.ts'
import type { Result } from '../../../model/errors.ts'
import { moveRecords, type MovingParts } from './move-records.ts'

type Mover = (parts: MovingParts) => Promise<Result<void>>

const RECORDS = `instances/${MADE.instance}`
const files = await madeFiles()
const made = (path: string) => files.get(`workspace/.hawser/${path}`)?.toString('latin1')

async function below(root: Folder, path: string, mode: 'open' | 'create'): Promise<Folder> {
  let folder = root
  for (const name of path.split('/')) folder = await folder.folder(name, mode)
  return folder
}

/** A disk with the workspace and the home of test/formats/shared-records, all of it durable. */
async function diskOf(seed: number): Promise<CrashDisk> {
  const disk = new CrashDisk(seed)
  for (const [path, bytes] of files) {
    const at = path.lastIndexOf('/')
    const folder = await below(disk.folder(), path.slice(0, at), 'create')
    const file = await folder.open(path.slice(at + 1), 'create')
    await writeAll(file, bytes)
    await file.sync()
    await file.close()
    await folder.sync()
  }
  return disk
}

async function partsOn(disk: CrashDisk): Promise<MovingParts> {
  return partsBelow(disk.folder())
}

async function partsBelow(root: Folder): Promise<MovingParts> {
  const clock = virtualClock()
  const [heads] = await (await below(root, `home/instances/${MADE.instance}/heads`, 'open')).names()
  return {
    own: await below(root, 'workspace/.hawser', 'open'),
    instance: MADE.instance,
    heads: await below(root, 'home/heads', 'open'),
    guestHeads: await below(root, `home/instances/${MADE.instance}/heads/${heads}`, 'open'),
    frames: folderSource(await below(root, `home/instances/${MADE.instance}/frames`, 'open')),
    clock,
    ids: systemIds(clock),
    holder: thisProcess('hawser'),
  }
}

/** Every file below a folder, except locks, with its content. */
async function contents(folder: Folder, path = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const name of (await folder.names()).toSorted()) {
    const at = path === '' ? name : `${path}/${name}`
    const file = await folder.open(name, 'read').catch(() => undefined)
    if (file === undefined) {
      for (const one of await contents(await folder.folder(name, 'open'), at)) found.set(...one)
    } else if (!/(^|\/)\.lock$|\.lease$/.test(at)) {
      const bytes = await closing(file, async () => readSpan(file, 0, (await file.stat()).size))
      found.set(at, bytes.toString('latin1'))
    }
  }
  return found
}

/** What is wrong after the records were moved; empty if nothing. */
async function faultsOf(disk: CrashDisk): Promise<string[]> {
  const all = await contents(await below(disk.folder(), 'workspace/.hawser', 'open'))
  const has = (path: string, from: string) =>
    all.get(path) === made(from) ? [] : [`${path} is ${all.has(path) ? 'changed' : 'missing'}`]
  const gone = (path: string) => (all.has(path) ? [`${path} is still there`] : [])
  const guests = [MADE.one, MADE.two].flatMap((id) => [`${id}.ndjson`, `${id}.index`])
  const blobs = [...files.keys()].flatMap(
    (path) => /\.hawser\/(blobs\/[0-9a-f].*)/.exec(path)?.[1] ?? [],
  )
  return [
    ...[...guests].flatMap((name) => has(`${RECORDS}/sessions/${name}`, `sessions/${name}`)),
    ...[...guests].flatMap((name) => gone(`sessions/${name}`)),
    ...has(`sessions/${MADE.person}.ndjson`, `sessions/${MADE.person}.ndjson`),
    ...gone(`${RECORDS}/sessions/${MADE.person}.ndjson`),
    ...blobs.flatMap((path) => has(path, path)),
    ...[MADE.shared, MADE.own].flatMap((key) => has(`${RECORDS}/blobs/${key}`, `blobs/${key}`)),
    ...[...all.keys()].filter((path) => path.startsWith('instances/moving-')),
  ]
}

/** Crashes of one move. Each leaves more done, so that the next one is at another place. */
const MOST_CRASHES = 3

/** Moves the records, and crashes at the same step of every try but the last. Returns how often it crashed. */
async function crashing(
  mover: Mover,
  { seed, at, way }: { seed: number; at: number; way: 'power cut' | 'kill' },
) {
  let disk = await diskOf(seed)
  for (let crashes = 0; ; crashes += 1) {
    disk.injectFaults(crashes < MOST_CRASHES ? { powerCutAt: at } : {})
    try {
      value(await mover(await partsOn(disk)))
      return { disk, crashes }
    } catch (error) {
      if (!(error instanceof PowerCut)) throw error
    }
    disk = way === 'kill' ? disk.afterKill(seed + crashes) : disk.afterCrash(seed + crashes)
  }
}

async function corpus(mover: Mover): Promise<{ runs: number; crashes: number; faults: string[] }> {
  const steps = await stepsOf(mover)
  const faults: string[] = []
  let [runs, crashed] = [0, 0]
  for (const way of ['power cut', 'kill'] as const) {
    for (let at = 1; at <= steps; at += 1) {
      const { disk, crashes } = await crashing(mover, { seed: at, at, way })
      runs += 1
      crashed += crashes
      for (const fault of await faultsOf(disk)) faults.push(`${way} at ${at}: ${fault}`)
    }
  }
  return { runs, crashes: crashed, faults }
}

async function stepsOf(mover: Mover): Promise<number> {
  const disk = await diskOf(1)
  const before = disk.steps
  value(await mover(await partsOn(disk)))
  return disk.steps - before
}

describe('records that an Instance shared with the person', () => {
  test('are moved: its Sessions, and copies of the blobs that they and its frames name', async () => {
    const disk = await diskOf(1)
    value(await moveRecords(await partsOn(disk)))
    expect(await faultsOf(disk)).toEqual([])
    const { steps } = disk
    value(await moveRecords(await partsOn(disk)))
    expect(disk.steps - steps).toBeLessThan(3)
  })

  test('are complete after a crash at every step, and after the crashes of every try', async () => {
    const { runs, crashes, faults } = await corpus(moveRecords)
    expect(faults.slice(0, 5)).toEqual([])
    expect([runs > 80, crashes > 1.5 * runs], `${runs} runs, ${crashes} crashes`).toEqual([
      true,
      true,
    ])
  })

  test('are lost by a mover that names the folder first, or removes what is not durable yet', async () => {
    const { faults } = await corpus(naive)
    expect(faults.filter((fault) => /missing|still there/.test(fault)).length).toBeGreaterThan(20)
  })

  test('stay those of the person if they took a Session over, and the Instance gets a copy', async () => {
    const disk = await diskOf(1)
    const parts = await partsOn(disk)
    const head = await parts.heads.open(MADE.one, 'create')
    await head.close()
    value(await moveRecords(parts))
    expect(await faultsOf(disk)).toEqual([
      `sessions/${MADE.one}.ndjson is still there`,
      `sessions/${MADE.one}.index is still there`,
    ])
  })

  test('include a Log that the server knows although its first line is damaged', async () => {
    const disk = await diskOf(1)
    const parts = await partsOn(disk)
    const sessions = await parts.own.folder('sessions', 'open')
    const file = await sessions.open(`${MADE.two}.ndjson`, 'overwrite')
    await file.writeAt(Buffer.from('x'), 0)
    value(await moveRecords(parts))
    const [there, here] = await Promise.all(
      ['sessions', `${RECORDS}/sessions`].map(async (path) =>
        (await below(parts.own, path, 'open')).names(),
      ),
    )
    expect(there).not.toContain(`${MADE.two}.ndjson`)
    expect(here).toContain(`${MADE.two}.ndjson`)
  })

  test.each(['a folder', 'a link'] as const)(
    'are moved although a guest left %s beside a Log and in place of a lock',
    async (kind) => {
      const root = await freshFolder()
      await restoreMadeHome(root)
      const sessions = join(root, 'workspace/.hawser/sessions')
      for (const name of [`${MADE.one}.lease`, `${MADE.one}.x`, `${MADE.two}.index`]) {
        await rm(join(sessions, name), { force: true })
        await (kind === 'a folder'
          ? mkdir(join(sessions, name))
          : symlink('/etc/passwd', join(sessions, name)))
      }
      const parts = await partsBelow(await diskFolder(root))
      value(await moveRecords(parts))
      const [there, here] = await Promise.all(
        ['sessions', `${RECORDS}/sessions`].map(async (path) =>
          (await below(parts.own, path, 'open')).names(),
        ),
      )
      const logs = [`${MADE.one}.ndjson`, `${MADE.two}.ndjson`]
      expect(there).toEqual(expect.not.arrayContaining(logs))
      expect(here).toEqual(expect.arrayContaining(logs))
      expect(here?.filter((name) => name.endsWith('.x') || name === `${MADE.two}.index`)).toEqual(
        [],
      )
    },
  )

  test('are not moved while another process writes one of them', async () => {
    const disk = await diskOf(1)
    const parts = await partsOn(disk)
    const sessions = await parts.own.folder('sessions', 'open')
    const lease = await sessions.open(`${MADE.two}.lease`, 'lease')
    expect(await lease.tryLock()).toBe(true)
    const clock = {
      ...parts.clock,
      after: (_: number, call: () => void) => (queueMicrotask(call), () => {}),
    }
    expect(await moveRecords({ ...parts, clock })).toMatchObject({
      ok: false,
      error: { kind: 'session_busy' },
    })
    await lease.close()
    value(await moveRecords(parts))
    expect(await faultsOf(disk)).toEqual([])
  })
})

/** Creates the folder by its name, and syncs nothing before it removes. */
async function naive({ own, instance }: MovingParts): Promise<Result<void>> {
  const all = await own.folder('instances', 'create')
  if ((await ifThere(all.folder(instance, 'open'))) !== undefined)
    return { ok: true, value: undefined }
  const records = await all.folder(instance, 'create')
  for (const name of ['sessions', 'blobs']) {
    const [from, to] = [await own.folder(name, 'open'), await records.folder(name, 'create')]
    for (const one of await from.names()) {
      if (name === 'sessions' && !one.startsWith(MADE.one) && !one.startsWith(MADE.two)) continue
      const file = await from.open(one, 'read')
      const copy = await to.open(one, 'lease')
      await writeAll(copy, await readSpan(file, 0, (await file.stat()).size))
      if (name === 'sessions') await from.remove(one)
    }
  }
  return { ok: true, value: undefined }
}
