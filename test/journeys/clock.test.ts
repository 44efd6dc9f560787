import * as fc from 'fast-check'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock, type Clock } from '../../src/host/clock.ts'
import { systemIds } from '../../src/host/ids.ts'
import { Harness } from '../../src/session/harness.ts'
import type { Session } from '../../src/session/live/session.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { withChanges } from '../support/harness-parts.ts'
import { value } from '../support/story.ts'
import { wayPlace, type Way } from '../support/ways.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const YEAR_MS = 365 * 24 * 60 * 60 * 1000

/** A wall clock that shows another time whenever it is read. */
const WALL_CLOCKS: Readonly<Record<string, () => () => number>> = {
  'steps back 5 s at each reading': () => steadily(NOON, -5000),
  'jumps ahead by a year at each reading': () => steadily(NOON, YEAR_MS),
  'jumps beyond the year 9999 and back': () => alternately(NOON, 8.64e15),
  'jumps before 1970 and back': () => alternately(NOON, -86_400_000),
  'is before the year 0': () => steadily(-8.64e15, 0),
  'stands still at 1970': () => steadily(0, 0),
}

function steadily(start: number, step: number): () => number {
  let now = start - step
  return () => (now += step)
}

function alternately(one: number, other: number): () => number {
  let readings = 0
  return () => (readings++ % 2 === 0 ? one : other)
}

async function placeAt(way: Way, now: () => number, toolset?: ReadonlyMap<string, Tool>) {
  const here = await wayPlace(way, toolset === undefined ? {} : { changes: { tools: { toolset } } })
  await writeFile(join(here.workspace, 'notes.txt'), 'rope\nsail\n')
  const clock: Clock = { ...systemClock, now }
  const place = { ...here.parts.log.place, clock, ids: systemIds(clock) }
  return { ...here, harness: new Harness(withChanges(here.parts, { log: { place } })) }
}

async function say(session: Session, text: string) {
  const admitted = value(await session.admit(text))
  return value(await admitted.done).ended
}

/** What the Log holds, read again from the disk by a reader that shares nothing with its writer. */
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
  const here = await placeAt(way, WALL_CLOCKS[name]?.() ?? (() => 0))
  const session = value(await here.harness.create({ ...here.begin, permissionMode: 'auto' }))
  expect((await say(session, 'Read notes.txt')).status).toBe('completed')
  expect((await say(session, 'Write "new" to other.txt and then read it')).status).toBe('completed')
  expect(await verified(way, here.root, session)).toEqual({ ...WHOLE, results: 3 })
})

test('whatever the wall clock shows at each reading, every Event is in the Log and every duration is one', async () => {
  const readings = fc.array(fc.integer({ min: -8.64e15, max: 8.64e15 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(readings, async (times) => {
      let at = 0
      const here = await placeAt('in process', () => times[at++ % times.length] ?? 0)
      const session = value(await here.harness.create(here.begin))
      expect((await say(session, 'Read notes.txt')).status).toBe('completed')
      expect(await verified('in process', here.root, session)).toEqual({ ...WHOLE, results: 1 })
    }),
    { numRuns: 25 },
  )
})

test('a tool result that no reader would take ends the Turn as a defect, and the call still has a result', async () => {
  const spoilt: Tool = {
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
  const here = await placeAt('in process', () => NOON, new Map([['read', spoilt]]))
  const session = value(await here.harness.create(here.begin))
  const ended = await say(session, 'Read notes.txt')
  expect(ended).toMatchObject({ status: 'failed', error: { kind: 'internal' } })
  const results = session.events.flatMap((event) =>
    event.type === 'tool_result' ? [event.data] : [],
  )
  expect(results).toMatchObject([{ outcome: 'failed', error: { kind: 'internal' } }])
  expect(await verified('in process', here.root, session)).toEqual({ ...WHOLE, results: 1 })
})

async function readTool(): Promise<Tool> {
  const { TOOLSET } = await import('../../src/tools/toolset.ts')
  return TOOLSET.find(({ name }) => name === 'read') ?? expect.fail('there is no read tool')
}
