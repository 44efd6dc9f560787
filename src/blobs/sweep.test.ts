import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { value } from '../../test/support/log/story.ts'
import { systemClock } from '../host/clock.ts'
import { diskFolder } from '../host/files/disk.ts'
import { systemIds } from '../host/ids.ts'
import { folderSource } from '../host/files/raw-source.ts'
import { openWorkspace } from '../host/workspace.ts'
import type { BlobKey } from '../model/ids.ts'
import { sweepBlobs } from './sweep.ts'
import type { BlobStore } from './store.ts'
import { workspaceBlobStore } from './workspace-store.ts'

const ids = systemIds(systemClock)
/** Later than every stored blob. */
const LATER = () => Date.now() + 3_600_000
const nobody = async () => []

async function harbour() {
  const path = await freshFolder()
  const workspace = value(await openWorkspace(path, ids))
  onTestFinished(() => workspace.close())
  const store = workspaceBlobStore({ folder: workspace.blobs, ids, clock: systemClock })
  const put = async (text: string, type = 'text/plain') =>
    value(await store.put([Buffer.from(text)], type))
  const mention = (name: string, text: string | Buffer) =>
    writeFile(join(path, '.hawser', 'sessions', name), text)
  const sweep = (olderThan = LATER(), dryRun = false, by: BlobStore = store) =>
    sweepBlobs(by, {
      mentions: [folderSource(workspace.sessions)],
      writing: nobody,
      olderThan,
      dryRun,
    })
  return { path, store, workspace, put, mention, sweep }
}

test('a blob that no file mentions is deleted; one that any file mentions is kept [TI-041]', async () => {
  const { put, mention, sweep, store } = await harbour()
  const kept = {
    log: await put('in a Log'),
    torn: await put('in a torn piece'),
    hidden: await put('in a hidden parent'),
    garbage: await put('among garbage'),
    upper: await put('in capitals'),
    dense: await put('among other digits'),
    border: await put('across the border of two reads'),
  }
  const loose = await put('nowhere')
  const hash = (key: BlobKey) => key.slice(0, 64)
  await mention('a.ndjson', `{"blob":"${kept.log}"}\n`)
  await mention('a.torn-4', `{"blob":"${kept.torn}`)
  await mention('b.deleted', kept.hidden)
  await mention(
    'c.ndjson',
    Buffer.concat([Buffer.from([0, 255]), Buffer.from(hash(kept.garbage)), Buffer.from([254])]),
  )
  await mention('d.ndjson', hash(kept.upper).toUpperCase())
  await mention('e.ndjson', `abc${hash(kept.dense)}123`)
  await mention('f.ndjson', 'z'.repeat(256 * 1024 - 30) + hash(kept.border))
  const swept = value(await sweep())
  expect(swept).toMatchObject({ kept: 7, deleted: [loose], freed_bytes: 7 })
  expect(value(await store.list()).toSorted()).toEqual(Object.values(kept).toSorted())
})

test('a blob mentioned through other mentioned blobs is kept', async () => {
  const { put, mention, sweep } = await harbour()
  const third = await put('third', 'image/png')
  const second = await put(`{"then":"${third}"}`, 'application/json')
  const first = await put(`see ${second}`)
  const unmentioned = await put('also nowhere')
  const loose = await put(`see ${unmentioned} too`)
  await mention('a.ndjson', first)
  const { deleted } = value(await sweep())
  expect(deleted.toSorted()).toEqual([unmentioned, loose].toSorted())
})

test('a recently stored or renewed blob is kept', async () => {
  const { put, sweep } = await harbour()
  await put('about to be named')
  expect(value(await sweep(Date.now() - 60_000)).deleted).toEqual([])
})

test('a blob renewed after the sweep began is not deleted', async () => {
  const { path, put, sweep, store } = await harbour()
  const key = await put('rope')
  const anHourAgo = Date.now() / 1000 - 3600
  await utimes(join(path, '.hawser', 'blobs', key), anHourAgo, anHourAgo)
  // The put happens between the sweep's check and its deletion.
  const late: BlobStore = {
    ...store,
    delete: async (blob, unless) => {
      await put('rope')
      return store.delete(blob, unless)
    },
  }
  expect(value(await sweep(Date.now() - 60_000, false, late)).deleted).toEqual([])
  expect((await store.get(key)).ok).toBe(true)
})

test('if a file that may mention blobs cannot be read, nothing is deleted and the file is named', async () => {
  const { path, put, sweep, store } = await harbour()
  const key = await put('nowhere')
  await symlink('/nowhere', join(path, '.hawser', 'sessions', 'link'))
  expect(await sweep()).toMatchObject({
    error: {
      details: { file: expect.stringMatching(/sessions\/link$/) as string },
      next_actions: [{ command: 'hawser gc' }],
    },
  })
  expect((await store.get(key)).ok).toBe(true)
})

test('if mentioned texts cannot be read, nothing is deleted, and the error names each with its Sessions and next steps', async () => {
  const { path, put, mention, sweep, store } = await harbour()
  const blobs = join(path, '.hawser', 'blobs')
  const session = ids.session()
  const spoilt = await put('see the next')
  const unreadable = await put('see another', 'application/json')
  const outer = await put(`see ${unreadable}`)
  await mention(`${session}.ndjson`, `{"output_blob":"${spoilt}"} {"text_blob":"${outer}"}`)
  const loose = await put('nowhere')
  const also = await put('also nowhere')
  await writeFile(join(blobs, also), 'spoilt, and mentioned nowhere')
  await writeFile(join(blobs, spoilt), 'spoilt')
  await rm(join(blobs, unreadable))
  await mkdir(join(blobs, unreadable))
  const swept = await sweep()
  expect(swept).toMatchObject({
    error: {
      kind: 'resource_missing',
      details: {
        blobs: [
          { blob: unreadable, state: 'unreadable' },
          { blob: spoilt, state: 'damaged' },
        ],
        sessions: [session],
      },
    },
  })
  const commands = swept.ok ? [] : swept.error.next_actions.map(({ command }) => command)
  expect(commands).toEqual([
    'hawser gc',
    `hawser log verify ${session} --requests`,
    `hawser sessions delete ${session}`,
  ])
  expect((await store.get(loose)).ok).toBe(true)
  // Without the Session that mentioned them, they are blobs that nothing mentions.
  await rm(join(path, '.hawser', 'sessions', `${session}.ndjson`))
  await rm(join(blobs, unreadable), { recursive: true })
  expect(value(await sweep()).deleted.toSorted()).toEqual([spoilt, outer, loose, also].toSorted())
})

test('subfolders of a folder of mentions count too', async () => {
  const { path, put, workspace, store } = await harbour()
  const key = await put('staged')
  await mkdir(join(path, 'staged', 'upload-1'), { recursive: true, mode: 0o700 })
  await writeFile(join(path, 'staged', 'upload-1', 'frames.ndjson'), key)
  const staged = await diskFolder(join(path, 'staged'))
  const mentions = [workspace.sessions, staged].map(folderSource)
  const swept = value(
    await sweepBlobs(store, { mentions, writing: nobody, olderThan: LATER(), dryRun: false }),
  )
  expect(swept.deleted).toEqual([])
  await staged.close()
})

test('a dry run reports what would be deleted and deletes nothing', async () => {
  const { put, sweep, store } = await harbour()
  const key = await put('nowhere')
  expect(value(await sweep(LATER(), true)).deleted).toEqual([key])
  expect((await store.get(key)).ok).toBe(true)
})
