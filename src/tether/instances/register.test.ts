import { describe, expect, test } from 'vitest'
import { CrashDisk, PowerCut } from '../../../test/support/host/crash-disk.ts'
import { immediateClock } from '../../../test/support/log/log-place.ts'
import { value } from '../../../test/support/log/story.ts'
import { sha256 } from '../../encoding/hash.ts'
import { replaceFile, type Folder } from '../../host/files/files.ts'
import { wholeFile } from '../../host/files/json-file.ts'
import { systemIds } from '../../host/ids.ts'
import {
  InstanceHandle,
  type InstanceRecord,
  type InstanceRequest,
} from '../../model/tether/instance.ts'
import { InstanceRegister } from './register.ts'
import { SpendFile } from './spend-file.ts'

const clock = { ...immediateClock, now: () => Date.UTC(2026, 10, 17, 10) }
const ids = systemIds(clock)

async function open(folder: Folder): Promise<InstanceRegister> {
  return value(await InstanceRegister.open({ folder, clock, ids }))
}

const EVERYTHING: InstanceRequest = {
  handle: 'reviewer',
  workspace: '/home/al/project',
  provider: 'anthropic',
  model: 'claude-haiku-4-5',
  isolation: 'process',
  enabled: false,
  idle: { pause_seconds: 5, stop_seconds: 10 },
  ceiling_usd: 2.5,
}

describe('a registered Instance', () => {
  test('is found by id and handle, also by the next process', async () => {
    const folder = new CrashDisk(1).folder()
    const created = value(await (await open(folder)).create(EVERYTHING))
    expect(created).toEqual({
      ...EVERYTHING,
      workspace_by: 'operator',
      id: expect.stringMatching(/^ins_/),
      created: '2026-11-17T10:00:00.000Z',
    })
    const register = await open(folder)
    expect([register.find(created.id), register.find('reviewer')]).toEqual([created, created])
    expect(register.find('other')).toBeUndefined()
  })

  test('needs a handle only', async () => {
    const register = await open(new CrashDisk(1).folder())
    expect(value(await register.create({ handle: 'a', model: undefined }))).toMatchObject({
      handle: 'a',
      isolation: 'sandbox',
      enabled: true,
      idle: { pause_seconds: 60, stop_seconds: 300 },
    })
  })

  test('keeps its id, its creation time and fields of newer versions when it is changed', async () => {
    const folder = new CrashDisk(1).folder()
    const first = await open(folder)
    const created = value(await first.create(EVERYTHING))
    await rewrite(folder, (text) => text.replace('"handle"', '"later":7,"handle"'))
    const register = await open(folder)
    const request = { enabled: true, workspace: null, handle: 'writer' }
    const changed = value(await register.update(created.id, request))
    const { workspace: _, ...rest } = created
    expect(changed).toEqual({ ...rest, later: 7, enabled: true, handle: 'writer' })
    expect((await open(folder)).all).toEqual([changed])
    expect(register.find('reviewer')).toBeUndefined()
  })

  test('is not changed by an invalid request', async () => {
    const register = await open(new CrashDisk(1).folder())
    const created = value(await register.create(EVERYTHING))
    const refused = await register.update(created.id, { enabled: 'yes' })
    expect(refused).toMatchObject({
      error: { kind: 'invalid_args', details: { field: 'enabled' } },
    })
    expect(register.all).toEqual([created])
  })

  test('can be removed, and its handle used again', async () => {
    const register = await open(new CrashDisk(1).folder())
    const created = value(await register.create({ handle: 'a' }))
    value(await register.remove(created.id))
    expect(await register.remove(created.id)).toMatchObject({ error: { kind: 'not_found' } })
    expect(await register.folder(created.id)).toMatchObject({ error: { kind: 'not_found' } })
    expect(value(await register.create({ handle: 'a' })).id).not.toBe(created.id)
  })

  test('has a folder that is named by its id', async () => {
    const folder = new CrashDisk(1).folder()
    const register = await open(folder)
    const { id } = value(await register.create({ handle: 'a' }))
    value(await register.folder(id))
    expect(await folder.names()).toContain(id)
  })

  test('is found among 1,000 with one read', async () => {
    const folder = new CrashDisk(1).folder()
    const some = await open(folder)
    const record = value(await some.create(EVERYTHING))
    const many = Array.from({ length: 1_000 }, (_, i): InstanceRecord => {
      return { ...record, id: ids.instance(), handle: InstanceHandle.parse(`i${i}`) }
    })
    await rewrite(folder, () => `${JSON.stringify({ v: 1, instances: many })}\n`)
    let opened = 0
    const counting: Folder = {
      ...folder,
      label: '',
      open: (name, mode) => {
        opened += 1
        return folder.open(name, mode)
      },
    }
    const register = await open(counting)
    expect([register.all.length, register.find('i999')?.id, opened]).toEqual([
      1_000,
      many[999]?.id,
      1,
    ])
  })
})

describe('a handle', () => {
  test.each(['a', 'a1', 'my-agent_2', `a${'b'.repeat(63)}`])('may be %s', async (handle) => {
    const register = await open(new CrashDisk(1).folder())
    expect(value(await register.create({ handle })).handle).toBe(handle)
  })

  test.each([
    '',
    'A',
    '.',
    '..',
    '../a',
    'a/b',
    'a\\b',
    'a\0',
    'a\n',
    '-a',
    'a-',
    'é',
    'a b',
    `a${'b'.repeat(64)}`,
    'ins_01jd0000000000000000000000',
    'ins_x',
    undefined,
    7,
    ['a'],
  ])('is never %j', async (handle) => {
    const folder = new CrashDisk(1).folder()
    const register = await open(folder)
    const details = { field: 'handle' }
    const message = expect.stringContaining('1 to 64 lower-case letters') as string
    expect(await register.create({ handle })).toMatchObject({
      error: { kind: 'invalid_args', details, message },
    })
    expect(await folder.names()).toEqual([])
  })

  test('is unique, also for processes that register at the same time', async () => {
    const folder = new CrashDisk(1).folder()
    const [one, two] = [await open(folder), await open(folder)]
    const results = await Promise.all([
      one.create({ handle: 'a' }),
      two.create({ handle: 'a' }),
      two.create({ handle: 'b' }),
    ])
    expect(results.filter(({ ok }) => ok)).toHaveLength(2)
    expect((await open(folder)).all.map(({ handle }) => handle).toSorted()).toEqual(['a', 'b'])
    const b = value(await InstanceRegister.open({ folder, clock, ids })).find('b')
    if (b === undefined) throw new Error('b is missing')
    expect(await one.update(b.id, { handle: 'a' })).toMatchObject({
      error: { kind: 'invalid_args' },
    })
  })
})

test.each([
  { workspace: 'relative' },
  { workspace: '/a\0b' },
  { workspace: `/${'a'.repeat(4_096)}` },
  { isolation: 'none' },
  { idle: { pause_seconds: 0, stop_seconds: 1 } },
  { idle: { pause_seconds: 60 } },
  { ceiling_usd: -1 },
  { ceiling_usd: Number.NaN },
  { provider: '' },
])('an Instance with %o is refused', async (wrong: InstanceRequest) => {
  const register = await open(new CrashDisk(1).folder())
  const [field] = Object.keys(wrong)
  expect(await register.create({ handle: 'a', ...wrong })).toMatchObject({
    error: { kind: 'invalid_args', details: { field } },
  })
})

describe('the register', () => {
  test('is the old or the new one after a power cut at any step', async () => {
    for (let cutAt = 1; cutAt < 60; cutAt++) {
      const disk = new CrashDisk(cutAt, { shortWrites: true })
      const register = await open(disk.folder())
      value(await register.create({ handle: 'a' }))
      disk.injectFaults({ powerCutAt: cutAt, shortWrites: true })
      const acknowledged = ['a']
      try {
        for (const handle of ['b', 'c', 'd']) {
          value(await register.create({ handle }))
          acknowledged.push(handle)
        }
      } catch (error) {
        if (!(error instanceof PowerCut)) throw error
      }
      const found = (await open(disk.afterCrash(cutAt).folder())).all.map(({ handle }) => handle)
      expect(found.slice(0, acknowledged.length)).toEqual(acknowledged)
      expect(found.length).toBeLessThanOrEqual(acknowledged.length + 1)
    }
  })

  test.each([
    ['checksum', (text: string) => text.replace('"a"', '"b"'), false],
    ['checksum', (text: string) => text.slice(0, 20), false],
    ['checksum', () => '', false],
    ['version', (text: string) => text.replace('"v":1', '"v":2'), true],
    ['shape', (text: string) => text.replace('"a"', '"../a"'), true],
    ['shape', () => '[]', true],
    ['repeated', (text: string) => text.replace(/\[(.*)\]/, '[$1,$1]'), true],
  ])('that is damaged (%s) is never mistaken for an empty one', async (reason, change, rehash) => {
    const folder = new CrashDisk(1).folder()
    const register = await open(folder)
    value(await register.create({ handle: 'a' }))
    await rewrite(folder, change, rehash)
    const refused = { ok: false, error: { kind: 'storage_failed', details: { reason } } }
    expect(await InstanceRegister.open({ folder, clock, ids })).toMatchObject(refused)
    expect(await register.create({ handle: 'c' })).toMatchObject(refused)
  })
})

describe('what an Instance has spent', () => {
  const spend = (calls: number) => ({ calls, usd: calls, estimatedUsd: 0, unpricedCalls: 0 })

  test('is there after a restart, and the latest total wins', async () => {
    const folder = new CrashDisk(1).folder()
    const file = value(await SpendFile.open(folder, ids))
    expect(file.total).toEqual(spend(0))
    const saved = await Promise.all([1, 2, 3].map((calls) => file.save(spend(calls))))
    expect(saved.every(({ ok }) => ok)).toBe(true)
    expect(value(await SpendFile.open(folder, ids)).total).toEqual(spend(3))
  })

  test('includes calls that ran when the server was killed, until they are known to have ended', async () => {
    const folder = new CrashDisk(1).folder()
    const file = value(await SpendFile.open(folder, ids))
    value(await file.save(spend(2)))
    value(await file.saveRunning({ calls: 2, usd: 0.25, unpricedCalls: 1 }))
    expect(file.total).toEqual(spend(2))
    const next = value(await SpendFile.open(folder, ids))
    expect(next.total).toEqual({ calls: 4, usd: 2.25, estimatedUsd: 0.25, unpricedCalls: 1 })
    // It was read, but nothing was written.
    expect(value(await SpendFile.open(folder, ids)).total).toEqual(next.total)
    value(await next.save({ ...next.total, calls: 5 }))
    expect(value(await SpendFile.open(folder, ids)).total).toEqual({ ...next.total, calls: 5 })
    value(await file.saveRunning({ calls: 0, usd: 0, unpricedCalls: 0 }))
    expect(value(await SpendFile.open(folder, ids)).total).toEqual(spend(2))
  })

  test('is never 0 because its file is damaged', async () => {
    const folder = new CrashDisk(1).folder()
    await replaceFile(folder, 'spend.json', Buffer.from('{"v":1,"calls":'), '.tmp-1')
    expect(await SpendFile.open(folder, ids)).toMatchObject({ error: { kind: 'storage_failed' } })
  })
})

async function rewrite(
  folder: Folder,
  change: (text: string) => string,
  rehash = true,
): Promise<void> {
  const bytes = await wholeFile(folder, 'register.json', 1_000_000)
  const [hash = '', text = ''] = (bytes ?? Buffer.alloc(0)).toString('utf8').split('\n')
  const changed = change(text)
  const content = `${rehash ? sha256(changed) : hash}\n${changed}`
  await replaceFile(folder, 'register.json', Buffer.from(content), '.tmp-rewrite')
}
