import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { failureOf } from '../support/cli-answer.ts'
import { runCli } from '../support/cli.ts'
import { agents, instancesPlace, makeWorkspace, message } from '../support/instances-place.ts'
import { picture } from '../support/sample-files.ts'
import { value } from '../support/story.ts'

/** Writes a blob that nothing names yet. */
async function plant(workspace: string, bytes: Buffer, ending: string): Promise<string> {
  const key = `${createHash('sha256').update(bytes).digest('hex')}.${ending}`
  await writeFile(join(workspace, '.hawser/blobs', key), bytes, { mode: 0o600 })
  return key
}

async function blobsOf(workspace: string): Promise<string[]> {
  const names = await readdir(join(workspace, '.hawser/blobs'))
  return names.filter((name) => /^[0-9a-f]{64}\./.test(name)).toSorted()
}

/** So old that no grace period applies. */
async function age(workspace: string): Promise<void> {
  const then = new Date(systemClock.now() - 24 * 3_600_000)
  for (const name of await blobsOf(workspace))
    await utimes(join(workspace, '.hawser/blobs', name), then, then)
}

/** An Instance whose frames name three blobs of its workspace; a fourth has no name anywhere. */
async function scene(path: (root: string, workspace: string) => Promise<string>) {
  const place = await instancesPlace()
  const { instances, runtime, root } = place
  const workspace = await makeWorkspace(root)
  const named = await path(root, workspace)
  value(await instances.create({ handle: 'a', workspace: named }, 'operator'))
  const sent = value(await instances.putImage('a', { media_type: 'image/png', bytes: picture(3) }))
  value(await instances.send('a', message('m1', { images: [sent] })))
  await agents(runtime, 1)
  const answered = await plant(workspace, picture(4), 'png')
  const text = await plant(workspace, Buffer.from('A long answer.'), 'txt')
  const images = [{ media_type: 'image/png', blob: answered, size: picture(4).length }]
  await runtime.agent.answer('m1', 'A', { images, truncated: true, text_blob: text })
  const unused = await plant(workspace, picture(5), 'png')
  await age(workspace)
  return { ...place, workspace, kept: [sent.blob, answered, text].toSorted(), unused }
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
    const { root, workspace, kept, unused, instances } = await scene(path)
    const ran = await runCli({ root }, 'gc', '--json')
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, deleted: [unused] })
    expect(await blobsOf(workspace)).toEqual(kept)
    value(await instances.delete('a'))
    expect((await runCli({ root }, 'gc')).code).toBe(0)
    expect(await blobsOf(workspace)).toEqual([])
  },
)

test('gc does not keep what frames of Instances elsewhere name', async () => {
  const { root, instances, unused, workspace } = await scene(async (_, own) => own)
  const other = join(root, 'other')
  await mkdir(other)
  value(await instances.create({ handle: 'b', workspace: other }, 'operator'))
  const same = value(await instances.putImage('b', { media_type: 'image/png', bytes: picture(5) }))
  expect(same.blob).toBe(unused)
  value(await instances.send('b', message('m1', { images: [same] })))
  expect((await runCli({ root }, 'gc')).code).toBe(0)
  expect(await blobsOf(workspace)).not.toContain(unused)
})

test('gc deletes nothing if the register of Instances cannot be read', async () => {
  const { root, home, workspace } = await scene(async (_, own) => own)
  const before = await blobsOf(workspace)
  const register = join(home, 'instances/register.json')
  await writeFile(register, (await readFile(register, 'utf8')).slice(0, 90))
  const ran = await runCli({ root }, 'gc', '--json')
  expect([ran.code, failureOf(ran).kind]).toEqual([1, 'storage_failed'])
  expect(await blobsOf(workspace)).toEqual(before)
})
