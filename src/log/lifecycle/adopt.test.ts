import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../../test/support/log/log-place.ts'
import { overwrite, rawLog } from '../../../test/support/log/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../../test/support/log/story.ts'
import { textFold } from '../../../test/support/log/text-fold.ts'
import { SessionId } from '../../model/ids.ts'
import { adoptLog } from './adopt.ts'
import { acquireLog } from '../open.ts'
import { logName } from '../files/names.ts'
import { verifyLog } from '../verify.ts'

/** A Session from a clone: its Log is here, its head is not. */
async function foreignSession() {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  await storage.place.heads.remove(session)
  return {
    storage,
    session,
    acquire: () => acquireLog(storage.place, session, { fold: textFold, keep: storage.keep }),
  }
}

test('a foreign Session can be written once a person has adopted it', async () => {
  const { storage, session, acquire } = await foreignSession()
  expect(value(await verifyLog(storage.place, session))).toMatchObject({
    foreign: true,
    events: 12,
  })
  expect(await acquire()).toMatchObject({ error: { kind: 'session_foreign' } })
  value(await adoptLog(storage.place, session, { fold: textFold, keep: storage.keep }))
  value(await adoptLog(storage.place, session, { fold: textFold, keep: storage.keep }))
  await value(await acquire()).release()
})

test('an adopted Session with a torn tail is repaired like any other', async () => {
  const { storage, session, acquire } = await foreignSession()
  const raw = await rawLog(storage.place.folders.sessions, session)
  await overwrite(
    storage.place.folders.sessions,
    logName(session),
    Buffer.concat([raw, Buffer.from('{"v')]),
  )
  expect(value(await verifyLog(storage.place, session)).torn_bytes).toBe(3)
  value(await adoptLog(storage.place, session, { fold: textFold, keep: storage.keep }))
  await value(await acquire()).release()
  expect(value(await verifyLog(storage.place, session))).toMatchObject({
    torn_bytes: 0,
    events: 14,
  })
})

test('a damaged foreign Session is not adopted', async () => {
  const { storage, session, acquire } = await foreignSession()
  const raw = await rawLog(storage.place.folders.sessions, session)
  raw[300] = 0
  await overwrite(storage.place.folders.sessions, logName(session), raw)
  expect(
    await adoptLog(storage.place, session, { fold: textFold, keep: storage.keep }),
  ).toMatchObject({
    error: { kind: 'log_damaged' },
  })
  expect(await acquire()).toMatchObject({ error: { kind: 'session_foreign' } })
})
