import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BAD_WORKSPACES } from '../../../test/support/tether/bad-workspaces.ts'
import {
  guests,
  ended,
  inState,
  instancesPlace,
  makeWorkspace,
  message,
} from '../../../test/support/tether/instances-place.ts'
import { picture } from '../../../test/support/resources/sample-files.ts'
import { value } from '../../../test/support/log/story.ts'

const image = { media_type: 'image/png', bytes: picture(3) } as const

/** An Instance called `a` in the folder `one`; there is also a folder `two`. */
async function mapped() {
  const place = await instancesPlace()
  const { root, instances } = place
  const [one, two] = [await makeWorkspace(root, 'one'), await makeWorkspace(root, 'two')]
  value(await instances.create({ handle: 'a', workspace: one }, 'operator'))
  return { ...place, one, two }
}

test('another workspace hides the images of the old one, and mapping back shows them again [TI-029]', async () => {
  const { instances, one, two } = await mapped()
  const { blob, ...reference } = value(await instances.putImage('a', image))
  expect(value(await instances.map('a', two)).workspace).toBe(two)
  const gone = { error: { kind: 'resource_missing' } }
  expect(await instances.image('a', blob)).toMatchObject(gone)
  const shown = message('m1', { images: [{ blob, ...reference }] })
  expect(await instances.send('a', shown)).toMatchObject(gone)
  value(await instances.map('a', one))
  expect(value(await instances.image('a', blob))).toEqual(image)
  value(await instances.send('a', shown))
})

test('without a workspace there are no images, and the private folder has its own', async () => {
  const { instances, home, one } = await mapped()
  const { blob } = value(await instances.putImage('a', image))
  const bare = value(await instances.map('a', null))
  expect(bare).not.toHaveProperty('workspace')
  const refused = { error: { kind: 'images_require_workspace' } }
  expect(await instances.putImage('a', image)).toMatchObject(refused)
  expect(await instances.image('a', blob)).toMatchObject(refused)
  const own = value(await instances.map('a', 'own'))
  expect(own.workspace).toBe(join(home, 'instances', own.id, 'workspace'))
  expect(await instances.image('a', blob)).toMatchObject({ error: { kind: 'resource_missing' } })
  value(await instances.map('a', one))
  expect(value(await instances.image('a', blob))).toEqual(image)
})

test('a guest that runs or is paused is stopped, and the next message starts one in the new folder', async () => {
  const { instances, runtime, one, two } = await mapped()
  for (const [count, workspace] of [two, one].entries()) {
    value(await instances.send('a', message(`m${count}`)))
    await guests(runtime, count + 1)
    await inState(instances, 'running')
    await runtime.guest.answer(`m${count}`)
    await ended(instances, `m${count}`)
    if (count === 1) value(await instances.act('a', 'pause'))
    expect(value(await instances.map('a', workspace)).state).toBe('stopped')
  }
  value(await instances.send('a', message('m2')))
  await guests(runtime, 3)
  expect(runtime.orders.map(({ workspace }) => workspace)).toEqual([one, two, one])
})

test('a message that has not ended keeps its workspace', async () => {
  const { instances, runtime, root, one, two } = await mapped()
  value(await instances.send('a', message('m1')))
  await guests(runtime, 1)
  await inState(instances, 'running')
  const refused = { error: { kind: 'turn_in_progress', details: { waiting: 1 } } }
  expect(await instances.map('a', two)).toMatchObject(refused)
  expect(value(await instances.info('a'))).toMatchObject({ workspace: one, state: 'running' })
  // Also one that an earlier server left, before its log was read.
  await instances.close()
  const next = await instancesPlace({ root })
  expect(await next.instances.map('a', two)).toMatchObject(refused)
})

test('a message that arrives during the change goes to the new workspace', async () => {
  const { instances, runtime, one, two } = await mapped()
  value(await instances.act('a', 'start'))
  const { guest } = runtime
  const stop = guest.stop.bind(guest)
  let sent: Promise<unknown> = Promise.resolve()
  guest.stop = async (graceMs) => {
    sent = instances.send('a', message('m1'))
    await new Promise((resolve) => void setImmediate(resolve))
    await stop(graceMs)
  }
  value(await instances.map('a', two))
  expect(await sent).toMatchObject({ ok: true })
  await guests(runtime, 2)
  expect(runtime.orders.map(({ workspace }) => workspace)).toEqual([one, two])
  expect(runtime.guests.map((each) => each.messages())).toEqual([[], ['m1']])
})

test('the change survives the server, and a disabled Instance stays disabled', async () => {
  const { instances, root, two } = await mapped()
  value(await instances.act('a', 'disable'))
  const info = value(await instances.map('a', two))
  expect(info).toMatchObject({ workspace: two, enabled: false })
  await instances.close()
  const next = await instancesPlace({ root })
  expect(value(await next.instances.info('a'))).toEqual(info)
})

test('an Instance whose folder is gone can be mapped to another one', async () => {
  const { instances, runtime, one, two } = await mapped()
  await rm(one, { recursive: true })
  expect(await instances.act('a', 'start')).toMatchObject({ error: { kind: 'not_found' } })
  expect(await instances.send('a', message('m1'))).toMatchObject({ error: { kind: 'wake_failed' } })
  expect(value(await instances.map('a', two))).not.toHaveProperty('reason')
  value(await instances.send('a', message('m1')))
  await guests(runtime, 1)
})

describe('refused, and nothing is changed', () => {
  test.each(BAD_WORKSPACES)('%s', async (_, kind, path) => {
    const { instances, root, runtime, one } = await mapped()
    value(await instances.act('a', 'start'))
    expect(await instances.map('a', await path(root))).toMatchObject({ error: { kind } })
    expect(value(await instances.info('a'))).toMatchObject({ workspace: one, state: 'running' })
    expect(runtime.guests).toHaveLength(1)
  })

  test('an unknown Instance', async () => {
    const { instances, two } = await mapped()
    expect(await instances.map('b', two)).toMatchObject({ error: { kind: 'not_found' } })
  })
})

test('a link is followed when it is mapped, and not again', async () => {
  const { instances, root, one, two } = await mapped()
  const link = join(root, 'current')
  await symlink(one, link)
  const { blob } = value(await instances.putImage('a', image))
  expect(value(await instances.map('a', link)).workspace).toBe(link)
  expect(value(await instances.image('a', blob))).toEqual(image)
  await rm(link)
  await symlink(two, link)
  expect(value(await instances.image('a', blob))).toEqual(image)
  value(await instances.map('a', link))
  expect(await instances.image('a', blob)).toMatchObject({ error: { kind: 'resource_missing' } })
})
