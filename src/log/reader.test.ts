import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { diskPlace } from '../../test/support/log/disk-place.ts'
import { freshFolder } from '../../test/support/host/folder.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log/log-place.ts'
import { overwrite, rawLog } from '../../test/support/log/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../test/support/log/story.ts'
import { sha256 } from '../encoding/hash.ts'
import { FileFailure } from '../host/files/files.ts'
import { Descriptor } from '../model/descriptor.ts'
import type { EventDraft } from '../model/events/event.ts'
import { EventId, SessionId } from '../model/ids.ts'
import { sealLine, type Cursor, type LogLine } from './line.ts'
import { logName } from './files/names.ts'
import { openReader, type LogReader } from './reader.ts'
import { LOG_START } from './scan.ts'

async function finishedSessionIn(
  storage: TestPlace,
): Promise<{ storyWriter: StoryWriter; session: SessionId }> {
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  return { storyWriter, session: SessionId.parse(storyWriter.journal.session) }
}

async function forward(reader: LogReader, from?: Cursor): Promise<LogLine[]> {
  const lines: LogLine[] = []
  value(await reader.forward((line) => void lines.push(line), from))
  return lines
}

test('a Log can be read forward and backward, without a lock, while it is being written', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { storyWriter, session } = await finishedSessionIn(storage)
  const reader = value(await openReader(storage.place, session))
  const lines = await forward(reader)
  expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, i) => i))
  expect(await forward(reader, lines[4]?.next)).toEqual(lines.slice(5))
  const back: LogLine[] = []
  for await (const result of reader.backward()) back.push(value(result))
  expect(back.toReversed()).toEqual(lines)
  const some: number[] = []
  for await (const result of reader.backward(lines[7]?.next)) some.push(value(result).seq)
  expect(some).toEqual([7, 6, 5, 4, 3, 2, 1, 0])
  await storyWriter.end()
})

test('reading stops where the visitor returns false', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session } = await finishedSessionIn(storage)
  const reader = value(await openReader(storage.place, session))
  const end = value(await reader.forward(({ seq }) => (seq === 3 ? false : undefined)))
  expect([end.cursor.seq, end.damage]).toEqual([4, undefined])
})

test('a reader stops before an incomplete last line, reports it, and changes nothing', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session } = await finishedSessionIn(storage)
  const torn = Buffer.concat([
    await rawLog(storage.place.folders.sessions, session),
    Buffer.from('{"v":1,'),
  ])
  await overwrite(storage.place.folders.sessions, logName(session), torn)
  const reader = value(await openReader(storage.place, session))
  const end = value(await reader.forward(() => {}))
  expect([end.cursor.seq, end.isUnfinished, end.damage]).toEqual([12, true, undefined])
  expect(await rawLog(storage.place.folders.sessions, session)).toEqual(torn)
})

test('Events of unknown type and with unknown fields are kept as they are', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session, storyWriter } = await finishedSessionIn(storage)
  const { cursor } = storyWriter.writer
  const event = {
    id: EventId.parse('evt_01kg0000000000000000000000'),
    session_id: session,
    ts: '2026-01-31T12:00:00.000Z',
    type: 'from_the_future',
    data: '{"a":{"b":[1]}}',
  }
  const { bytes } = sealLine(event, cursor.seq, cursor.prev, 0)
  const raw = await rawLog(storage.place.folders.sessions, session)
  await overwrite(storage.place.folders.sessions, logName(session), Buffer.concat([raw, bytes]))
  const reader = value(await openReader(storage.place, session))
  const last = (await forward(reader)).at(-1)
  expect(last?.hash).toBe(sha256(bytes.subarray(0, -1)))
  expect(last?.content).toMatchObject({
    isKnown: false,
    why: 'unknown_type',
    event: { type: 'from_the_future', data: { a: { b: [1] } } },
  })
})

test('descriptors and hydrations come back from the Log as they were written [SR-040] [SH-037]', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session, storyWriter } = await finishedSessionIn(storage)
  const turn_id = storage.place.ids.turn()
  const blob = await storyWriter.put(Buffer.from('pixels'))
  const content_sha256 = blob.slice(0, 64)
  const image = Descriptor.parse({
    resource_id: storage.place.ids.resource(),
    handle: '@img1',
    kind: 'image',
    name: 'harbour.png',
    media_type: 'image/png',
    size_bytes: 6,
    content_sha256,
    blob: blob.replace('.txt', '.png'),
    width: 3,
    height: 2,
    source: 'cli',
    rehydratable: true,
  })
  const drafts: EventDraft[] = [
    {
      type: 'user_message',
      turn_id,
      data: { text: 'What is this?', resources: [image], prompt_mode: 'blocks' },
    },
    {
      type: 'skill_context_hydration',
      turn_id,
      data: {
        skill: { name: 'review', content_sha256 },
        activation_event_id: storage.place.ids.event(),
        context_source_id: 'diff',
        produced_by: { kind: 'command', name: 'git', args: { list: ['diff', 'HEAD'] } },
        permission: { mode: 'ask', decision: 'allowed', explicit: true },
        invoked_by: 'person',
        status: 'ok',
        output: '+ rope',
        output_sha256: content_sha256,
        output_bytes: 6,
        duration_ms: 4,
      },
    },
  ]
  await storyWriter.append(drafts)
  const reader = value(await openReader(storage.place, session))
  const last = (await forward(reader)).slice(-2).map(({ content: { event, isKnown } }) => ({
    isKnown,
    type: event.type,
    data: event.data,
  }))
  expect(last).toEqual(drafts.map(({ type, data }) => ({ isKnown: true, type, data })))
})

test('a follower gets every line once and in order, including those of another process', async () => {
  const path = await freshFolder()
  const { storyWriter, session } = await finishedSessionIn(await diskPlace(path))
  // A second place simulates a second process: only the files are shared.
  const elsewhere = await diskPlace(path)
  const reader = value(await openReader(elsewhere.place, session))
  const stop = new AbortController()
  const seen: number[] = []
  const following = (async () => {
    for await (const result of reader.follow(LOG_START, stop.signal)) {
      seen.push(value(result).seq)
      if (seen.length === 12 + 11 * 3) stop.abort()
    }
  })()
  for (const n of [2, 3, 4]) await storyWriter.turn(n)
  await following
  expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => i))
  await reader.close()
  await storyWriter.end()
  await storyWriter.storage.close()
  await elsewhere.close()
})

test('a follower polls if it cannot watch the file', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { storyWriter, session } = await finishedSessionIn(storage)
  const sessions = Object.create(storage.place.folders.sessions, {
    watch: { value: async () => Promise.reject(new FileFailure('ENOSPC', 'no more watches')) },
  }) as typeof storage.place.folders.sessions
  const files = { open: storage.place.folders.sessions.open.bind(storage.place.folders.sessions) }
  const withoutWatch = { ...storage.place, sessions: Object.assign(sessions, files) }
  const reader = value(await openReader(withoutWatch, session))
  const stop = new AbortController()
  const seen: number[] = []
  const following = (async () => {
    for await (const result of reader.follow(LOG_START, stop.signal)) {
      seen.push(value(result).seq)
      if (seen.length === 23) stop.abort()
    }
  })()
  await storyWriter.turn(2)
  await following
  expect(seen.length).toBe(23)
})

test('a follower fails with cursor_expired when a line it saw is rolled back', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session } = await finishedSessionIn(storage)
  const raw = await rawLog(storage.place.folders.sessions, session)
  const reader = value(await openReader(storage.place, session))
  const file = await storage.place.folders.sessions.open(logName(session), 'append')
  const kinds: string[] = []
  for await (const result of reader.follow(LOG_START, new AbortController().signal)) {
    kinds.push(result.ok ? 'ok' : result.error.kind)
    if (kinds.length === 12) await file.truncate(raw.length - 100)
  }
  expect(kinds.slice(11)).toEqual(['ok', 'cursor_expired'])
})

test('following ends without an error when stopped, even while idle', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session, storyWriter } = await finishedSessionIn(storage)
  const reader = value(await openReader(storage.place, session))
  const stop = new AbortController()
  const following = reader.follow(storyWriter.writer.cursor, stop.signal).next()
  stop.abort()
  expect(await following).toEqual({ done: true, value: undefined })
})

test('a follower detects a rolled-back line even if another of the same length replaced it', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session, storyWriter } = await finishedSessionIn(storage)
  const raw = await rawLog(storage.place.folders.sessions, session)
  const { cursor } = storyWriter.writer
  const line = (id: string) =>
    sealLine(
      {
        id: EventId.parse(id),
        session_id: session,
        ts: '2026-01-31T12:00:00.000Z',
        type: 'x',
        data: '{}',
      },
      cursor.seq,
      cursor.prev,
      0,
    ).bytes
  const file = await storage.place.folders.sessions.open(logName(session), 'append')
  const write = (bytes: Buffer) => file.write(bytes)
  await write(line('evt_01kg0000000000000000000000'))
  const reader = value(await openReader(storage.place, session))
  const kinds: string[] = []
  for await (const result of reader.follow(cursor, new AbortController().signal)) {
    kinds.push(result.ok ? 'ok' : result.error.kind)
    if (!result.ok) break
    await file.truncate(raw.length)
    await write(line('evt_01kg0000000000000000000001'))
  }
  expect(kinds).toEqual(['ok', 'cursor_expired'])
})

test('a follower far behind gets everything in small batches', async () => {
  const storage = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const { session, storyWriter } = await finishedSessionIn(storage)
  for (let n = 0; n < 60; n++) await storyWriter.turn(n)
  const reader = value(await openReader(storage.place, session))
  const stop = new AbortController()
  let seen = 0
  for await (const result of reader.follow(LOG_START, stop.signal)) {
    expect(value(result).seq).toBe(seen)
    seen += 1
    if (seen === storyWriter.writer.cursor.seq) stop.abort()
  }
  expect(seen).toBe(12 + 60 * 11)
})
