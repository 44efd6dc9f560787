import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log/log-place.ts'
import { overwrite, rawLog } from '../../test/support/log/raw-log.ts'
import { sessionStarted, value } from '../../test/support/log/story.ts'
import { textFold } from '../../test/support/log/text-fold.ts'
import { FileFailure } from '../host/files/files.ts'
import type { Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { adoptLog } from './lifecycle/adopt.ts'
import { HEAD_BEFORE_FIRST, type HeadRecord } from './head-record.ts'
import { acquireLog, createLog } from './open.ts'
import { logName } from './files/names.ts'
import { openReader } from './reader.ts'
import { salvageLog } from './lifecycle/salvage.ts'
import { removeUnbegun } from './unbegun.ts'
import { verifyLog } from './verify.ts'

const FIRST_HEAD: HeadRecord = { seq: 0, hash: 'a'.repeat(64), offset: 300 }

/** A Log with the content `text`, and its head. */
async function leftOver(text: string, head: HeadRecord | undefined) {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const session = storage.place.ids.session()
  await overwrite(storage.place.folders.sessions, logName(session), Buffer.from(text))
  if (head !== undefined) await storage.place.heads.write(session, head)
  return { storage, session }
}

/** The result of every way to open the Log. */
async function answers({ place, keep }: TestPlace, session: SessionId): Promise<string[]> {
  const writing = { fold: textFold, keep }
  const all: Result<unknown>[] = [
    await openReader(place, session),
    await verifyLog(place, session),
    await acquireLog(place, session, writing),
    await salvageLog(place, session, writing),
  ]
  return all.map((answer) => (answer.ok ? 'ok' : answer.error.kind))
}

const NOT_FOUND = ['not_found', 'not_found', 'not_found', 'not_found']

test.each([
  ['created and no head', '', undefined],
  ['created with its head', '', HEAD_BEFORE_FIRST],
  ['cut short in its first line', '{"v":1,"seq":0,"id":"evt_', HEAD_BEFORE_FIRST],
] as const)(
  'a Log that was only %s is not found, however it is opened',
  async (_name, text, head) => {
    const { storage, session } = await leftOver(text, head)
    expect(await answers(storage, session)).toEqual(NOT_FOUND)
    if (head === undefined)
      expect(
        await adoptLog(storage.place, session, { fold: textFold, keep: storage.keep }),
      ).toMatchObject({
        error: { kind: 'not_found' },
      })
  },
)

test('an empty Log whose head names a line is damaged and is not removed', async () => {
  const { storage, session } = await leftOver('', FIRST_HEAD)
  const verdict = value(await verifyLog(storage.place, session))
  expect(verdict.damage?.kind).toBe('log_damaged')
  expect(await removeUnbegun(storage.place, { dryRun: false })).toBe(0)
  expect((await rawLog(storage.place.folders.sessions, session)).length).toBe(0)
})

test('empty Logs are removed with their heads; Logs with content or being created stay', async () => {
  const { storage, session } = await leftOver('', HEAD_BEFORE_FIRST)
  const { place } = storage
  const [torn, creating, whole] = [place.ids.session(), place.ids.session(), place.ids.session()]
  await overwrite(place.folders.sessions, logName(torn), Buffer.from('{"v":1'))
  await overwrite(place.folders.sessions, logName(creating), Buffer.alloc(0))
  const lease = value(await place.leases.take(creating))
  const writing = { fold: textFold, keep: storage.keep }
  await value(await createLog(place, whole, [sessionStarted], writing)).release()
  const logs = async () =>
    (await place.folders.sessions.names()).filter((name) => name.endsWith('.ndjson'))
  expect(await removeUnbegun(place, { dryRun: true })).toBe(1)
  expect(await logs()).toContain(logName(session))
  expect(await removeUnbegun(place, { dryRun: false })).toBe(1)
  expect((await logs()).toSorted()).toEqual([torn, creating, whole].map(logName).toSorted())
  expect(await place.folders.heads.names()).not.toContain(session)
  await lease.release()
})

test('a Log whose creation fails leaves nothing behind', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const heads = {
    ...storage.place.folders.heads,
    open: () => Promise.reject(new FileFailure('ENOSPC', 'full')),
    remove: (name: string) => storage.place.folders.heads.remove(name),
    sync: () => storage.place.folders.heads.sync(),
  }
  const session = storage.place.ids.session()
  const writing = { fold: textFold, keep: storage.keep }
  const created = await createLog(storage.place.with({ heads }), session, [sessionStarted], writing)
  expect(created).toMatchObject({ ok: false, error: { kind: 'storage_failed' } })
  expect(await storage.place.folders.sessions.names()).not.toContain(logName(session))
})
