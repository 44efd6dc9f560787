import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log-place.ts'
import { linesOf, overwrite, rawLog } from '../../test/support/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../test/support/story.ts'
import { textFold } from '../../test/support/text-fold.ts'
import { SessionId } from '../model/ids.ts'
import type { LogLine } from './line.ts'
import { acquireLog, createLog } from './open.ts'
import { logName } from './place.ts'
import { openReader } from './reader.ts'
import { salvageLog } from './salvage.ts'
import { verifyLog } from './verify.ts'

async function finishedSession(): Promise<{
  here: TestPlace
  session: SessionId
  lines: Buffer[]
}> {
  const here = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const storyWriter = new StoryWriter(here, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  return { here, session, lines: linesOf(await rawLog(here.place.sessions, session)) }
}

async function read(here: TestPlace, session: SessionId): Promise<LogLine[]> {
  const reader = value(await openReader(here.place, session))
  const lines: LogLine[] = []
  const end = value(await reader.forward((line) => void lines.push(line)))
  expect(end.damage).toBeUndefined()
  return lines
}

/** What identifies an Event across Logs. */
const essence = ({ logged: { event } }: LogLine) => [event.id, event.ts, event.type, event.data]

const salvage = (here: TestPlace, session: SessionId) =>
  salvageLog(here.place, session, { fold: textFold, keep: here.keep })

test('all intact Events keep their ids and times, and a notice marks missing lines', async () => {
  const { here, session, lines } = await finishedSession()
  const before = await read(here, session)
  const broken = lines.with(3, Buffer.from('garbage\n')).toSpliced(7, 1)
  await overwrite(here.place.sessions, logName(session), Buffer.concat(broken))
  const saved = value(await salvage(here, session))
  expect(saved).toMatchObject({
    events: 10,
    missing: [
      { from_seq: 3, to_seq: 3 },
      { from_seq: 7, to_seq: 7 },
    ],
  })
  const after = await read(here, saved.session_id)
  const codes = after.map(({ logged: { event } }) =>
    event.type === 'notice' && 'code' in event.data ? String(event.data.code) : '',
  )
  expect(codes.filter((code) => code.startsWith('salvage'))).toEqual([
    'salvage_gap',
    'salvage_gap',
    'salvaged',
  ])
  const own = after.filter((_, i) => !codes[i]?.startsWith('salvage')).slice(0, -1)
  expect(own.map(essence)).toEqual(before.filter(({ seq }) => seq !== 3 && seq !== 7).map(essence))
  const writing = { fold: textFold, keep: here.keep }
  await value(await acquireLog(here.place, saved.session_id, writing)).release()
})

test('duplicated or reordered lines are restored once and in order', async () => {
  const { here, session, lines } = await finishedSession()
  const before = await read(here, session)
  const shuffled = [...lines.slice(0, 4).toReversed(), ...lines.slice(2), ...lines.slice(-2)]
  await overwrite(here.place.sessions, logName(session), Buffer.concat(shuffled))
  const saved = value(await salvage(here, session))
  const after = await read(here, saved.session_id)
  expect([saved.missing, after.slice(0, -2).map(essence)]).toEqual([[], before.map(essence)])
})

test('a salvaged fork does not need its parents', async () => {
  const { here, session } = await finishedSession()
  const parent = await read(here, session)
  const at = parent[5]
  const child = here.place.ids.session()
  const data = {
    parent_session_id: session,
    root_session_id: session,
    at_seq: at?.seq ?? 0,
    at_hash: at?.hash ?? '',
    at_offset: at?.next.offset ?? 0,
    resources_count: 0,
  }
  const writing = { fold: textFold, keep: here.keep }
  const drafts = [{ type: 'session_fork', data } as const]
  await value(await createLog(here.place, child, drafts, writing)).release()
  const saved = value(await salvage(here, child))
  await here.place.sessions.remove(logName(session))
  const after = await read(here, saved.session_id)
  expect(after.slice(0, 6).map(essence)).toEqual(parent.slice(0, 6).map(essence))
  expect(after.map(({ logged }) => logged.event.type).slice(6)).toEqual([
    'session_fork',
    'notice',
    'session_settings',
  ])
  expect(value(await verifyLog(here.place, saved.session_id)).damage).toBeUndefined()
})

test('a missing Session cannot be salvaged', async () => {
  const { here } = await finishedSession()
  expect(await salvage(here, here.place.ids.session())).toMatchObject({
    error: { kind: 'not_found' },
  })
})

test('lines missing at the end are reported as far as the head knows them', async () => {
  const { here, session, lines } = await finishedSession()
  await overwrite(here.place.sessions, logName(session), Buffer.concat(lines.slice(0, 5)))
  const saved = value(await salvage(here, session))
  expect(saved.missing).toEqual([{ from_seq: 5, to_seq: 11 }])
  const texts = (await read(here, saved.session_id))
    .slice(5)
    .map(({ logged: { event } }) => event.data)
  expect(texts).toMatchObject([
    { code: 'salvage_gap' },
    { code: 'salvaged' },
    { permission_mode: 'ask' },
  ])
})

test('a foreign Session cannot be salvaged', async () => {
  const { here, session } = await finishedSession()
  await here.place.heads.remove(session)
  expect(await salvage(here, session)).toMatchObject({ error: { kind: 'session_foreign' } })
})

test('a salvaged fork can be salvaged again', async () => {
  const { here, session } = await finishedSession()
  const at = (await read(here, session))[5]
  const child = here.place.ids.session()
  const data = {
    parent_session_id: session,
    root_session_id: session,
    at_seq: at?.seq ?? 0,
    at_hash: at?.hash ?? '',
    at_offset: at?.next.offset ?? 0,
    resources_count: 0,
  }
  const writing = { fold: textFold, keep: here.keep }
  await value(
    await createLog(here.place, child, [{ type: 'session_fork', data }], writing),
  ).release()
  const once = value(await salvage(here, child))
  const twice = value(await salvage(here, once.session_id))
  const before = await read(here, once.session_id)
  const after = await read(here, twice.session_id)
  expect(after.slice(0, -2).map(essence)).toEqual(before.map(essence))
})

test('a failed salvage leaves no partial Session', async () => {
  const disk = new CrashDisk(1)
  const here = await testPlace(disk.folder(), immediateClock)
  const storyWriter = new StoryWriter(here, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  disk.injectFaults({ fullAtWrite: 4 })
  expect((await salvage(here, session)).ok).toBe(false)
  const logs = (await here.place.sessions.names()).filter((name) => name.endsWith('.ndjson'))
  const heads = (await here.place.heads.names()).filter((name) => name !== 'order')
  expect([logs, heads]).toEqual([[logName(session)], [session]])
})
