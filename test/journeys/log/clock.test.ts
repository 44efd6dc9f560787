import * as fc from 'fast-check'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BlobStore } from '../../../src/blobs/store.ts'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { verifyRequests } from '../../../src/session/queries/verify-requests.ts'
import type { Tool, Toolset } from '../../../src/tools/tool.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { withChanges, withClock } from '../../support/session/harness-parts.ts'
import type { HarnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, type Way } from '../../support/providers/ways.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const YEAR_MS = 365 * 24 * 60 * 60 * 1000

/** Wall clocks that show another time whenever they are read. */
const WALL_CLOCKS: Readonly<Record<string, () => () => number>> = {
  'steps back 5 s at each reading': () => stepping(NOON, -5000),
  'jumps ahead by a year at each reading': () => stepping(NOON, YEAR_MS),
  'jumps beyond the year 9999 and back': () => alternately(NOON, 8.64e15),
  'jumps before 1970 and back': () => alternately(NOON, -86_400_000),
  'is before the year 0': () => stepping(-8.64e15, 0),
  'stands still at 1970': () => stepping(0, 0),
}

function stepping(start: number, step: number): () => number {
  let now = start - step
  return () => (now += step)
}

function alternately(one: number, other: number): () => number {
  let readings = 0
  return () => (readings++ % 2 === 0 ? one : other)
}

async function placeAt(way: Way, now: () => number, tools?: Toolset) {
  const changed = tools === undefined ? {} : { changes: { tools: { toolset: async () => tools } } }
  const place = await wayPlace(way, changed)
  await writeFile(join(place.workspace, 'notes.txt'), 'rope\nsail\n')
  const clock: Clock = { ...systemClock, now }
  const logPlace = { ...place.parts.log.place, clock, ids: systemIds(clock) }
  const changes = { log: { place: logPlace } }
  return { ...place, harness: new Harness(withChanges(place.parts, changes)) }
}

async function say(session: Session, text: string) {
  const admitted = value(await session.admit(text))
  return value(await admitted.done)
}

/** The content of the Log, read from the disk by a reader that shares nothing with its writer. */
async function verified(way: Way, root: string, session: Session) {
  const again = await wayPlace(way, { root })
  const { log, requests } = value(await again.harness.verify(session.id, { requests: true }))
  const reopened = value(await again.harness.open(session.id))
  const results = reopened.events.filter(({ type }) => type === 'tool_result').length
  return {
    damage: log.damage,
    unknown: log.unknown,
    mismatches: requests?.mismatches,
    results,
    read: reopened.events.length === session.events.length,
  }
}

const WHOLE = { damage: undefined, unknown: 0, mismatches: [], read: true }

test.each(
  Object.keys(WALL_CLOCKS).flatMap((name) => [
    { name, way: 'in process' as const },
    { name, way: 'messages' as const },
  ]),
)('a wall clock that $name loses no Event ($way)', async ({ name, way }) => {
  const place = await placeAt(way, WALL_CLOCKS[name]?.() ?? (() => 0))
  const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
  expect((await say(session, 'Read notes.txt')).status).toBe('completed')
  expect((await say(session, 'Write "new" to other.txt and then read it')).status).toBe('completed')
  expect(await verified(way, place.root, session)).toEqual({ ...WHOLE, results: 3 })
})

test('with any wall clock, every Event is in the Log and every duration is valid', async () => {
  const readings = fc.array(fc.integer({ min: -8.64e15, max: 8.64e15 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(readings, async (times) => {
      let at = 0
      const place = await placeAt('in process', () => times[at++ % times.length] ?? 0)
      const session = value(await place.harness.create(place.begin))
      expect((await say(session, 'Read notes.txt')).status).toBe('completed')
      expect(await verified('in process', place.root, session)).toEqual({ ...WHOLE, results: 1 })
    }),
    { numRuns: 25 },
  )
})

test('an invalid tool result ends the Turn as a defect, and the call still has a result', async () => {
  const invalidRead: Tool = {
    ...(await readTool()),
    parse: () => ({
      ok: true,
      value: {
        claim: { tool: 'read', effect: 'read', paths: ['notes.txt'], network: false },
        run: async () => ({
          outcome: 'ok',
          output: 'rope',
          before_blob: 'no key of a blob' as never,
        }),
      },
    }),
  }
  const place = await placeAt('in process', () => NOON, new Map([['read', invalidRead]]))
  const session = value(await place.harness.create(place.begin))
  const ended = await say(session, 'Read notes.txt')
  expect(ended).toMatchObject({ status: 'failed', error: { kind: 'internal' } })
  const results = session.events.flatMap((event) =>
    event.type === 'tool_result' ? [event.data] : [],
  )
  expect(results).toMatchObject([{ outcome: 'failed', error: { kind: 'internal' } }])
  expect(await verified('in process', place.root, session)).toEqual({ ...WHOLE, results: 1 })
})

async function readTool(): Promise<Tool> {
  const { TOOLSET } = await import('../../../src/tools/toolset.ts')
  return TOOLSET.find(({ name }) => name === 'read') ?? expect.fail('there is no read tool')
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The same place for another process whose wall clock is off by `byMs`. */
function atAnotherTime({ parts }: Pick<HarnessPlace, 'parts'>, byMs: number): Harness {
  const clock: Clock = { ...systemClock, now: () => Date.now() + byMs }
  return new Harness(withClock(parts, clock))
}

test('a sweep a day later by the clock deletes nothing that a running Turn stored but did not reference yet', async () => {
  const swept: unknown[] = []
  const place = await wayPlace('in process')
  const { store } = place.parts.log
  const later = atAnotherTime(place, DAY_MS)
  const sweeping: BlobStore = {
    ...store,
    put: async (...put) => {
      const key = await store.put(...put)
      const { deleted, writing } = value(await later.gc({ dryRun: false }))
      swept.push([deleted, writing.length])
      return key
    },
  }
  const harness = new Harness(withChanges(place.parts, { log: { store: sweeping } }))
  const session = value(await harness.create({ ...place.begin, permissionMode: 'auto' }))
  await writeFile(join(place.workspace, 'notes.txt'), 'rope\nsail\n')
  for (const text of ['Write "one" into a.txt.', 'Run `seq 100000`']) {
    expect((await say(session, text)).status).toBe('completed')
  }
  await session.close()
  // The surface of the Session, both contents of the file, and long output.
  expect(swept.length).toBeGreaterThanOrEqual(3)
  expect(new Set(swept.map((one) => JSON.stringify(one)))).toEqual(new Set(['[[],1]']))
  expect(await verified('in process', place.root, session)).toMatchObject(WHOLE)
  expect(value(await later.gc({ dryRun: false })).writing).toEqual([])
  expect(await verified('in process', place.root, session)).toMatchObject(WHOLE)
  expect(value(await session.diff()).files.length).toBe(1)
})

test('an attachment that a sweep deleted before its Turn must be attached again, and no Event names it', async () => {
  const place = await wayPlace('in process')
  const { store } = place.parts.log
  const later = atAnotherTime(place, DAY_MS)
  let sweeps = 0
  const sweeping: BlobStore = {
    ...store,
    put: async (...put) => {
      const key = await store.put(...put)
      if (sweeps > 0) value(await later.gc({ dryRun: false }))
      sweeps -= 1
      return key
    },
  }
  const harness = new Harness(withChanges(place.parts, { log: { store: sweeping } }))
  const session = value(await harness.create(place.begin))
  const attachments = [{ from: 'bytes', name: 'crew.txt', bytes: Buffer.from('Jan\n') }] as const
  sweeps = 1
  expect(await session.admit('Look.', { attachments })).toMatchObject({
    ok: false,
    error: { kind: 'resource_missing', next_actions: [{ action: 'Attach it again.' }] },
  })
  expect(session.events.some(({ type }) => type === 'user_message')).toBe(false)
  value(await value(await session.admit('Look.', { attachments })).done)
  expect(value(await harness.badPayloads())).toEqual([])
  await session.close()
})

test.each([DAY_MS, -DAY_MS])(
  'the latest Session is the last one written, although the clock is off by %i ms',
  async (byMs) => {
    const place = await wayPlace('in process')
    const elsewhere = atAnotherTime(place, byMs)
    const latest = async () => value(await place.harness.latest()).id
    const first = value(await place.harness.create(place.begin))
    const second = value(await elsewhere.create(place.begin))
    expect(await latest()).toBe(second.id)
    expect((await say(first, 'Hello')).status).toBe('completed')
    expect(await latest()).toBe(first.id)
    await say(value(await elsewhere.open(second.id)), 'Hello')
    expect((await place.harness.list()).map(({ id }) => id)).toEqual([second.id, first.id])
    // Without the recorded order, the times in the Logs are used.
    await rm(join(place.root, 'home', 'heads', 'order'))
    const byTime = byMs > 0 ? second.id : first.id
    expect(await latest()).toBe(byTime)
  },
)

test.each([
  ['an hour passes', 60 * 60_000],
  ['the clock steps back', -60 * 60_000],
])(
  'a retirement for cost when %s is in the Log, and requests follow it whatever the timestamps are',
  async (_title, byMs) => {
    const place = await wayPlace('messages', { changes: { model: { replay: 'cost-aware' } } })
    let passed = 0
    const clock: Clock = { ...systemClock, now: () => NOON + passed }
    const parts = withClock(place.parts, clock)
    const session = value(await new Harness(parts).create(place.begin))
    const attachments = [{ from: 'bytes', name: 'a.png', bytes: picture(7) }] as const
    value(await value(await session.admit('Look.', { attachments })).done)
    await say(session, 'Well?')
    passed = byMs
    await say(session, 'Thank you.')
    await say(session, 'And now?')
    const { events } = session
    expect(events.filter(({ type }) => type === 'resource_retired').length).toBe(1)
    for (const ts of [undefined, '1999-12-31T23:59:59.999Z', '2099-01-01T00:00:00.000Z']) {
      const shifted = events.map((event) => (ts === undefined ? event : { ...event, ts }))
      expect(value(await verifyRequests(parts, shifted)).mismatches).toEqual([])
    }
    await session.close()
  },
)
