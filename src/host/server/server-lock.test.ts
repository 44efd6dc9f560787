import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { systemClock } from '../clock.ts'
import { diskFolder } from '../files/disk.ts'
import { announcedServer, serverStatus, takeServerLock, type ServerRecord } from './server-lock.ts'
import { newSecret } from './secret.ts'

async function home() {
  const path = await freshFolder()
  const folder = await diskFolder(path)
  onTestFinished(() => folder.close())
  return { path, folder }
}

const RECORD: ServerRecord = {
  pid: 4711,
  version: '1.2.3',
  since: '2026-01-31T12:00:00.000Z',
  origin: 'http://127.0.0.1:4600',
}

const control = newSecret()

test('only one server takes the lock, and the next one learns where the first listens', async () => {
  const { folder } = await home()
  expect(await serverStatus(folder)).toEqual({ ok: true, value: undefined })
  const lock = await takeServerLock(folder, systemClock)
  if (!lock.ok) throw new Error(lock.error.message)
  expect(await serverStatus(folder)).toEqual({ ok: true, value: 'starting' })
  await lock.value.announce({ record: RECORD, control })
  expect(await serverStatus(folder)).toEqual({ ok: true, value: RECORD })
  expect(await announcedServer(folder)).toEqual({ ok: true, value: { record: RECORD, control } })
  expect(await takeServerLock(folder, systemClock)).toMatchObject({
    ok: false,
    // All that it shows: what the server obeys is not among it.
    error: { kind: 'invalid_args', details: expect.toSatisfy((shown) => !('control' in shown)) },
  })
  await lock.value.release()
  expect(await serverStatus(folder)).toEqual({ ok: true, value: undefined })
  const next = await takeServerLock(folder, systemClock)
  expect(next.ok && (await next.value.release())).toBe(undefined)
})

test('the record of a killed server says nothing: the lock decides', async () => {
  const { path, folder } = await home()
  await writeFile(join(path, 'hawserd.lock'), JSON.stringify({ ...RECORD, control }))
  expect(await serverStatus(folder)).toEqual({ ok: true, value: undefined })
  const lock = await takeServerLock(folder, systemClock)
  expect([lock.ok, await readFile(join(path, 'hawserd.lock'), 'utf8')]).toEqual([true, ''])
  if (lock.ok) await lock.value.release()
})

test('a record with control characters is not repeated, and any other path is', async () => {
  const { folder } = await home()
  const lock = await takeServerLock(folder, systemClock)
  if (!lock.ok) throw new Error(lock.error.message)
  for (const origin of ['http://\u001B[2J', 'http://\u202E', '']) {
    await lock.value.announce({ record: { ...RECORD, origin }, control })
    expect(await serverStatus(folder)).toEqual({ ok: true, value: 'starting' })
  }
  const socket = '/home/José/日本/hawserd.sock'
  await lock.value.announce({ record: { ...RECORD, socket }, control })
  expect(await serverStatus(folder)).toEqual({ ok: true, value: { ...RECORD, socket } })
  await lock.value.release()
})
