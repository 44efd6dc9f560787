import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { recordsPath } from '../../../src/host/files/records.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import {
  guests,
  inState,
  instancesPlace,
  makeWorkspace,
  message,
} from '../../support/tether/instances-place.ts'
import { onlyRecords } from '../../support/session/records.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'

/** Writes a blob that nothing names yet. */
async function plant(records: string, bytes: Buffer, ending: string): Promise<string> {
  const key = `${createHash('sha256').update(bytes).digest('hex')}.${ending}`
  await mkdir(join(records, 'blobs'), { recursive: true, mode: 0o700 })
  await writeFile(join(records, 'blobs', key), bytes, { mode: 0o600 })
  return key
}

async function blobsOf(records: string): Promise<string[]> {
  const names = await readdir(join(records, 'blobs')).catch(() => [])
  return names.filter((name) => /^[0-9a-f]{64}\./.test(name)).toSorted()
}

/** So old that no grace period applies. */
async function age(records: string): Promise<void> {
  const then = new Date(systemClock.now() - 24 * 3_600_000)
  for (const name of await blobsOf(records)) await utimes(join(records, 'blobs', name), then, then)
}

/** An Instance whose frames name three of its blobs; a fourth has no name anywhere. */
async function scene(path: (root: string, workspace: string) => Promise<string>) {
  const place = await instancesPlace()
  const { instances, runtime, root } = place
  const workspace = await makeWorkspace(root)
  const named = await path(root, workspace)
  const { id } = value(await instances.create({ handle: 'a', workspace: named }, 'operator'))
  const sent = value(await instances.putImage('a', { media_type: 'image/png', bytes: picture(3) }))
  value(await instances.send('a', message('m1', { images: [sent] })))
  await guests(runtime, 1)
  const records = await onlyRecords(workspace)
  const answered = await plant(records, picture(4), 'png')
  const text = await plant(records, Buffer.from('A long answer.'), 'txt')
  const images = [{ media_type: 'image/png', blob: answered, size: picture(4).length }]
  await runtime.guest.answer('m1', 'A', { images, truncated: true, text_blob: text })
  const unused = await plant(records, picture(5), 'png')
  await age(records)
  return { ...place, id, workspace, records, kept: [sent.blob, answered, text].toSorted(), unused }
}

test.each<[string, (root: string, workspace: string) => Promise<string>]>([
  ['by its path', async (_, workspace) => workspace],
  ['with a slash at the end', async (_, workspace) => `${workspace}/`],
  [
    'through a link',
    async (root, workspace) => {
      await symlink(workspace, join(root, 'link'))
      return join(root, 'link')
    },
  ],
  [
    'through a link on the way',
    async (root) => {
      await symlink(root, join(root, 'elsewhere'))
      return join(root, 'elsewhere', 'workspace')
    },
  ],
])(
  'gc keeps every blob that frames of an Instance name which names its workspace %s [TI-041]',
  async (_, path) => {
    const { root, records, kept, unused, instances, id } = await scene(path)
    const ran = await runCli({ root }, 'gc', '--json')
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ok: true,
      deleted: [],
      instances: [{ instance_id: id, kept: 3, deleted: [unused] }],
    })
    expect(await blobsOf(records)).toEqual(kept)
    value(await instances.delete('a'))
    expect((await runCli({ root }, 'gc')).code).toBe(0)
    expect(await blobsOf(records)).toEqual([])
  },
)

test('gc does not keep what frames of other Instances name', async () => {
  const { root, workspace, instances, unused, records } = await scene(async (_, own) => own)
  const { id } = value(await instances.create({ handle: 'b', workspace }, 'operator'))
  const same = value(await instances.putImage('b', { media_type: 'image/png', bytes: picture(5) }))
  expect(same.blob).toBe(unused)
  value(await instances.send('b', message('m1', { images: [same] })))
  const others = recordsPath({ workspace, instance: id })
  await age(others)
  expect((await runCli({ root }, 'gc')).code).toBe(0)
  expect([await blobsOf(records), await blobsOf(others)]).toEqual([
    expect.not.arrayContaining([unused]),
    [unused],
  ])
})

test('gc keeps the blobs of an Instance that works elsewhere now', async () => {
  const { root, instances, runtime, kept, records } = await scene(async (_, own) => own)
  await inState(instances, 'running')
  value(await instances.map('a', await makeWorkspace(root, 'other')))
  expect((await runCli({ root }, 'gc')).code).toBe(0)
  expect([runtime.guests.length, await blobsOf(records)]).toEqual([1, kept])
})

test('gc judges the blobs of the person and of each Instance alone', async () => {
  const { root, workspace, records, unused, kept } = await scene(async (_, own) => own)
  const run = (...argv: string[]) =>
    runCli({ root, env: { HAWSER_PROVIDER: 'rehearsal' } }, ...argv)
  await writeFile(join(workspace, 'five.png'), picture(5))
  expect((await run('run', 'What do you see?', '--attach', 'five.png')).code).toBe(0)
  // The person has what the Instance does not name, and the other way round.
  const own = join(workspace, '.hawser')
  const theirs = await blobsOf(own)
  const others = await plant(own, picture(4), 'png')
  await age(own)
  const ran = JSON.parse((await run('gc', '--json')).stdout) as object
  expect(ran).toMatchObject({ deleted: [others], instances: [{ deleted: [unused] }] })
  expect([theirs.includes(unused), await blobsOf(own), await blobsOf(records)]).toEqual([
    true,
    theirs,
    kept,
  ])
})

test('records of an Instance that cannot be read keep only its own blobs from being deleted', async () => {
  const { root, workspace, records, kept, unused } = await scene(async (_, own) => own)
  const own = join(workspace, '.hawser')
  const garbage = await plant(own, picture(6), 'png')
  await age(own)
  await rename(join(records, 'sessions'), join(records, 'old')).catch(() => {})
  await symlink(own, join(records, 'sessions'))
  const ran = JSON.parse((await runCli({ root }, 'gc', '--json')).stdout) as object
  expect(ran).toMatchObject({
    deleted: [garbage],
    instances: [{ error: { kind: 'not_regular_file' } }],
  })
  expect(await blobsOf(records)).toEqual([...kept, unused].toSorted())
  const words = (await runCli({ root }, 'gc')).stdout
  expect(words).toMatch(/Instance ins_\w+: Could not open the records/)
})

test('gc deletes nothing if the register of Instances cannot be read', async () => {
  const { root, home, records } = await scene(async (_, own) => own)
  const before = await blobsOf(records)
  const register = join(home, 'instances/register.json')
  await writeFile(register, (await readFile(register, 'utf8')).slice(0, 90))
  const ran = await runCli({ root }, 'gc', '--json')
  expect([ran.code, failureOf(ran).kind]).toEqual([1, 'storage_failed'])
  expect(await blobsOf(records)).toEqual(before)
})
