import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log/log-place.ts'
import { linesOf, overwrite, rawBytes, rawLog } from '../../test/support/log/raw-log.ts'
import { newJournal, sessionStarted, StoryWriter, value } from '../../test/support/log/story.ts'
import { textFold } from '../../test/support/log/text-fold.ts'
import type { Result } from '../model/errors.ts'
import { SessionId } from '../model/ids.ts'
import { adoptLog } from './lifecycle/adopt.ts'
import { sealLine, type LogLine } from './line.ts'
import { acquireLog, createLog } from './open.ts'
import { indexName, leaseName, logName, tornName } from './files/names.ts'
import { openReader } from './reader.ts'
import { verifyLog } from './verify.ts'

/** A finished Session with one Turn, and its Log. */
async function finishedSession(disk = new CrashDisk(1)) {
  const storage = await testPlace(disk.folder(), immediateClock)
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  const { cursor } = storyWriter.writer
  await storyWriter.end()
  const session = SessionId.parse(storyWriter.journal.session)
  const bytes = await rawLog(storage.place.folders.sessions, session)
  return { storage, session, bytes, cursor, disk, acquire: () => acquire(storage, session) }
}

const acquire = (storage: TestPlace, session: SessionId) =>
  acquireLog(storage.place, session, { fold: textFold, keep: storage.keep })

function reasonOf(result: Result<unknown>): unknown {
  return result.ok ? 'ok' : (result.error.details['reason'] ?? result.error.kind)
}

async function backwardEnd(storage: TestPlace, session: SessionId): Promise<unknown> {
  const reader = value(await openReader(storage.place, session))
  const seen: unknown[] = []
  for await (const result of reader.backward()) {
    seen.push(result.ok ? result.value.seq : reasonOf(result))
  }
  await reader.close()
  return seen.at(-1)
}

test('creating an existing Log leaves its head unchanged and gives a foreign one none', async () => {
  const { storage, session } = await finishedSession()
  const { heads } = storage.place.folders
  const before = await rawBytes(heads, session)
  const again = () =>
    createLog(storage.place, session, [sessionStarted], { fold: textFold, keep: storage.keep })
  expect((await again()).ok).toBe(false)
  expect(await rawBytes(heads, session)).toEqual(before)
  await heads.remove(session)
  expect((await again()).ok).toBe(false)
  // The other files are the order of writing and the key of the indexes, which do not make a Log ours.
  expect(await heads.names()).toEqual(['order', 'index-key'])
})

test('damage at line 0 of a Log with acknowledged Events is reported, even if its head is behind', async () => {
  const { storage, session, bytes, acquire: take } = await finishedSession()
  await overwrite(
    storage.place.folders.heads,
    session,
    Buffer.from('{"seq":-1,"hash":null,"offset":0}'),
  )
  await overwrite(
    storage.place.folders.sessions,
    logName(session),
    Buffer.from(bytes).fill(0, 100, 110),
  )
  await storage.place.folders.sessions.remove(indexName(session))
  expect(reasonOf(await take())).toBe('checksum')
})

test('an unreadable head makes a Log read-only', async () => {
  const { storage, session, acquire: take } = await finishedSession()
  await overwrite(storage.place.folders.heads, session, Buffer.from('{"seq":'))
  expect(reasonOf(await take())).toBe('head_unreadable')
  const reader = value(await openReader(storage.place, session))
  const lines: LogLine[] = []
  const end = value(await reader.forward((line) => void lines.push(line)))
  expect([lines.length, end.damage?.details['reason'], reader.foreign]).toEqual([
    12,
    'head_unreadable',
    false,
  ])
  expect(value(await verifyLog(storage.place, session)).damage?.kind).toBe('log_damaged')
})

test('a head that is behind is compared with the line it names', async () => {
  const { storage, session, bytes, acquire: take } = await finishedSession()
  const lines = linesOf(bytes)
  const offset = lines.slice(0, 3).reduce((sum, line) => sum + line.length, 0)
  const other = JSON.stringify({ seq: 2, hash: 'ab'.repeat(32), offset })
  await overwrite(storage.place.folders.heads, session, Buffer.from(other))
  expect(reasonOf(await take())).toBe('head_differs')
})

test('reading backwards detects a missing start, a missing end and an overlong line', async () => {
  const { storage, session, bytes } = await finishedSession()
  const { sessions, heads } = storage.place.folders
  const lines = linesOf(bytes)
  await overwrite(sessions, logName(session), Buffer.concat(lines.slice(2)))
  expect(await backwardEnd(storage, session)).toBe('sequence')
  await overwrite(sessions, logName(session), Buffer.concat(lines.slice(0, 5)))
  expect(await backwardEnd(storage, session)).toBe('head_missing')
  await overwrite(sessions, logName(session), Buffer.alloc(0))
  expect(await backwardEnd(storage, session)).toBe('head_missing')
  const long = Buffer.concat([
    lines[0] ?? Buffer.alloc(0),
    Buffer.alloc(1_048_577, 'x'),
    Buffer.from('\n'),
  ])
  await overwrite(sessions, logName(session), long)
  await heads.remove(session)
  expect(await backwardEnd(storage, session)).toBe('overlong')
})

test('reading from a position the Log no longer has fails', async () => {
  const { storage, session, bytes, cursor } = await finishedSession()
  await overwrite(storage.place.folders.sessions, logName(session), bytes.subarray(0, 2000))
  const reader = value(await openReader(storage.place, session))
  expect(await reader.forward(() => {}, cursor)).toMatchObject({
    error: { kind: 'cursor_expired' },
  })
})

test('a line that only strict mode rejects prevents adopting a foreign Session', async () => {
  const { storage, session, bytes, cursor } = await finishedSession()
  const event = {
    id: storage.place.ids.event(),
    session_id: session,
    ts: '2026-01-31T12:00:00.000Z',
    type: 'notice',
    data: '{"text":"one","text":"another","code":"x"}',
  }
  const double = sealLine(event, cursor.seq, cursor.prev, 0).bytes
  const log = Buffer.concat([bytes, double])
  await overwrite(storage.place.folders.sessions, logName(session), log)
  await storage.place.folders.heads.remove(session)
  expect(
    reasonOf(await adoptLog(storage.place, session, { fold: textFold, keep: storage.keep })),
  ).toBe('not_canonical')
  expect(value(await verifyLog(storage.place, session)).damage?.details['reason']).toBe(
    'not_canonical',
  )
})

test('an adopted Session survives a power cut', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { storage, session, bytes } = await finishedSession(new CrashDisk(seed))
    await storage.place.folders.heads.remove(session)
    // As after a clone: written but not synced.
    const disk = new CrashDisk(seed)
    const place = await testPlace(disk.folder(), immediateClock)
    await overwrite(place.place.folders.sessions, logName(session), bytes)
    value(await adoptLog(place.place, session, { fold: textFold, keep: place.keep }))
    const after = await testPlace(disk.afterCrash(seed).folder(), immediateClock)
    const writer = value(await acquire(after, session))
    expect(writer.cursor.offset).toBeGreaterThanOrEqual(bytes.length)
    await writer.release()
  }
})

test('unrelated files beside a Log do not prevent opening it', async () => {
  const { storage, session, acquire: take } = await finishedSession()
  const { sessions } = storage.place.folders
  await sessions.folder(tornName(session, '12-backup'), 'create')
  await sessions.folder(tornName(session, '12'), 'create')
  const taken = await take()
  expect(taken.ok).toBe(true)
  await value(taken).release()
})

test('the content of a lease is shown only if it is printable', async () => {
  const { storage, session, acquire: take } = await finishedSession()
  for (const text of [
    '{"pid":-7,"program":"x","since":"y"}',
    '{"pid":7,"program":"\\u001b[2J","since":"y"}',
    `{"pid":7,"program":"${'x'.repeat(500)}","since":"y"}`,
    'not JSON',
  ]) {
    await overwrite(storage.place.folders.sessions, leaseName(session), Buffer.from(text))
    await value(await take()).release()
  }
  const types: string[] = []
  const reader = value(await openReader(storage.place, session))
  value(await reader.forward(({ content }) => void types.push(content.event.type)))
  expect(types.filter((type) => type === 'lock_taken')).toEqual([])
})

test('a refused open keeps the record of the writer that was killed before it', async () => {
  const { storage, session, bytes, acquire: take } = await finishedSession()
  const dead = '{"pid":4711,"program":"story","since":"then"}'
  await overwrite(storage.place.folders.sessions, leaseName(session), Buffer.from(dead))
  await overwrite(storage.place.folders.sessions, logName(session), bytes.subarray(0, 900))
  expect((await take()).ok).toBe(false)
  await overwrite(storage.place.folders.sessions, logName(session), bytes)
  const writer = value(await take())
  expect(writer.state.counts['lock_taken']).toBe(1)
  await writer.release()
})

test('a writer whose Log or lease was deleted or changed acknowledges nothing more', async () => {
  for (const harm of ['delete', 'delete lease', 'cut'] as const) {
    const { storage, session, bytes, acquire: take } = await finishedSession()
    const writer = value(await take())
    const { sessions } = storage.place.folders
    if (harm === 'delete') await sessions.remove(logName(session))
    if (harm === 'delete lease') await sessions.remove(leaseName(session))
    if (harm === 'cut') await overwrite(sessions, logName(session), bytes.subarray(0, 500))
    const pin = { type: 'text_pinned', data: { text: 'x', by: 'person' } } as const
    expect(await writer.append([pin])).toMatchObject({ error: { kind: 'storage_failed' } })
    expect((await writer.append([pin])).ok).toBe(false)
    await writer.release()
  }
})

test('a tail larger than one write is never treated as torn', async () => {
  const { storage, session, bytes, acquire: take } = await finishedSession()
  const { sessions } = storage.place.folders
  const limit = 4 * 1024 * 1024
  await overwrite(sessions, logName(session), Buffer.concat([bytes, Buffer.alloc(limit + 1, '\n')]))
  expect(reasonOf(await take())).toBe('checksum')
  await overwrite(sessions, logName(session), Buffer.concat([bytes, Buffer.alloc(limit, '\n')]))
  await value(await take()).release()
})
