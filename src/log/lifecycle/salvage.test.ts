import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../../test/support/log/log-place.ts'
import { linesOf, overwrite, rawLog } from '../../../test/support/log/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../../test/support/log/story.ts'
import { textFold } from '../../../test/support/log/text-fold.ts'
import { SessionId } from '../../model/ids.ts'
import type { LogLine } from '../line.ts'
import { acquireLog, createLog } from '../open.ts'
import { logName } from '../files/names.ts'
import { openReader } from '../reader.ts'
import { salvageLog } from './salvage.ts'
import { verifyLog } from '../verify.ts'

async function finishedSession(): Promise<{
  storage: TestPlace
  session: SessionId
  lines: Buffer[]
}> {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  return { storage, session, lines: linesOf(await rawLog(storage.place.folders.sessions, session)) }
}

async function read(storage: TestPlace, session: SessionId): Promise<LogLine[]> {
  const reader = value(await openReader(storage.place, session))
  const lines: LogLine[] = []
  const end = value(await reader.forward((line) => void lines.push(line)))
  expect(end.damage).toBeUndefined()
  return lines
}

/** What identifies an Event across Logs. */
const identityOf = ({ content: { event } }: LogLine) => [event.id, event.ts, event.type, event.data]

const salvage = (storage: TestPlace, session: SessionId) =>
  salvageLog(storage.place, session, { fold: textFold, keep: storage.keep })

test('all intact Events keep their ids and times, and a notice marks missing lines', async () => {
  const { storage, session, lines } = await finishedSession()
  const before = await read(storage, session)
  const broken = lines.with(3, Buffer.from('garbage\n')).toSpliced(7, 1)
  await overwrite(storage.place.folders.sessions, logName(session), Buffer.concat(broken))
  const saved = value(await salvage(storage, session))
  expect(saved).toMatchObject({
    events: 10,
    missing: [
      { from_seq: 3, to_seq: 3 },
      { from_seq: 7, to_seq: 7 },
    ],
  })
  const after = await read(storage, saved.session_id)
  const codes = after.map(({ content: { event } }) =>
    event.type === 'notice' && 'code' in event.data ? String(event.data.code) : '',
  )
  expect(codes.filter((code) => code.startsWith('salvage'))).toEqual([
    'salvage_gap',
    'salvage_gap',
    'salvaged',
  ])
  const own = after.filter((_, i) => !codes[i]?.startsWith('salvage')).slice(0, -1)
  expect(own.map(identityOf)).toEqual(
    before.filter(({ seq }) => seq !== 3 && seq !== 7).map(identityOf),
  )
  const writing = { fold: textFold, keep: storage.keep }
  await value(await acquireLog(storage.place, saved.session_id, writing)).release()
})

test('duplicated or reordered lines are restored once and in order', async () => {
  const { storage, session, lines } = await finishedSession()
  const before = await read(storage, session)
  const shuffled = [...lines.slice(0, 4).toReversed(), ...lines.slice(2), ...lines.slice(-2)]
  await overwrite(storage.place.folders.sessions, logName(session), Buffer.concat(shuffled))
  const saved = value(await salvage(storage, session))
  const after = await read(storage, saved.session_id)
  expect([saved.missing, after.slice(0, -2).map(identityOf)]).toEqual([[], before.map(identityOf)])
})

test('a salvaged fork does not need its parents', async () => {
  const { storage, session } = await finishedSession()
  const parent = await read(storage, session)
  const at = parent[5]
  const child = storage.place.ids.session()
  const data = {
    parent_session_id: session,
    root_session_id: session,
    at_seq: at?.seq ?? 0,
    at_hash: at?.hash ?? '',
    at_offset: at?.next.offset ?? 0,
    resources_count: 0,
  }
  const writing = { fold: textFold, keep: storage.keep }
  const drafts = [{ type: 'session_fork', data } as const]
  await value(await createLog(storage.place, child, drafts, writing)).release()
  const saved = value(await salvage(storage, child))
  await storage.place.folders.sessions.remove(logName(session))
  const after = await read(storage, saved.session_id)
  expect(after.slice(0, 6).map(identityOf)).toEqual(parent.slice(0, 6).map(identityOf))
  expect(after.map(({ content }) => content.event.type).slice(6)).toEqual([
    'session_fork',
    'notice',
    'session_settings',
  ])
  expect(value(await verifyLog(storage.place, saved.session_id)).damage).toBeUndefined()
})

test('a missing Session cannot be salvaged', async () => {
  const { storage } = await finishedSession()
  expect(await salvage(storage, storage.place.ids.session())).toMatchObject({
    error: { kind: 'not_found' },
  })
})

test('lines missing at the end are reported as far as the head knows them', async () => {
  const { storage, session, lines } = await finishedSession()
  await overwrite(
    storage.place.folders.sessions,
    logName(session),
    Buffer.concat(lines.slice(0, 5)),
  )
  const saved = value(await salvage(storage, session))
  expect(saved.missing).toEqual([{ from_seq: 5, to_seq: 11 }])
  const texts = (await read(storage, saved.session_id))
    .slice(5)
    .map(({ content: { event } }) => event.data)
  expect(texts).toMatchObject([
    { code: 'salvage_gap' },
    { code: 'salvaged' },
    { permission_mode: 'ask' },
  ])
})

test('a foreign Session cannot be salvaged', async () => {
  const { storage, session } = await finishedSession()
  await storage.place.folders.heads.remove(session)
  expect(await salvage(storage, session)).toMatchObject({ error: { kind: 'session_foreign' } })
})

test('a salvaged fork can be salvaged again', async () => {
  const { storage, session } = await finishedSession()
  const at = (await read(storage, session))[5]
  const child = storage.place.ids.session()
  const data = {
    parent_session_id: session,
    root_session_id: session,
    at_seq: at?.seq ?? 0,
    at_hash: at?.hash ?? '',
    at_offset: at?.next.offset ?? 0,
    resources_count: 0,
  }
  const writing = { fold: textFold, keep: storage.keep }
  await value(
    await createLog(storage.place, child, [{ type: 'session_fork', data }], writing),
  ).release()
  const once = value(await salvage(storage, child))
  const twice = value(await salvage(storage, once.session_id))
  const before = await read(storage, once.session_id)
  const after = await read(storage, twice.session_id)
  expect(after.slice(0, -2).map(identityOf)).toEqual(before.map(identityOf))
})

test('a failed salvage leaves no partial Session', async () => {
  const disk = new CrashDisk(1)
  const storage = await testPlace(disk.folder(), immediateClock)
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  disk.injectFaults({ fullAtWrite: 4 })
  expect((await salvage(storage, session)).ok).toBe(false)
  const logs = (await storage.place.folders.sessions.names()).filter((name) =>
    name.endsWith('.ndjson'),
  )
  const heads = (await storage.place.folders.heads.names()).filter((name) =>
    name.startsWith('ses_'),
  )
  expect([logs, heads]).toEqual([[logName(session)], [session]])
})
