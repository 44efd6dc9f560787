import { open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { acquireLog } from '../../../src/log/open.ts'
import { logName } from '../../../src/log/files/names.ts'
import { openReader } from '../../../src/log/reader.ts'
import { salvageLog } from '../../../src/log/lifecycle/salvage.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { diskPlace } from '../../support/log/disk-place.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { newJournal, StoryWriter, value } from '../../support/log/story.ts'
import { textFold } from '../../support/log/text-fold.ts'

test('a line of a gigabyte is refused without being read, cut or held', async () => {
  const path = await freshFolder()
  const storage = await diskPlace(path)
  onTestFinished(() => storage.close())
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  const log = join(path, 'workspace', '.hawser', 'sessions', logName(session))
  const size = (await stat(log)).size
  await registerDamage(path, 'log', 'A Log ends with a line of a gigabyte.')
  const file = await open(log, 'r+')
  await file.truncate(size + 2 ** 30)
  await file.close()

  const before = process.memoryUsage().rss
  const refused = await acquireLog(storage.place, session, { fold: textFold, keep: storage.keep })
  expect(refused).toMatchObject({
    error: { kind: 'log_damaged', details: { reason: 'overlong', offset: size } },
  })
  const verdict = value(await verifyLog(storage.place, session))
  expect(verdict).toMatchObject({ events: 12, damage: { kind: 'log_damaged' } })
  const reader = value(await openReader(storage.place, session))
  const end = value(await reader.forward(() => {}))
  expect([end.cursor.seq, end.damage?.details['reason']]).toEqual([12, 'overlong'])
  await reader.close()
  expect((await stat(log)).size).toBe(size + 2 ** 30)
  const saved = value(
    await salvageLog(storage.place, session, { fold: textFold, keep: storage.keep }),
  )
  expect([saved.events, saved.missing]).toEqual([12, []])
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20)
})

test.each([
  ['../../../etc/passwd'],
  ['ses_../../etc/passwd'],
  ['ses_01kg8m2q3r4s5t6v7w8x9y0z12\n'],
  ['ses_01kg8m2q3r4s5t6v7w8x9y0z12\0'],
  ['SES_01KG8M2Q3R4S5T6V7W8X9Y0Z12'],
  ['ses_01kg8m2q3r4s5t6v7w8x9y0z1'],
  ['ses_01kg8m2q3r4s5t6v7w8x9y0z123'],
  ['trn_01kg8m2q3r4s5t6v7w8x9y0z12'],
])('the id %j never becomes a path', (id) => {
  expect(SessionId.safeParse(id).success).toBe(false)
})

test('an entry in place of a Log, a head or a lease is reported, not followed and not changed', async () => {
  const path = await freshFolder()
  const storage = await diskPlace(path)
  onTestFinished(() => storage.close())
  const session = storage.place.ids.session()
  const acquire = () => acquireLog(storage.place, session, { fold: textFold, keep: storage.keep })
  await registerDamage(path, 'log', 'What is in the place of a Log is none.')
  await writeFile(join(path, 'workspace', '.hawser', 'sessions', logName(session)), 'not a Log\n')
  expect(await acquire()).toMatchObject({ error: { kind: 'session_foreign' } })
  await writeFile(join(path, 'home', 'heads', session), 'not a head')
  expect(await acquire()).toMatchObject({
    error: { kind: 'log_damaged', details: { reason: 'head_unreadable' } },
  })
})
