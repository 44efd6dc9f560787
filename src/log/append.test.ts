import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log/log-place.ts'
import { rawBytes, rawLog } from '../../test/support/log/raw-log.ts'
import { sessionStarted, turnEnded, value } from '../../test/support/log/story.ts'
import { textFold, type TextState } from '../../test/support/log/text-fold.ts'
import { FileFailure } from '../host/files/files.ts'
import type { EventDraft } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import type { LogWriter } from './append.ts'
import { acquireLog, createLog } from './open.ts'
import type { LogLine } from './line.ts'
import { indexName } from './files/names.ts'
import { openReader } from './reader.ts'
import { verifyLog } from './verify.ts'

interface OpenedLog {
  readonly disk: CrashDisk
  readonly storage: TestPlace
  readonly writer: LogWriter<TextState>
  readonly turn: TurnId
}

async function begin(disk = new CrashDisk(1), clock = immediateClock): Promise<OpenedLog> {
  const storage = await testPlace(disk.folder(), clock)
  const session = storage.place.ids.session()
  const writing = { fold: textFold, keep: storage.keep }
  const writer = value(await createLog(storage.place, session, [sessionStarted], writing))
  return { disk, storage, writer, turn: storage.place.ids.turn() }
}

function message(turn: TurnId, text: string): EventDraft {
  return { type: 'user_message', turn_id: turn, data: { text, prompt_mode: 'string' } }
}

function notice(turn: TurnId, text: string): EventDraft {
  return { type: 'notice', turn_id: turn, data: { code: 'test', text } }
}

async function linesOf({ storage, writer }: OpenedLog): Promise<LogLine[]> {
  const reader = value(await openReader(storage.place, writer.session))
  const lines: LogLine[] = []
  const end = value(await reader.forward((line) => void lines.push(line)))
  expect(end.damage).toBeUndefined()
  await reader.close()
  return lines
}

const textOf = ({ content: { event } }: LogLine) =>
  'text' in event.data ? event.data.text : undefined

test('concurrent appends share one write and keep their call order', async () => {
  const opened = await begin()
  const { writes, syncs } = opened.disk
  const texts = Array.from({ length: 200 }, (_, i) => `text ${i}`)
  const results = await Promise.all(
    texts.map((text) => opened.writer.append([message(opened.turn, text)])),
  )
  expect(results.flatMap((result) => value(result).map(textOf))).toEqual(texts)
  expect(opened.disk.writes - writes).toBe(1)
  expect(opened.disk.syncs - syncs).toBe(1)
  expect((await linesOf(opened)).slice(1).map(textOf)).toEqual(texts)
})

test('an append returns what a reader finds', async () => {
  const opened = await begin()
  const lines = value(
    await opened.writer.append([notice(opened.turn, 'one'), message(opened.turn, 'two')]),
  )
  expect((await linesOf(opened)).slice(1)).toEqual(lines)
})

test('an Event that does not match its schema is refused alone, and nothing of it is written', async () => {
  const opened = await begin()
  const wrong: EventDraft = {
    type: 'tool_result',
    turn_id: opened.turn,
    data: { call_id: 'c1', name: 'read', outcome: 'ok', output: 'rope', duration_ms: -3279 },
  }
  const answers = await Promise.all([
    opened.writer.append([message(opened.turn, 'before')]),
    opened.writer.append([message(opened.turn, 'beside'), wrong]),
    opened.writer.append([message(opened.turn, 'after')]),
  ])
  expect(answers.map((answer) => (answer.ok ? 'ok' : answer.error.kind))).toEqual([
    'ok',
    'internal',
    'ok',
  ])
  expect((await linesOf(opened)).slice(1).map(textOf)).toEqual(['before', 'after'])
})

test('a deferrable Event is written by the timer or together with the next urgent one', async () => {
  const timers: (() => void)[] = []
  const clock = {
    now: () => 0,
    monotonicMs: () => 0,
    after: (_ms: number, then: () => void) => {
      timers.push(then)
      return () => void timers.splice(timers.indexOf(then), 1)
    },
  }
  const opened = await begin(new CrashDisk(1), clock)
  const waiting = opened.writer.append([notice(opened.turn, 'may wait')])
  await new Promise(setImmediate)
  expect([timers.length, opened.writer.cursor.seq]).toEqual([1, 1])
  const urgent = opened.writer.append([message(opened.turn, 'may not')])
  value(await urgent)
  expect([timers.length, value(await waiting).map(textOf)]).toEqual([0, ['may wait']])
  const alone = opened.writer.append([notice(opened.turn, 'alone')])
  await new Promise(setImmediate)
  timers[0]?.()
  expect(value(await alone).map(textOf)).toEqual(['alone'])
})

test('text is made well-formed before it is written [SH-034]', async () => {
  const opened = await begin()
  const lines = value(await opened.writer.append([message(opened.turn, 'a\ud800\u0000\u202eb')]))
  expect(lines.map(textOf)).toEqual(['a\ufffd\u0000\u202eb'])
  expect((await linesOf(opened)).at(-1)).toEqual(lines[0])
})

test('a field over 64 KiB moves to a blob, so lines stay small [TI-082]', async () => {
  const opened = await begin()
  const limit = 64 * 1024
  const fits = value(await opened.writer.append([message(opened.turn, 'x'.repeat(limit))]))
  expect(fits.map(textOf)).toEqual(['x'.repeat(limit)])
  const long = 'ü'.repeat(limit)
  const [line] = value(await opened.writer.append([message(opened.turn, long)]))
  const data = line?.content.event.data ?? {}
  expect(Object.keys(data).toSorted()).toEqual(['prompt_mode', 'text_blob'])
  const key = 'text_blob' in data ? String(data.text_blob) : ''
  expect(value(await opened.storage.store.get(key)).toString('utf8')).toBe(long)
  const raw = await rawLog(opened.storage.place.folders.sessions, opened.writer.session)
  expect(raw.length).toBeLessThan(70 * 1024)
})

test('later Events do not overtake one that waits for its blob', async () => {
  const opened = await begin()
  const results = await Promise.all([
    opened.writer.append([message(opened.turn, 'x'.repeat(70_000))]),
    opened.writer.append([message(opened.turn, 'later')]),
  ])
  expect(results.map((result) => value(result)[0]?.seq)).toEqual([1, 2])
})

test('an Event over the limits is refused alone, and nothing of it is written', async () => {
  const opened = await begin()
  const deep = JSON.parse('['.repeat(70) + ']'.repeat(70)) as []
  const plan = { type: 'plan_updated', turn_id: opened.turn, data: { entries: deep } } as const
  expect(await opened.writer.append([plan])).toMatchObject({ error: { kind: 'too_large' } })
  const large = Array.from({ length: 80 }, () => message(opened.turn, 'x'.repeat(60_000)))
  expect(await opened.writer.append(large)).toMatchObject({ error: { kind: 'too_large' } })
  value(await opened.writer.append([message(opened.turn, 'fine')]))
  expect((await linesOf(opened)).map(({ seq }) => seq)).toEqual([0, 1])
})

test('the head advances at the end of a Turn and for Events outside a Turn only', async () => {
  const opened = await begin()
  const headSeq = async () =>
    value(await opened.storage.place.heads.read(opened.writer.session))?.seq
  expect(await headSeq()).toBe(0)
  value(await opened.writer.append([message(opened.turn, 'in a Turn')]))
  expect(await headSeq()).toBe(0)
  value(await opened.writer.append([turnEnded(opened.turn)]))
  expect(await headSeq()).toBe(2)
  value(await opened.writer.append([{ type: 'text_pinned', data: { text: 'x', by: 'person' } }]))
  expect(await headSeq()).toBe(3)
})

test('a failed head write is reported, blocks nothing, and is retried later', async () => {
  const opened = await begin()
  const { heads } = opened.storage.place
  const fails = {
    ...heads,
    write: () => Promise.reject(new FileFailure('ENOSPC', 'full')),
  }
  const home = opened.storage.place as { heads: typeof heads }
  home.heads = fails
  value(await opened.writer.append([turnEnded(opened.turn)]))
  expect(opened.writer.headFailure?.kind).toBe('storage_failed')
  home.heads = heads
  value(await opened.writer.append([message(opened.turn, 'in the next Turn')]))
  expect(opened.writer.headFailure).toBeUndefined()
  expect(value(await opened.storage.place.heads.read(opened.writer.session))?.seq).toBe(2)
})

test('a pending head write is retried on release', async () => {
  const opened = await begin()
  const { heads } = opened.storage.place
  const home = opened.storage.place as { heads: typeof heads }
  home.heads = { ...heads, write: () => Promise.reject(new FileFailure('ENOSPC', 'full')) }
  value(await opened.writer.append([turnEnded(opened.turn)]))
  home.heads = heads
  await opened.writer.release()
  expect(value(await opened.storage.place.heads.read(opened.writer.session))?.seq).toBe(1)
})

test('a long Turn updates its index, so that little is read after a kill', async () => {
  const opened = await begin()
  const text = 'x'.repeat(60_000)
  for (let i = 0; i < 150; i++) value(await opened.writer.append([notice(opened.turn, text)]))
  const index = await rawBytes(
    opened.storage.place.folders.sessions,
    indexName(opened.writer.session),
  )
  const through = Number(/"through_offset":(\d+)/.exec(index.toString('utf8'))?.[1])
  expect(opened.writer.cursor.offset - through).toBeLessThan(8 * 1024 * 1024)
})

test('a field that collides with a spilled one is refused, and spilling loses no field', async () => {
  const opened = await begin()
  const blob = `${'a'.repeat(64)}.txt`
  const conflicting = { text: 'x'.repeat(70_000), text_blob: blob, code: 'c' }
  const answer = await opened.writer.append([
    { type: 'notice', turn_id: opened.turn, data: conflicting },
  ])
  expect(answer).toMatchObject({ error: { kind: 'invalid_args' } })
  const odd = JSON.parse(`{"code":"c","text":"${'x'.repeat(70_000)}","__proto__":{"a":1}}`) as {
    code: string
    text: string
  }
  const [line] = value(
    await opened.writer.append([{ type: 'notice', turn_id: opened.turn, data: odd }]),
  )
  expect(Object.keys(line?.content.event.data ?? {}).toSorted()).toEqual([
    '__proto__',
    'code',
    'text_blob',
  ])
})

test('a full disk at any write is reported, leaves nothing half-written, and is recovered from', async () => {
  for (let fullAtWrite = 1; fullAtWrite <= 50; fullAtWrite++) {
    const opened = await begin()
    const full = new CrashDisk(fullAtWrite, { fullAtWrite }, opened.disk.root)
    const storage = await testPlace(full.folder(), immediateClock)
    await opened.writer.release()
    const writing = { fold: textFold, keep: storage.keep }
    const taken = await acquireLog(storage.place, opened.writer.session, writing)
    if (!taken.ok) {
      expect(taken.error.kind).toBe('storage_failed')
      continue
    }
    const writer = taken.value
    const acknowledged: string[] = []
    for (let i = 0; i < 60; i++) {
      const result = await writer.append([message(opened.turn, `text ${i}`)])
      if (result.ok) acknowledged.push(`text ${i}`)
      else expect(result.error.kind).toBe('storage_failed')
    }
    expect(acknowledged.length).toBe(Math.max(0, fullAtWrite - 2))
    full.freeSpace()
    value(await writer.append([message(opened.turn, 'space again')]))
    const found = await linesOf({ ...opened, storage, writer })
    expect(found.slice(1).map(textOf)).toEqual([...acknowledged, 'space again'])
    await writer.release()
    expect(value(await verifyLog(storage.place, writer.session)).damage).toBeUndefined()
  }
})

test('a failed sync stops the writer permanently, acknowledges nothing, and the next writer continues', async () => {
  for (let badSyncAt = 1; badSyncAt <= 20; badSyncAt++) {
    const opened = await begin()
    await opened.writer.release()
    const bad = new CrashDisk(badSyncAt, {}, opened.disk.root)
    const storage = await testPlace(bad.folder(), immediateClock)
    bad.injectFaults({ badSyncAt })
    const writing = { fold: textFold, keep: storage.keep }
    const taken = await acquireLog(storage.place, opened.writer.session, writing)
    const acknowledged: string[] = []
    if (taken.ok) {
      let stopped = false
      for (let i = 0; i < 30; i++) {
        const result = await taken.value.append([message(opened.turn, `text ${i}`)])
        expect(result.ok && stopped).toBe(false)
        stopped ||= !result.ok
        if (result.ok) acknowledged.push(`text ${i}`)
      }
      expect(stopped).toBe(true)
      await taken.value.release()
    }
    // After a reboot, and on a machine that keeps running and still shows data that never reached the disk.
    const crashed = bad.afterCrash(badSyncAt)
    for (const disk of [crashed, bad.afterKill(badSyncAt)]) {
      const later = await testPlace(disk.folder(), immediateClock)
      const next = value(await acquireLog(later.place, opened.writer.session, writing))
      value(await next.append([message(opened.turn, 'next')]))
      await next.release()
      const booted = await testPlace(disk.afterCrash(badSyncAt).folder(), immediateClock)
      const texts = (await linesOf({ ...opened, storage: booted })).map(textOf)
      expect(texts.slice(1, 1 + acknowledged.length)).toEqual(acknowledged)
      expect(texts.at(-1)).toBe('next')
    }
  }
})

test('a released writer accepts no more appends', async () => {
  const opened = await begin()
  await opened.writer.release()
  expect(() => opened.writer.append([message(opened.turn, 'too late')])).toThrow('next writer')
})

test('appending changes no byte that was there [PC-062]', async () => {
  const opened = await begin()
  const before = await rawLog(opened.storage.place.folders.sessions, opened.writer.session)
  for (let i = 0; i < 20; i++) {
    value(await opened.writer.append([notice(opened.turn, `${i}`)]))
    const now = await rawLog(opened.storage.place.folders.sessions, opened.writer.session)
    expect(now.subarray(0, before.length)).toEqual(before)
  }
})
