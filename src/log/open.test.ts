import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../test/support/log/log-place.ts'
import { linesOf, overwrite, rawBytes, rawLog } from '../../test/support/log/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../test/support/log/story.ts'
import { textFold, type TextState } from '../../test/support/log/text-fold.ts'
import type { Result } from '../model/errors.ts'
import { canWiden } from '../model/events/widening.ts'
import { SessionId } from '../model/ids.ts'
import { writeIndex, type Fold } from './derived-index.ts'
import type { LogLine } from './line.ts'
import type { LogStore, WritableLog } from './log-store.ts'
import { acquireLog, createLog } from './open.ts'
import { indexName, leaseName, logName, tornName } from './files/names.ts'
import { openReader } from './reader.ts'

interface FinishedSession {
  readonly storage: TestPlace
  readonly session: SessionId
  readonly disk: CrashDisk
}

/** A finished Session with this many Turns. */
async function finishedSession(turns = 1): Promise<FinishedSession> {
  const disk = new CrashDisk(1)
  const storage = await testPlace(disk.folder(), immediateClock)
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  for (let n = 1; n <= turns; n++) await storyWriter.turn(n)
  await storyWriter.end()
  return { storage, disk, session: SessionId.parse(storyWriter.journal.session) }
}

const acquire = ({ storage, session }: FinishedSession, fold = textFold) =>
  acquireLog(storage.place, session, { fold, keep: storage.keep })

/** The kind of the error and the reason in its details. */
async function refusal(result: Promise<Result<unknown>>): Promise<unknown> {
  const answer = await result
  if (answer.ok) return 'ok'
  const { kind, details } = answer.error
  return 'reason' in details ? [kind, details['reason']] : kind
}

async function allLines({ storage, session }: FinishedSession): Promise<LogLine[]> {
  const reader = value(await openReader(storage.place, session))
  const lines: LogLine[] = []
  value(await reader.forward((line) => void lines.push(line)))
  await reader.close()
  return lines
}

test('a missing Session is not found, for writers and readers', async () => {
  const { storage } = await finishedSession()
  const nobody = { storage, session: storage.place.ids.session(), disk: new CrashDisk(1) }
  expect(await refusal(acquire(nobody))).toBe('not_found')
  expect(await refusal(openReader(storage.place, nobody.session))).toBe('not_found')
})

test('a Session that is being written is busy, and the error names the writer', async () => {
  const story = await finishedSession()
  const writer = value(await acquire(story))
  expect(await acquire(story)).toMatchObject({
    error: { kind: 'session_busy', details: { holder: { pid: 4711, program: 'story' } } },
  })
  await writer.release()
  await value(await acquire(story)).release()
})

test('an existing Log cannot be created again', async () => {
  const { storage, session } = await finishedSession()
  const again = createLog(storage.place, session, [], { fold: textFold, keep: storage.keep })
  expect(await refusal(again)).toBe('storage_failed')
})

test('a Session without a head here is foreign: it can be read, not written', async () => {
  const story = await finishedSession()
  await story.storage.place.folders.heads.remove(story.session)
  expect(await refusal(acquire(story))).toBe('session_foreign')
  const reader = value(await openReader(story.storage.place, story.session))
  expect([reader.foreign, (await allLines(story)).length]).toEqual([true, 12])
})

test('the next writer records a writer that was killed', async () => {
  const story = await finishedSession()
  value(await acquire(story))
  const killed = story.disk.afterKill(2)
  const storage = await testPlace(killed.folder(), immediateClock)
  const writer = value(await acquire({ ...story, storage }))
  await writer.release()
  const last = (await allLines({ ...story, storage })).at(-1)?.content.event
  expect(last).toMatchObject({ type: 'lock_taken', data: { previous_holder: { pid: 4711 } } })
  const again = await rawBytes(storage.place.folders.sessions, leaseName(story.session))
  expect(again.length).toBe(0)
})

test('what a killed writer left after the index is read once, whatever of it could widen something', async () => {
  const story = await finishedSession()
  const { place } = story.storage
  const killed = value(await acquire(story))
  const begin = killed.cursor.offset
  const turn_id = place.ids.turn()
  for (let n = 0; n < 40; n++) {
    const text = 'x'.repeat(3000)
    value(
      await killed.append([
        { type: 'user_message', turn_id, data: { text, prompt_mode: 'string' } },
      ]),
    )
  }
  const tail = killed.cursor.offset - begin
  const disk = story.disk.afterKill(2)
  const next = await testPlace(disk.folder(), immediateClock)
  let bytes = 0
  const logs: LogStore = {
    ...next.place.logs,
    openToWrite: async (session) => {
      const log = await next.place.logs.openToWrite(session)
      return log && { ...log, under: (fence) => countReads(log.under(fence), (n) => (bytes += n)) }
    },
  }
  const writing = { fold: textFold, keep: next.keep }
  const writer = value(await acquireLog({ ...next.place, logs }, story.session, writing))
  await writer.release()
  // The rest are single lines, which prove where the head and the index are.
  expect(bytes).toBeGreaterThan(tail)
  expect(bytes).toBeLessThan(tail * 1.5)
})

test('every line beyond the head that could widen something is passed to the fold to undo it, wherever the index is', async () => {
  const story = await finishedSession()
  const { place, keep } = story.storage
  const writer = value(await acquire(story))
  for (const model of ['one', 'two', 'three', 'four']) {
    value(await writer.append([{ type: 'session_settings', data: { model } }]))
    value(await writer.append([{ type: 'notice', data: { code: 'x', text: model } }]))
  }
  await writer.release()
  const lines = await allLines(story)
  const widening = lines.filter(({ content }) => canWiden(content)).map(({ seq }) => seq)
  expect(widening.length).toBeGreaterThan(4)
  let beyond: readonly number[] = []
  const fold: Fold<TextState> = {
    ...textFold,
    takeBack: (_, all) => {
      beyond = all.map(({ seq }) => seq)
      return []
    },
  }
  for (const { seq, hash, next } of lines.slice(-9)) {
    for (const { next: cursor } of lines.slice(-9)) {
      await place.heads.write(story.session, { seq, hash, offset: next.offset })
      await writeIndex(place, story.session, fold, { cursor, state: fold.initial })
      beyond = []
      await value(await acquireLog(place, story.session, { fold, keep })).release()
      expect([seq, cursor.seq, beyond]).toEqual([
        seq,
        cursor.seq,
        widening.filter((one) => one > seq),
      ])
    }
  }
})

function countReads(log: WritableLog, count: (bytes: number) => void): WritableLog {
  return {
    stat: () => log.stat(),
    read: async (into, position) => {
      const got = await log.read(into, position)
      count(got)
      return got
    },
    sync: () => log.sync(),
    append: (batch, at) => log.append(batch, at),
    settle: (from, work) => log.settle(from, work),
    cut: (offset, piece) => log.cut(offset, piece),
    pieces: (seq) => log.pieces(seq),
    close: () => log.close(),
  }
}

test('an unfinished last line is cut off, kept beside the Log, and recorded', async () => {
  const story = await finishedSession()
  const { sessions } = story.storage.place.folders
  const whole = await rawLog(sessions, story.session)
  const torn = Buffer.from('{"v":1,"seq":12,"id":"evt_01')
  await overwrite(sessions, logName(story.session), Buffer.concat([whole, torn]))
  await value(await acquire(story)).release()
  const last = (await allLines(story)).at(-1)?.content.event
  const kept_as = tornName(story.session, '12')
  expect(last).toMatchObject({ type: 'log_repaired', data: { cut_bytes: torn.length, kept_as } })
  expect(await rawBytes(sessions, kept_as)).toEqual(torn)
})

test('a repair that was not recorded is recorded by the next writer', async () => {
  const story = await finishedSession()
  const { sessions } = story.storage.place.folders
  await overwrite(sessions, tornName(story.session, '12'), Buffer.from('cut earlier'))
  await value(await acquire(story)).release()
  const last = (await allLines(story)).at(-1)?.content.event
  expect(last).toMatchObject({ type: 'log_repaired', data: { cut_bytes: 11 } })
})

test('damage before the last write is never cut: the Log is read-only, and the error names the offset', async () => {
  const story = await finishedSession()
  const { sessions, heads } = story.storage.place.folders
  const lines = linesOf(await rawLog(sessions, story.session))
  const broken = Buffer.concat(lines.toSpliced(3, 1, Buffer.from('{"v":1}\n')))
  await overwrite(sessions, logName(story.session), broken)
  await sessions.remove(indexName(story.session))
  // Also when the head is older.
  for (const head of [await rawBytes(heads, story.session), Buffer.from(HEAD_AT_START)]) {
    await overwrite(heads, story.session, head)
    const refused = await acquire(story)
    const offset = lines.slice(0, 3).reduce((sum, line) => sum + line.length, 0)
    expect(refused).toMatchObject({ error: { kind: 'log_damaged', details: { offset } } })
    expect(await rawLog(sessions, story.session)).toEqual(broken)
  }
  const read = value(await openReader(story.storage.place, story.session))
  const end = value(await read.forward(() => {}))
  expect([end.cursor.seq, end.damage?.kind]).toEqual([3, 'log_damaged'])
})

const HEAD_AT_START = '{"seq":-1,"hash":null,"offset":0}'

test('the head detects a truncation at a line end', async () => {
  const story = await finishedSession()
  const { sessions } = story.storage.place.folders
  const lines = linesOf(await rawLog(sessions, story.session))
  for (let keep = 0; keep < lines.length; keep++) {
    await overwrite(sessions, logName(story.session), Buffer.concat(lines.slice(0, keep)))
    expect(await refusal(acquire(story))).toEqual(['log_damaged', 'head_missing'])
    const reader = value(await openReader(story.storage.place, story.session))
    const end = value(await reader.forward(() => {}))
    expect(end.damage?.details['reason']).toBe('head_missing')
    await reader.close()
  }
})

test('the head detects a Log that was replaced by another valid one', async () => {
  const story = await finishedSession()
  const other = await finishedSession()
  const { sessions, heads } = story.storage.place.folders
  const strange = await rawLog(other.storage.place.folders.sessions, other.session)
  await overwrite(sessions, logName(other.session), strange)
  await overwrite(heads, other.session, await rawBytes(heads, story.session))
  const exchanged = { ...story, session: other.session }
  expect(await refusal(acquire(exchanged))).toEqual(['log_damaged', 'head_differs'])
})

test('a Log whose last line a newer Hawser wrote is not cut', async () => {
  const story = await finishedSession()
  const { sessions } = story.storage.place.folders
  const newer = Buffer.concat([
    await rawLog(sessions, story.session),
    Buffer.from('{"v":2,"x":1}\n'),
  ])
  await overwrite(sessions, logName(story.session), newer)
  expect(await refusal(acquire(story))).toEqual(['log_damaged', 'version'])
  expect(await rawLog(sessions, story.session)).toEqual(newer)
})

test('an index of another fold version, or one that is damaged, is not used', async () => {
  const story = await finishedSession(2)
  const { sessions } = story.storage.place.folders
  const full = value(await acquire(story)).state
  // Killed before it could write a newer index.
  const index = await rawBytes(sessions, indexName(story.session))
  const other = { ...textFold, version: 'text-2', initial: { counts: { other: 1 }, lastTexts: [] } }
  const storage = await testPlace(story.disk.afterKill(1).folder(), immediateClock)
  const rebuilt = value(await acquire({ ...story, storage }, other))
  expect(rebuilt.state.counts).toEqual({ ...full.counts, other: 1, lock_taken: 1 })
  await rebuilt.release()
  for (const bad of [
    index.subarray(0, -9),
    Buffer.from(index).fill(0x20, 300, 310),
    Buffer.from('x'),
  ]) {
    await overwrite(sessions, indexName(story.session), bad)
    const writer = value(await acquire(story))
    expect(writer.state.counts).toEqual({ ...full.counts, lock_taken: 1 })
    await writer.release()
  }
})

test('an index is used only if the key of this home authenticates it', async () => {
  const story = await finishedSession(2)
  const { sessions, heads } = story.storage.place.folders
  const full = value(await acquire(story)).state
  const storage = await testPlace(story.disk.afterKill(1).folder(), immediateClock)
  const index = (await rawBytes(sessions, indexName(story.session))).toString('utf8')
  // A program in the workspace may change the state, but cannot compute the code for it.
  const forged = index.replace(/"counts":\{/, '"counts":{"forged":1,')
  expect(forged).not.toBe(index)
  await overwrite(storage.place.folders.sessions, indexName(story.session), Buffer.from(forged))
  const writer = value(await acquire({ ...story, storage }))
  expect(writer.state.counts).toEqual({ ...full.counts, lock_taken: 1 })
  await writer.release()
  expect(await heads.names()).toContain('index-key')
})

test('the indexed state plus the tail equals the fold of everything', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 0, max: 4 }),
      async (before, after) => {
        const disk = new CrashDisk(before * 10 + after)
        const storage = await testPlace(disk.folder(), immediateClock)
        const storyWriter = new StoryWriter(storage, newJournal())
        await storyWriter.begin()
        for (let n = 0; n < before; n++) await storyWriter.turn(n)
        await storyWriter.end()
        await storyWriter.open()
        for (let n = 0; n < after; n++) await storyWriter.turn(n)
        // Killed: the index is that of the first part.
        const later = await testPlace(disk.afterKill(1).folder(), immediateClock)
        const session = SessionId.parse(storyWriter.journal.session)
        const story = { storage: later, disk, session }
        const writer = value(await acquire(story))
        const all = (await allLines(story)).reduce(
          (state, line) => textFold.step(state, line, true),
          textFold.initial,
        )
        expect(writer.state).toEqual(all)
        await writer.release()
      },
    ),
    { numRuns: 15 },
  )
})

test('a fork continues the chain of its parent', async () => {
  const story = await finishedSession()
  const { storage } = story
  const at = (await allLines(story))[4]
  const child = storage.place.ids.session()
  const fork = {
    type: 'session_fork',
    data: {
      parent_session_id: story.session,
      root_session_id: story.session,
      at_seq: at?.seq ?? 0,
      at_hash: at?.hash ?? '',
      at_offset: at?.next.offset ?? 0,
      resources_count: 0,
    },
  } as const
  const writer = value(
    await createLog(storage.place, child, [fork], { fold: textFold, keep: storage.keep }),
  )
  await writer.release()
  const first = (await allLines({ ...story, session: child }))[5]
  expect(first?.content.event).toMatchObject({ seq: 5, prev: at?.hash, type: 'session_fork' })
  await value(await acquire({ ...story, session: child })).release()
})
