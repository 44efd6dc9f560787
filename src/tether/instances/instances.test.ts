import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  guests,
  ended,
  ends,
  inState,
  instancesPlace,
  makeWorkspace,
  message,
  withInstance,
} from '../../../test/support/tether/instances-place.ts'
import { picture } from '../../../test/support/resources/sample-files.ts'
import { value } from '../../../test/support/log/story.ts'
import { until } from '../../../test/support/host/virtual-clock.ts'
import { onlyRecords } from '../../../test/support/session/records.ts'

describe('an Instance', () => {
  test('is created stopped, listed, and found by id and handle', async () => {
    const { instances, id } = await withInstance()
    const info = value(await instances.info('a'))
    expect(info).toMatchObject({ id, handle: 'a', state: 'stopped', enabled: true, waiting: 0 })
    expect(info).toMatchObject({ spend: { usd: 0, calls: 0 } })
    expect(info.workspace).toBeUndefined()
    expect(value(await instances.list())).toEqual([info])
    expect(value(await instances.info(id))).toEqual(info)
    expect(await instances.info('b')).toMatchObject({ error: { kind: 'not_found' } })
  })

  test('accepts a message, is woken by it, and its answer is found by the number', async () => {
    const { instances, runtime } = await withInstance()
    const accepted = value(await instances.send('a', message('m1')))
    expect(accepted).toEqual({ msg_id: 'm1', session_id: 'default', ingress_seq: 1 })
    await guests(runtime, 1)
    expect(runtime.guest.messages()).toEqual(['m1'])
    await runtime.guest.answer('m1', 'Good morning.')
    const page = value(await instances.poll('a', { after_seq: accepted.ingress_seq }))
    expect(page.frames).toMatchObject([
      { type: 'assistant.done', in_reply_to: 'm1', payload: { text: 'Good morning.' } },
    ])
    expect(value(await instances.info('a'))).toMatchObject({ state: 'running', waiting: 0 })
  })

  test('is started once for messages that arrive at the same time', async () => {
    const { instances, runtime } = await withInstance()
    const names = ['m1', 'm2', 'm3', 'm4', 'm5']
    await Promise.all(names.map((name) => instances.send('a', message(name))))
    await guests(runtime, 1)
    await inState(instances, 'running')
    await until(() => runtime.guest.messages().length === 5)
    // In the order of their numbers.
    const { frames } = value(await instances.poll('a', { types: ['user.message'] }))
    const stored = frames.map(({ msg_id }) => msg_id)
    expect([runtime.orders.length, runtime.guest.messages()]).toEqual([1, stored])
    expect(stored.toSorted()).toEqual(names)
  })

  test('gets a message that arrives while it is started once', async () => {
    const { instances, runtime } = await withInstance()
    let open = () => {}
    runtime.gate = new Promise((resolve) => {
      open = resolve
    })
    value(await instances.send('a', message('m1')))
    await until(() => runtime.orders.length === 1)
    expect(value(await instances.info('a')).state).toBe('starting')
    value(await instances.send('a', message('m2')))
    open()
    await inState(instances, 'running')
    expect(runtime.guest.messages()).toEqual(['m1', 'm2'])
  })

  test('stores a repeated message once, also after its end', async () => {
    const { instances, runtime } = await withInstance()
    const first = value(await instances.send('a', message('m1')))
    expect(value(await instances.send('a', message('m1')))).toEqual(first)
    await guests(runtime, 1)
    await runtime.guest.answer('m1')
    expect(value(await instances.send('a', message('m1')))).toEqual(first)
    expect(runtime.guest.messages()).toEqual(['m1'])
    expect(await ends(instances, 'm1')).toHaveLength(1)
  })

  test('is followed live, and reading starts nothing', async () => {
    const { instances, runtime } = await withInstance()
    const stop = new AbortController()
    const live = value(await instances.follow('a', undefined, {}, stop.signal))
    const next = live.next()
    expect(runtime.orders).toEqual([])
    value(await instances.send('a', message('m1')))
    expect(await next).toMatchObject({ value: { kind: 'frame', frame: { msg_id: 'm1' } } })
    stop.abort()
    expect((await live.next()).done).toBe(true)
  })

  test('deletes its folder with itself, ends its messages, and leaves a mapped workspace', async () => {
    const { instances, runtime, root, home } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    const { id } = value(await instances.create({ handle: 'a', workspace }, 'operator'))
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
    const reading = instances.poll('a', { after_seq: 1 }, { waitMs: 30_000 })
    expect(value(await instances.delete('a'))).toBe(id)
    expect(value(await reading).frames).toMatchObject([
      { type: 'error', payload: { kind: 'instance_disabled' } },
    ])
    expect(runtime.guest.steps).toEqual(['stop'])
    expect((await readdir(join(home, 'instances'))).toSorted()).toEqual([
      '.lock',
      'register.json',
      'unended',
    ])
    expect(await readdir(join(home, 'instances', 'unended'))).toEqual([])
    expect(await readdir(root)).toContain('workspace')
    expect(await instances.info('a')).toMatchObject({ error: { kind: 'not_found' } })
  })
})

describe('a server that stops', () => {
  test('stops its guests, and refuses everything afterwards', async () => {
    const { instances, runtime } = await withInstance()
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
    await instances.close()
    expect(runtime.guest.steps).toEqual(['stop 5000'])
    expect(await instances.send('a', message('m2'))).toMatchObject({ ok: false })
    expect(await instances.list()).toMatchObject({ ok: false })
  })

  test('leaves messages to the next one, which starts only the Instances that have some', async () => {
    const { instances, runtime, root, home, id } = await withInstance()
    value(await instances.create({ handle: 'b' }, 'operator'))
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
    expect(await readdir(join(home, 'instances', 'unended'))).toEqual([id])
    await instances.close()
    const next = await instancesPlace({ root })
    await next.instances.recovery
    expect(next.runtime.orders.map(({ record }) => record.handle)).toEqual(['a'])
    expect(next.runtime.guest.messages()).toEqual(['m1'])
    await next.runtime.guest.answer('m1')
    expect(await ended(next.instances, 'm1')).toEqual(['Done.'])
    await next.instances.close()
    expect(await readdir(join(home, 'instances', 'unended'))).toEqual([])
    const last = await instancesPlace({ root })
    await last.instances.recovery
    expect(last.runtime.orders).toEqual([])
  })
})

describe('images', () => {
  const image = { media_type: 'image/png', bytes: picture(3) } as const

  test('are written into the blobs of the Instance in the workspace, once, and read from there', async () => {
    const { instances, root, runtime } = await instancesPlace()
    const workspace = await makeWorkspace(root)
    value(await instances.create({ handle: 'a', workspace }, 'operator'))
    const reference = value(await instances.putImage('a', image))
    expect(value(await instances.putImage('a', image))).toEqual(reference)
    expect(value(await instances.image('a', reference.blob))).toEqual(image)
    const blobs = await readdir(join(await onlyRecords(workspace), 'blobs'))
    expect(blobs.filter((name) => name.endsWith('.png'))).toEqual([reference.blob])
    value(await instances.send('a', message('m1', { images: [reference] })))
    await guests(runtime, 1)
    expect(runtime.guest.order.images).toBe(true)
  })

  test('need a workspace', async () => {
    const { instances, home, id } = await withInstance()
    const refused = {
      ok: false,
      error: { kind: 'images_require_workspace', message: 'images require workspace mapping' },
    }
    expect(await instances.putImage('a', image)).toMatchObject(refused)
    const blob = `${'0'.repeat(64)}.png`
    expect(await instances.image('a', blob)).toMatchObject(refused)
    const images = [{ media_type: 'image/png', blob, size: 1 }]
    expect(await instances.send('a', message('m1', { images }))).toMatchObject(refused)
    expect(await readdir(join(home, 'instances', id))).toEqual([])
  })

  test('work in the own folder of an Instance', async () => {
    const { instances } = await withInstance({ workspace: 'own' })
    const info = value(await instances.info('a'))
    expect(info.workspace).toMatch(/\/instances\/ins_[^/]+\/workspace$/)
    const reference = value(await instances.putImage('a', image))
    expect(value(await instances.image('a', reference.blob))).toEqual(image)
  })
})
