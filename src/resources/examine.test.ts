import { appendFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { hookedFiles } from '../../test/support/host/hooked-files.ts'
import { value } from '../../test/support/log/story.ts'
import { until, virtualClock, type VirtualClock } from '../../test/support/host/virtual-clock.ts'
import { sha256 } from '../encoding/hash.ts'
import { outsideFiles, type OutsideFiles } from '../host/files/outside-file.ts'
import { LIMITS } from '../model/limits.ts'
import { resolveAttachments, type ResolverParts } from './resolve-attachments.ts'

const MIB = 1024 * 1024

async function filesOf(contents: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = await freshFolder()
  for (const [name, content] of Object.entries(contents))
    await writeFile(join(folder, name), content)
  return folder
}

function resolved(folder: string, names: readonly string[], parts: Partial<ResolverParts>) {
  const inputs = names.map((name) => ({ from: 'path', path: join(folder, name) }) as const)
  return resolveAttachments(inputs, { clock: virtualClock(), ...parts })
}

/** Files of which some block reads until the test releases them, like those of an unreachable machine. */
function slowFiles(isSlow: (path: string) => boolean) {
  const waiting: (() => void)[] = []
  let opened = 0
  const files: OutsideFiles = {
    look: (path) => outsideFiles.look(path),
    open: async (path) => {
      const handle = await outsideFiles.open(path)
      opened += 1
      return {
        stat: () => handle.stat(),
        read: async (into, position) => {
          if (isSlow(path)) await new Promise<void>((resolve) => void waiting.push(resolve))
          return handle.read(into, position)
        },
        close: async () => {
          opened -= 1
          await handle.close()
        },
      }
    },
  }
  return { files, waiting, opened: () => opened }
}

/** Advances the clock by the time limit of one file whenever a read blocks. */
async function letPass(clock: VirtualClock, waiting: readonly unknown[], times: number) {
  for (let n = 1; n <= times; n += 1) {
    await until(() => waiting.length === n)
    clock.advance(LIMITS.attachment_ms)
  }
}

test('[AT-049] a file that cannot be read in time is refused, and the next one is read', async () => {
  const folder = await filesOf({ 'slow.txt': 'S'.repeat(100), 'good.txt': 'good' })
  const { files, waiting, opened } = slowFiles((path) => path.endsWith('slow.txt'))
  const clock = virtualClock()
  const kept: string[] = []
  const keep: NonNullable<ResolverParts['keep']> = async (pieces) => {
    // The abandoned read returns at the worst moment.
    for (const go of waiting) go()
    await until(() => opened() === 0)
    for await (const piece of pieces) kept.push(Buffer.from(piece).toString())
    return {
      ok: false,
      error: { kind: 'storage_failed', message: '', details: {}, next_actions: [] },
    }
  }
  const names = ['slow.txt', 'good.txt']
  const all = resolved(folder, names, { clock, files })
  await letPass(clock, waiting, 1)
  const [slow, good] = value(await all)
  expect(slow).toMatchObject({
    error: {
      code: 'timeout',
      name: 'slow.txt',
      reason: 'reading it took longer than 10 s',
      limit: LIMITS.attachment_ms,
    },
  })
  expect(good).toMatchObject({ facts: { content_sha256: sha256('good') } })
  for (const go of waiting.splice(0)) go()
  await until(() => opened() === 0)

  const again = resolved(folder, names, { clock, files, keep })
  await letPass(clock, waiting, 1)
  await again
  expect(kept).toEqual(['good'])
  expect(clock.pending()).toEqual([])
})

test('[AT-049] after the time limit of a Turn, its remaining files are not opened', async () => {
  const names = ['1.txt', '2.txt', '3.txt', '4.txt']
  const folder = await filesOf(Object.fromEntries(names.map((name) => [name, name])))
  const { files, waiting, opened } = slowFiles(() => true)
  const clock = virtualClock()
  const all = resolved(folder, names, { clock, files })
  await letPass(clock, waiting, 3)
  const reasons = value(await all).map((one) => (one.ok ? '' : one.error.reason))
  expect(reasons).toEqual([
    'reading it took longer than 10 s',
    'reading it took longer than 10 s',
    'reading the attachments of this Turn took longer than 30 s',
    'reading the attachments of this Turn took longer than 30 s',
  ])
  expect([waiting.length, opened()]).toEqual([3, 3])
  for (const go of waiting) go()
  await until(() => opened() === 0)
})

test('an aborted caller gets no results, and every file is closed', async () => {
  const folder = await filesOf({ 'a.txt': 'a' })
  const { files, waiting, opened } = slowFiles(() => true)
  const [clock, stop] = [virtualClock(), new AbortController()]
  const all = resolved(folder, ['a.txt'], { clock, files, signal: stop.signal })
  await until(() => waiting.length === 1)
  stop.abort()
  expect(await all).toMatchObject({ ok: false, error: { kind: 'interrupted' } })
  for (const go of waiting) go()
  await until(() => opened() === 0)
  expect(clock.pending()).toEqual([])
  const after = await resolved(folder, ['a.txt'], { files, signal: stop.signal })
  expect([after.ok, waiting.length]).toEqual([false, 1])
})

test.each([
  ['grows', (path: string) => appendFile(path, 'x')],
  [
    'is swapped',
    (path: string) => writeFile(`${path}-2`, 'x').then(() => rename(`${path}-2`, path)),
  ],
])('a file that %s while it is read is refused, and nothing of it is kept', async (_, change) => {
  const folder = await filesOf({ 'a.txt': 'one', 'b.txt': 'two' })
  await utimes(join(folder, 'a.txt'), 1, 1)
  const files = hookedFiles(async (path) => path.endsWith('a.txt') && change(path))
  const [changed, same] = value(await resolved(folder, ['a.txt', 'b.txt'], { files }))
  expect(changed).toEqual({
    ok: false,
    given: join(folder, 'a.txt'),
    error: {
      code: 'changed_while_read',
      name: 'a.txt',
      reason: 'it changed while it was being read',
    },
  })
  expect(same).toMatchObject({ facts: { content_sha256: sha256('two') } })
})

test.each([
  ['reused for the next file', false, [9 * MIB + 1]],
  ['left to the holder of the bytes', true, [9 * MIB + 1, 9 * MIB + 1]],
])(
  '[AT-050] the buffer of a file has room for it and one byte, and is %s',
  async (_title, held, sizes) => {
    const half = Buffer.alloc(9 * MIB, 'a')
    const folder = await filesOf({ '1.txt': half, '2.txt': half, '3.txt': Buffer.alloc(12 * MIB) })
    const used = new Set<ArrayBufferLike>()
    const files: OutsideFiles = {
      look: (path) => outsideFiles.look(path),
      open: async (path) => {
        const handle = await outsideFiles.open(path)
        return {
          stat: () => handle.stat(),
          read: (into, position) => {
            used.add(into.buffer)
            return handle.read(into, position)
          },
          close: () => handle.close(),
        }
      },
    }
    const bytes: Buffer[] = []
    const hold = held ? { hold: (_key: unknown, one: Buffer) => void bytes.push(one) } : {}
    const all = value(await resolved(folder, ['1.txt', '2.txt', '3.txt'], { files, ...hold }))
    expect(all.map((one) => one.ok)).toEqual([true, true, false])
    expect([...used].map((memory) => memory.byteLength)).toEqual(sizes)
    expect(bytes.map((one) => one.equals(half))).toEqual(held ? [true, true] : [])
  },
)
