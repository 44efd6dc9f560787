import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { systemClock } from '../../host/clock.ts'
import { closing, readSpan, writeAll, type Folder } from '../../host/files/files.ts'
import { systemIds } from '../../host/ids.ts'
import type { SessionId } from '../../model/ids.ts'
import { noteWritten, writtenOrder } from './written-order.ts'

const ids = systemIds(systemClock)
const MOST_BYTES = 256 * 1024
const sessions = (count: number) => Array.from({ length: count }, () => ids.session())

async function contentOf(heads: Folder): Promise<string> {
  return closing(await heads.open('order', 'read'), async (file) => {
    const { size } = await file.stat()
    return (await readSpan(file, 0, size)).toString('latin1')
  })
}

/** Fills the file with some older Sessions and then two alternating ones, so that one more note compacts it. */
async function nearlyFull(heads: Folder, older: readonly SessionId[]): Promise<string> {
  const [a = expect.fail('no Session'), b] = sessions(2)
  const pair = `${a}\n${b}\n`
  const begin = older.map((id) => `${id}\n`).join('')
  const rest = MOST_BYTES - begin.length
  const content = begin + pair.repeat(Math.floor(rest / pair.length))
  const fill = content + (MOST_BYTES - content.length > pair.length / 2 ? `${a}\n` : '')
  await closing(await heads.open('order', 'lease'), (file) => writeAll(file, Buffer.from(fill)))
  return fill
}

async function byRank(heads: Folder): Promise<SessionId[]> {
  const order = await writtenOrder({ heads })
  return [...order].toSorted(([, a], [, b]) => a - b).map(([id]) => id)
}

test('a Session that is noted again is last, and repeated notes are written once', async () => {
  const heads = new CrashDisk(1).folder()
  const [a = expect.fail(), b = expect.fail()] = sessions(2)
  for (const id of [a, a, b, b, a]) await noteWritten({ heads, ids }, id)
  expect(await contentOf(heads)).toBe(`${a}\n${b}\n${a}\n`)
  expect(await byRank(heads)).toEqual([b, a])
})

test('a file that is too long is compacted, and keeps its order', async () => {
  const heads = new CrashDisk(2).folder()
  const older = sessions(50)
  await nearlyFull(heads, older)
  const [last = expect.fail()] = sessions(1)
  // The oldest line drops out of the part that counts, with or without compaction.
  const before = (await byRank(heads)).slice(1)
  await noteWritten({ heads, ids }, last)
  expect(await byRank(heads)).toEqual([...before, last])
  expect((await contentOf(heads)).length).toBe((before.length + 1) * `${last}\n`.length)
  expect(await heads.names()).toEqual(['order'])
})

test('the file stays within its limit for any number of Sessions, and contains those written last', async () => {
  const heads = new CrashDisk(3).folder()
  const many = sessions(20_000)
  for (const id of many) await noteWritten({ heads, ids }, id)
  expect((await contentOf(heads)).length).toBeLessThanOrEqual(MOST_BYTES)
  const kept = await byRank(heads)
  expect(kept.length).toBeGreaterThan(4_000)
  expect(kept).toEqual(many.slice(-kept.length))
})

test('a note of another process during the replacement is in the new file', async () => {
  const disk = new CrashDisk(4)
  const heads = disk.folder()
  await nearlyFull(heads, sessions(10))
  const [ours = expect.fail(), early = expect.fail(), late = expect.fail()] = sessions(3)
  const other = await heads.open('order', 'lease')
  const interrupted: Folder = {
    ...methodsOf(heads),
    rename: async (from, to) => {
      await writeAll(other, Buffer.from(`${early}\n`))
      await heads.rename(from, to)
    },
  }
  await noteWritten({ heads: interrupted, ids }, ours)
  // A slow process still has the file open that was replaced.
  let first = true
  const slow: Folder = {
    ...methodsOf(heads),
    open: async (name, mode) => {
      const file = first ? other : await heads.open(name, mode)
      first = false
      return file
    },
  }
  await noteWritten({ heads: slow, ids }, late)
  expect((await byRank(heads)).slice(-3)).toEqual([ours, early, late])
})

test('after a power cut at any step of the replacement, the file is the old one or the new one', async () => {
  const seen = new Set<string>()
  for (let powerCutAt = 1; powerCutAt <= 12; powerCutAt += 1) {
    const disk = new CrashDisk(powerCutAt)
    const older = sessions(10)
    const content = await nearlyFull(disk.folder(), older)
    await closing(await disk.folder().open('order', 'append'), (file) => file.sync())
    await disk.folder().sync()
    disk.injectFaults({ powerCutAt })
    const [last = expect.fail()] = sessions(1)
    await noteWritten({ heads: disk.folder(), ids }, last).catch(() => undefined)
    const after = disk.afterCrash(powerCutAt).folder()
    const found = await contentOf(after)
    const state = found.startsWith(content) ? 'old' : 'new'
    seen.add(state)
    if (state === 'new') {
      expect((await byRank(after)).slice(0, 9)).toEqual(older.slice(1))
      expect((await byRank(after)).at(-1)).toBe(last)
    }
  }
  expect([...seen].toSorted()).toEqual(['new', 'old'])
})

function methodsOf(folder: Folder): Folder {
  return {
    label: folder.label,
    folder: (name, mode) => folder.folder(name, mode),
    open: (name, mode) => folder.open(name, mode),
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}
