import { mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BAD_WORKSPACES } from '../../../test/support/bad-workspaces.ts'
import {
  agents,
  inState,
  instancesPlace,
  makeWorkspace,
  message,
} from '../../../test/support/instances-place.ts'
import { picture } from '../../../test/support/sample-files.ts'
import { value } from '../../../test/support/story.ts'

const image = { media_type: 'image/png', bytes: picture(3) } as const

describe('a workspace', () => {
  test.each(BAD_WORKSPACES)('cannot be %s', async (_, kind, path) => {
    const { instances, root, home } = await instancesPlace()
    const before = await readdir(join(home, 'instances'))
    const request = { handle: 'a', workspace: await path(root) }
    expect(await instances.create(request, 'operator')).toMatchObject({ error: { kind } })
    expect(value(await instances.list())).toEqual([])
    expect(await readdir(join(home, 'instances'))).toEqual(before)
  })

  test('that is gone makes messages fail, and nothing is stored', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    await rm(workspace, { recursive: true })
    expect(await instances.send('a', message('m1'))).toMatchObject({
      error: { kind: 'wake_failed', details: { reason: 'not_found' } },
    })
    expect(runtime.orders).toEqual([])
    await mkdir(workspace)
    value(await instances.send('a', message('m1')))
    await agents(runtime, 1)
  })

  test('can be that of two Instances, which keep their own frames', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    for (const handle of ['a', 'b'])
      value(await instances.create({ handle, workspace }, 'operator'))
    const reference = value(await instances.putImage('a', image))
    expect(value(await instances.image('b', reference.blob))).toEqual(image)
    value(await instances.send('a', message('m1')))
    value(await instances.send('b', message('m1')))
    await agents(runtime, 2)
    const records = runtime.orders.map(({ record, path }) => [record.handle, path])
    expect(new Set(records.map(([, path]) => path)).size).toBe(2)
    for (const agent of runtime.agents)
      await agent.answer('m1', `I am ${agent.order.record.handle}.`)
    for (const name of ['a', 'b'])
      expect(value(await instances.poll(name, { types: ['assistant.done'] })).frames).toMatchObject(
        [{ payload: { text: `I am ${name}.` } }],
      )
  })

  test('that leads elsewhere has other images, and the next message starts an agent there', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const [one, two] = [await makeWorkspace(root, 'one'), await makeWorkspace(root, 'two')]
    const workspace = join(root, 'current')
    await symlink(one, workspace)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    const reference = value(await instances.putImage('a', image))
    value(await instances.send('a', message('m1', { images: [reference] })))
    await agents(runtime, 1)
    await inState(instances, 'running')
    await runtime.agent.answer('m1')
    await rm(workspace)
    await symlink(two, workspace)
    const gone = { error: { kind: 'resource_missing' } }
    expect(await instances.image('a', reference.blob)).toMatchObject(gone)
    const again = message('m2', { images: [reference] })
    expect(await instances.send('a', again)).toMatchObject(gone)
    value(await instances.send('a', message('m3')))
    await agents(runtime, 2)
    expect(runtime.orders.map(({ workspace: path }) => path)).toEqual([one, two])
    expect(runtime.agents.map((agent) => agent.messages())).toEqual([['m1'], ['m3']])
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
