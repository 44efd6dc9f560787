import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log/log-place.ts'
import { linesOf, overwrite, rawLog } from '../../test/support/log/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../test/support/log/story.ts'
import { textFold } from '../../test/support/log/text-fold.ts'
import { readSpan } from '../host/files/files.ts'
import type { EventDraft } from '../model/events/event.ts'
import { SessionId } from '../model/ids.ts'
import { logName } from './files/names.ts'
import { HEAD_BEFORE_FIRST } from './head-record.ts'
import type { LogLine } from './line.ts'
import { openLineageToWrite } from './lineage-log.ts'
import { acquireLog, createLog } from './open.ts'
import { openReader } from './reader.ts'
import { removeUnbegun } from './unbegun.ts'
import { verifyLog } from './verify.ts'

async function finishedSession(): Promise<{ storage: TestPlace; session: SessionId }> {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const story = new StoryWriter(storage, newJournal())
  await story.begin()
  await story.turn(1)
  await story.end()
  return { storage, session: SessionId.parse(story.journal.session) }
}

const note = (text: string): EventDraft => ({ type: 'notice', data: { code: 'branch', text } })

/** Forks after the line with that number, and adds a notice. */
async function forkAfter(storage: TestPlace, parent: SessionId, seq: number): Promise<SessionId> {
  const at = (await read(storage, parent))[seq] ?? expect.fail('no such line')
  const data = {
    parent_session_id: parent,
    root_session_id: parent,
    at_seq: at.seq,
    at_hash: at.hash,
    at_offset: at.next.offset,
    resources_count: 0,
  }
  const child = storage.place.ids.session()
  const writing = { fold: textFold, keep: storage.keep }
  const writer = value(
    await createLog(storage.place, child, [{ type: 'session_fork', data }], writing),
  )
  value(await writer.append([note(`in ${child}`)]))
  await writer.release()
  return child
}

async function read(storage: TestPlace, session: SessionId): Promise<LogLine[]> {
  const reader = value(await openReader(storage.place, session))
  const { lines, damage } = value(await reader.lines())
  await reader.close()
  expect(damage).toBeUndefined()
  return [...lines]
}

async function readBackward(storage: TestPlace, session: SessionId): Promise<LogLine[]> {
  const reader = value(await openReader(storage.place, session))
  const lines: LogLine[] = []
  for await (const line of reader.backward()) lines.push(value(line))
  await reader.close()
  return lines.toReversed()
}

const idsOf = (lines: readonly LogLine[]) => lines.map(({ content }) => content.event.id)

test('a lineage is one sequence of lines, read in either direction, and continued by its writer', async () => {
  const { storage, session } = await finishedSession()
  const root = await read(storage, session)
  const child = await forkAfter(storage, session, 5)
  const grandchild = await forkAfter(storage, child, 7)
  const lines = await read(storage, grandchild)
  expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 10 }, (_, i) => i))
  expect(idsOf(lines).slice(0, 6)).toEqual(idsOf(root).slice(0, 6))
  expect(idsOf(lines).slice(0, 8)).toEqual(idsOf(await read(storage, child)).slice(0, 8))
  for (const [i, line] of lines.slice(1).entries()) {
    expect(line.content.event.prev).toBe(lines[i]?.hash)
    expect(line.offset).toBe(lines[i]?.next.offset)
  }
  expect(idsOf(await readBackward(storage, grandchild))).toEqual(idsOf(lines))
  const writer = value(
    await acquireLog(storage.place, grandchild, { fold: textFold, keep: storage.keep }),
  )
  value(await writer.append([note('more')]))
  await writer.release()
  const verdict = value(await verifyLog(storage.place, grandchild))
  expect(verdict).toMatchObject({ events: 11, foreign: false })
  expect(verdict.damage).toBeUndefined()
})

test('what a parent writes, loses or repairs after the fork does not concern its fork', async () => {
  const { storage, session } = await finishedSession()
  const child = await forkAfter(storage, session, 5)
  const before = await read(storage, child)
  const raw = await rawLog(storage.place.folders.sessions, session)
  const lines = linesOf(raw)
  const shared = Buffer.concat(lines.slice(0, 6))
  for (const rest of [Buffer.from('garbage\n'), Buffer.alloc(0), Buffer.from('{"v":1')]) {
    await overwrite(storage.place.folders.sessions, logName(session), Buffer.concat([shared, rest]))
    expect(idsOf(await read(storage, child))).toEqual(idsOf(before))
    expect(value(await verifyLog(storage.place, child)).damage).toBeUndefined()
  }
})

test('damage before the fork is found in the fork, and nothing is appended after it', async () => {
  const { storage, session } = await finishedSession()
  const child = await forkAfter(storage, session, 5)
  const raw = await rawLog(storage.place.folders.sessions, session)
  const broken = linesOf(raw).with(
    3,
    Buffer.from(`${'x'.repeat((linesOf(raw)[3]?.length ?? 1) - 1)}\n`),
  )
  await overwrite(storage.place.folders.sessions, logName(session), Buffer.concat(broken))
  const verdict = value(await verifyLog(storage.place, child))
  expect(verdict).toMatchObject({ events: 3, damage: { kind: 'log_damaged' } })
  await storage.place.indexes.remove(child)
  const acquired = await acquireLog(storage.place, child, { fold: textFold, keep: storage.keep })
  expect(acquired).toMatchObject({ error: { kind: 'log_damaged' } })
})

test('a fork whose parent is missing, shorter or later than it says is read from its own first line on', async () => {
  const { storage, session } = await finishedSession()
  const child = await forkAfter(storage, session, 5)
  const own = (await read(storage, child)).slice(6)
  const raw = await rawLog(storage.place.folders.sessions, session)
  const childRaw = await rawLog(storage.place.folders.sessions, child)
  const name = logName(session)
  const states: (() => Promise<void>)[] = [
    () => overwrite(storage.place.folders.sessions, name, raw.subarray(0, 100)),
    // A Log that claims to begin where its child does.
    () => overwrite(storage.place.folders.sessions, name, Buffer.from(childRaw)),
    () => storage.place.folders.sessions.remove(name),
  ]
  for (const change of states) {
    await change()
    const reader = value(await openReader(storage.place, child))
    const { lines, damage } = value(await reader.lines())
    await reader.close()
    expect(idsOf(lines)).toEqual(idsOf(own))
    expect(damage).toMatchObject({ kind: 'log_damaged', details: { reason: 'parent_missing' } })
    expect(value(await verifyLog(storage.place, child)).damage).toMatchObject({
      details: { reason: 'parent_missing' },
    })
    const writing = { fold: textFold, keep: storage.keep }
    expect(await acquireLog(storage.place, child, writing)).toMatchObject({
      error: { kind: 'log_damaged', details: { reason: 'parent_missing' } },
    })
  }
})

test('a fork that its head does not cover does not exist, and is removed', async () => {
  const { storage, session } = await finishedSession()
  const child = await forkAfter(storage, session, 5)
  await storage.place.heads.write(child, HEAD_BEFORE_FIRST)
  const writing = { fold: textFold, keep: storage.keep }
  for (const opened of [
    await openReader(storage.place, child),
    await acquireLog(storage.place, child, writing),
    await verifyLog(storage.place, child),
  ])
    expect(opened).toMatchObject({ error: { kind: 'not_found' } })
  expect(await removeUnbegun(storage.place, { dryRun: false })).toBe(1)
  expect(await storage.place.logs.list()).toEqual([session])
})

test('settling a fork writes its own bytes again, also of a piece that begins in its parent, and nothing of that', async () => {
  const { storage, session } = await finishedSession()
  const { folders, leases, logs } = storage.place
  const child = await forkAfter(storage, session, 5)
  const parent = await rawLog(folders.sessions, session)
  const lease = value(await leases.take(child))
  const log = (await openLineageToWrite(logs, child)) ?? expect.fail('it cannot be opened')
  const whole = await readSpan(log, 0, (await log.stat()).size)
  const start = log.lineage?.ownStart ?? 0
  for (const from of [0, start - 10, start, start + 10]) {
    // Bytes that differ show which ones are written.
    const changed = Buffer.alloc(whole.length, 'x')
    await log.under(lease).settle(from, (visit) => visit(changed, 0))
    const kept = Math.max(from, start)
    const own = Buffer.concat([whole.subarray(start, kept), changed.subarray(kept)])
    expect(await rawLog(folders.sessions, child)).toEqual(own)
    expect(await rawLog(folders.sessions, session)).toEqual(parent)
    await log.under(lease).settle(0, (visit) => visit(whole, 0))
    expect(await rawLog(folders.sessions, child)).toEqual(whole.subarray(start))
  }
  await log.close()
  await lease.release()
})

test('a torn tail of a fork is cut at its place in the lineage', async () => {
  const { storage, session } = await finishedSession()
  const child = await forkAfter(storage, session, 5)
  const raw = await rawLog(storage.place.folders.sessions, child)
  await overwrite(
    storage.place.folders.sessions,
    logName(child),
    Buffer.concat([raw, Buffer.from('{"v":1,"seq":')]),
  )
  const writing = { fold: textFold, keep: storage.keep }
  await value(await acquireLog(storage.place, child, writing)).release()
  const lines = await read(storage, child)
  expect(lines.map(({ content }) => content.event.type).slice(6)).toEqual([
    'session_fork',
    'notice',
    'log_repaired',
  ])
  const kept = await rawLog(storage.place.folders.sessions, child)
  expect(kept.subarray(0, raw.length).equals(raw)).toBe(true)
})
