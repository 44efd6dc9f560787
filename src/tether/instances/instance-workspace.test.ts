import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BAD_WORKSPACES } from '../../../test/support/tether/bad-workspaces.ts'
import {
  guests,
  instancesPlace,
  makeWorkspace,
  message,
} from '../../../test/support/tether/instances-place.ts'
import { picture } from '../../../test/support/resources/sample-files.ts'
import { value } from '../../../test/support/log/story.ts'
import { systemClock } from '../../host/clock.ts'
import { diskFolder } from '../../host/files/disk.ts'
import { closing } from '../../host/files/files.ts'
import { systemIds } from '../../host/ids.ts'
import { readRegister, writeRegister } from './register-file.ts'

const image = { media_type: 'image/png', bytes: picture(3) } as const

function refusal(reason: string) {
  return { error: { kind: 'wake_failed', details: { reason } } }
}

/** The register as an older version wrote it. */
async function forgetFolders(home: string): Promise<void> {
  const folder = await diskFolder(join(home, 'instances'))
  const records = value(await readRegister(folder))
  const old = records.map(({ folder: _folder, workspace_by: _by, ...record }) => record)
  value(await writeRegister(folder, old, systemIds(systemClock)))
  await folder.close()
}

describe('a workspace', () => {
  test.each(BAD_WORKSPACES)('cannot be %s', async (_, kind, path) => {
    const { instances, root, home } = await instancesPlace()
    const before = await readdir(join(home, 'instances'))
    const request = { handle: 'a', workspace: await path(root) }
    expect(await instances.create(request, 'operator')).toMatchObject({ error: { kind } })
    expect(value(await instances.list())).toEqual([])
    expect(await readdir(join(home, 'instances'))).toEqual(before)
  })

  test('that is gone makes messages fail, and nothing is stored, until it is back', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    await rename(workspace, join(root, 'aside'))
    expect(await instances.send('a', message('m1'))).toMatchObject(refusal('not_found'))
    expect(runtime.orders).toEqual([])
    await rename(join(root, 'aside'), workspace)
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
  })

  test('that was created again is another folder until a person maps it', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    await rm(workspace, { recursive: true })
    await mkdir(workspace)
    const refused = await instances.send('a', message('m1'))
    expect(refused).toMatchObject(refusal('outside_workspace'))
    expect(refused).toMatchObject({
      error: {
        next_actions: expect.arrayContaining([
          expect.objectContaining({ command: 'hawser instance map a DIR' }),
        ]),
      },
    })
    expect(await instances.putImage('a', image)).toMatchObject({
      error: { kind: 'outside_workspace' },
    })
    expect(await instances.act('a', 'start')).toMatchObject({
      error: { kind: 'outside_workspace' },
    })
    expect(runtime.orders).toEqual([])
    value(await instances.map('a', workspace))
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
  })

  test('can be that of two Instances, which keep their own frames and images', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    for (const handle of ['a', 'b'])
      value(await instances.create({ handle, workspace }, 'operator'))
    const reference = value(await instances.putImage('a', image))
    expect(await instances.image('b', reference.blob)).toMatchObject({
      error: { kind: 'resource_missing' },
    })
    expect(value(await instances.putImage('b', image))).toEqual(reference)
    value(await instances.send('a', message('m1')))
    value(await instances.send('b', message('m1')))
    await guests(runtime, 2)
    const records = runtime.orders.map(({ record, path }) => [record.handle, path])
    expect(new Set(records.map(([, path]) => path)).size).toBe(2)
    for (const guest of runtime.guests)
      await guest.answer('m1', `I am ${guest.order.record.handle}.`)
    for (const name of ['a', 'b'])
      expect(value(await instances.poll(name, { types: ['assistant.done'] })).frames).toMatchObject(
        [{ payload: { text: `I am ${name}.` } }],
      )
  })

  test('named by a link stays the folder that the link led to', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const [one, two] = [await makeWorkspace(root, 'one'), await makeWorkspace(root, 'two')]
    const workspace = join(root, 'current')
    await symlink(one, workspace)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    const reference = value(await instances.putImage('a', image))
    await rm(workspace)
    await symlink(two, workspace)
    expect(value(await instances.image('a', reference.blob))).toEqual(image)
    value(await instances.send('a', message('m1', { images: [reference] })))
    await guests(runtime, 1)
    expect(runtime.orders.map((order) => order.workspace)).toEqual([one])
    expect(await readdir(two)).toEqual([])
  })

  test('of a record without its identity gets one at the first use, if no link is on its path', async () => {
    const first = await instancesPlace({ stays: true })
    const { root, home } = first
    const [one, two] = [await makeWorkspace(root, 'one'), await makeWorkspace(root, 'two')]
    await symlink(two, join(root, 'link'))
    value(await first.instances.create({ handle: 'a', workspace: one }, 'operator'))
    value(await first.instances.create({ handle: 'b', workspace: join(root, 'link') }, 'operator'))
    value(await first.instances.create({ handle: 'c' }, 'operator'))
    await first.instances.close()
    await forgetFolders(home)
    const { instances, runtime } = await instancesPlace({ root })
    value(await instances.send('a', message('m1')))
    value(await instances.send('c', message('m1')))
    await guests(runtime, 2)
    expect(await instances.send('b', message('m1'))).toMatchObject(refusal('outside_workspace'))
    value(await instances.map('b', join(root, 'link')))
    value(await instances.send('b', message('m1')))
    await guests(runtime, 3)
    const folder = await diskFolder(join(home, 'instances'))
    const records = value(await closing(folder, readRegister))
    expect(records.map((record) => record.folder?.path)).toEqual([
      one,
      two,
      expect.stringContaining('/workspace'),
    ])
  })

  test('of its own is another folder after a swap, and is created again if it is missing', async () => {
    const { instances, root, home, runtime } = await instancesPlace()
    const { id } = value(await instances.create({ handle: 'a', workspace: 'own' }, 'operator'))
    value(await instances.putImage('a', image))
    const own = join(home, 'instances', id, 'workspace')
    await rename(own, join(root, 'aside'))
    await symlink(await makeWorkspace(root, 'target'), own)
    expect(await instances.send('a', message('m1'))).toMatchObject(refusal('outside_workspace'))
    await rm(own)
    await mkdir(own, { mode: 0o700 })
    expect(await instances.send('a', message('m1'))).toMatchObject(refusal('outside_workspace'))
    await rm(own, { recursive: true })
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
    expect(await readdir(join(root, 'target'))).toEqual([])
  })

  test('of a deleted Instance is not that of the next one with its handle', async () => {
    const { instances, root } = await instancesPlace()
    const [one, two] = [await makeWorkspace(root, 'one'), await makeWorkspace(root, 'two')]
    value(await instances.create({ handle: 'a', workspace: one }, 'operator'))
    const reference = value(await instances.putImage('a', image))
    value(await instances.delete('a'))
    value(await instances.create({ handle: 'a', workspace: two }, 'operator'))
    expect(await instances.image('a', reference.blob)).toMatchObject({
      error: { kind: 'resource_missing' },
    })
  })
})

describe('a program that speaks MCP', () => {
  test('creates an Instance in a folder of its own', async () => {
    const { instances, home } = await instancesPlace()
    const { id, workspace } = value(await instances.create({ handle: 'a' }, 'mcp'))
    expect(workspace).toBe(join(home, 'instances', id, 'workspace'))
    value(await instances.putImage('a', image))
  })

  test('chooses a workspace below the roots only, links resolved', async () => {
    const root = (await instancesPlace()).root
    const allowed = await makeWorkspace(root, 'allowed')
    const inside = await makeWorkspace(allowed, 'inside')
    const outside = await makeWorkspace(root, 'outside')
    await makeWorkspace(root, 'allowed-not')
    await symlink(outside, join(allowed, 'link'))
    const { instances } = await instancesPlace({ roots: [allowed] })
    const created = await instances.create({ handle: 'a', workspace: inside }, 'mcp')
    expect(value(created).workspace).toBe(inside)
    for (const workspace of [outside, join(allowed, 'link'), join(root, 'allowed-not')])
      expect(await instances.create({ handle: 'b', workspace }, 'mcp')).toMatchObject({
        error: { kind: 'outside_workspace' },
      })
    expect(value(await instances.list())).toHaveLength(1)
    value(await instances.create({ handle: 'b', workspace: outside }, 'operator'))
  })

  test('has its workspace below the roots at every start, and an operator anywhere', async () => {
    const { root } = await instancesPlace()
    const allowed = await makeWorkspace(root, 'allowed')
    const inside = await makeWorkspace(allowed, 'inside')
    const first = await instancesPlace({ root, roots: [allowed], stays: true })
    for (const [handle, by] of [
      ['a', 'mcp'],
      ['b', 'operator'],
    ] as const)
      value(await first.instances.create({ handle, workspace: inside }, by))
    await first.instances.close()
    const { instances, runtime } = await instancesPlace({ root, roots: [] })
    expect(await instances.send('a', message('m1'))).toMatchObject(refusal('outside_workspace'))
    expect(await instances.act('a', 'start')).toMatchObject({
      error: { kind: 'outside_workspace' },
    })
    value(await instances.send('b', message('m1')))
    await guests(runtime, 1)
    // The operator decides, even if a program created it.
    value(await instances.map('a', inside))
    value(await instances.send('a', message('m1')))
    await guests(runtime, 2)
  })

  test.each(['sandbox', 'process'])('cannot choose the isolation %s', async (isolation) => {
    const { instances } = await instancesPlace()
    expect(await instances.create({ handle: 'a', isolation }, 'mcp')).toMatchObject({
      error: { kind: 'permission_denied', details: { field: 'isolation' } },
    })
  })
})

describe('an image is refused', () => {
  test.each([
    ['that exceeds 10 MiB', 'too_large', Buffer.concat([picture(3), Buffer.alloc(10 * 2 ** 20)])],
    ['of another type than declared', 'type_mismatch', Buffer.from('GIF89a and more')],
    ['that is text', 'type_mismatch', Buffer.from('hello')],
    ['that is empty', 'type_mismatch', Buffer.alloc(0)],
  ])('%s, and nothing is written', async (_, kind, bytes) => {
    const { instances, root } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    const refused = await instances.putImage('a', { media_type: 'image/png', bytes })
    expect(refused).toMatchObject({ error: { kind } })
    expect(await readdir(workspace)).toEqual([])
  })

  test.each([
    '../../etc/passwd',
    `${'a'.repeat(64)}.txt`,
    `${'A'.repeat(64)}.png`,
    `${'a'.repeat(64)}.png\n`,
    '',
  ])('with the key %j', async (blob) => {
    const { instances } = await instancesPlace()
    value(await instances.create({ handle: 'a', workspace: 'own' }, 'operator'))
    expect(await instances.image('a', blob)).toMatchObject({ error: { kind: 'invalid_args' } })
  })

  test('in a folder that is a link', async () => {
    const { instances, root } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    const elsewhere = await makeWorkspace(root, 'elsewhere')
    await symlink(elsewhere, join(workspace, '.hawser'))
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    expect(await instances.putImage('a', image)).toMatchObject({ ok: false })
    expect(await readdir(elsewhere)).toEqual([])
  })
})
