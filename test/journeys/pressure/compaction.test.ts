import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CompactionPlan } from '../../../src/context/compaction-plan.ts'
import { historyOf } from '../../../src/history/history.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import type { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { TOOLSET, toolSchemas } from '../../../src/tools/toolset.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'
import { logPath } from '../../support/session/write-log.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

async function say(session: Session, text: string): Promise<void> {
  const { done } = value(await session.admit(text))
  expect(value(await done).status).toBe('completed')
}

async function writeNotes(workspace: string): Promise<void> {
  for (const name of ['a', 'b', 'c']) {
    const lines = Array.from({ length: 300 }, (_, at) => `${name} ${at}: the tide turns at noon`)
    await writeFile(join(workspace, `${name}.txt`), lines.join('\n'))
  }
}

function eventsOf<T extends WholeEvent['type']>(events: readonly WholeEvent[], type: T) {
  return events.filter((event): event is WholeEvent<T> => event.type === type)
}

/** The Events of the whole Log; a Session keeps only those after its checkpoint in memory. */
async function wholeLog(harness: Harness, session: Session): Promise<WholeEvent[]> {
  const events: WholeEvent[] = []
  value(await harness.read(session.id, {}, ({ event }) => void (event && events.push(event))))
  return events
}

/** A plan that was carried out. */
function made(plan: CompactionPlan) {
  if (!plan.compactable) throw new Error(`not compactable: ${JSON.stringify(plan)}`)
  return plan
}

/** Compacts after a dry run, and compares the outcome with it. */
async function compactAsAnnounced(harness: Harness, session: Session) {
  const { plan, request_bytes } = value(await session.previewCompaction())
  const before = value(await session.preview(''))
  const done = made(value(await session.compact()))
  expect(done).toEqual(plan)
  const after = value(await session.preview(''))
  expect(request_bytes).toEqual({ before: before.length, after: after.length })
  const recorded = eventsOf(session.events, 'history_compaction').at(-1)
  const { from_offset, from_prev, ...tail } = recorded?.data.tail ?? {}
  expect({ ...recorded?.data, tail }).toEqual(done.data)
  return { ...done, from_offset, from_prev }
}

test.each(WAYS)(
  '[PC-011] [PC-012] %s: a compaction does what its dry run announces, and the prefix breaks where it is recorded',
  async (way) => {
    const place = await wayPlace(way)
    await writeNotes(place.workspace)
    const session = value(await place.harness.create(place.begin))
    for (const name of ['a', 'b', 'c', 'a']) await say(session, `Read ${name}.txt`)
    const [first] = eventsOf(session.events, 'provider_request')

    const elided = await compactAsAnnounced(place.harness, session)
    expect(elided.data).toMatchObject({ strategy: 'elide', tail: { from_seq: 0, turns: 4 } })
    await say(session, 'What did it say?')
    await say(session, 'Read c.txt')

    const cut = await compactAsAnnounced(place.harness, session)
    expect(cut.data.strategy).toBe('excerpts')
    expect(cut.data.range?.to_seq).toBe(cut.data.tail.from_seq - 1)
    const log = await readFile(logPath(place.root, session.id))
    const line = log.subarray(cut.from_offset).toString('utf8').split('\n')[0]
    expect(line).toContain(`"seq":${cut.data.tail.from_seq},`)
    expect(line).toContain(`"prev":"${cut.from_prev}"`)
    await say(session, 'What did it say?')

    const requests = eventsOf(await wholeLog(place.harness, session), 'provider_request')
    const causes = requests.flatMap(({ data, seq }) =>
      data.prefix_break?.cause === 'checkpoint' ? [seq] : [],
    )
    expect(causes).toHaveLength(2)
    expect(new Set(requests.map(({ data }) => data.cache_key))).toEqual(
      new Set([first?.data.cache_key]),
    )
    const proof = value(await place.harness.verify(session.id, { requests: true }))
    expect(proof.requests?.mismatches).toEqual([])
  },
)

test.each(WAYS)(
  '[SR-047] %s: an undone compaction leaves the earlier request and surface, also for another process',
  async (way) => {
    const first = await wayPlace(way)
    await writeNotes(first.workspace)
    const session = value(await first.harness.create(first.begin))
    for (const name of ['a', 'b', 'c', 'a']) await say(session, `Read ${name}.txt`)
    await session.close()
    // Another version, with other tools. It has only the Log and the blobs.
    const tools = { schemas: toolSchemas(TOOLSET).slice(1) }
    const { root, vendor } = first
    const other = await wayPlace(way, { root, vendor, changes: { tools } })
    const opened = value(await other.harness.open(session.id))
    const before = value(await opened.preview('What now?'))
    const outputs = made(await compactAsAnnounced(other.harness, opened))
    expect(outputs.data.strategy).toBe('elide')
    const elided = value(await opened.preview('What now?'))
    expect(await compactAsAnnounced(other.harness, opened)).toMatchObject({
      data: { strategy: 'excerpts' },
    })
    const surfaces = async () =>
      eventsOf(await wholeLog(other.harness, opened), 'prompt_surface').map(({ data }) => data)
    const taken = await surfaces()
    expect(taken.map(({ reason }) => reason)).toEqual(['session_start', 'checkpoint'])
    expect(taken[1]?.toolset_sha256).not.toBe(taken[0]?.toolset_sha256)

    const undone = value(await opened.undoCompaction())
    expect(undone.surface_restored).toBe(true)
    await opened.close()
    const third = await wayPlace(way, { root, vendor, changes: { tools } })
    const again = value(await third.harness.open(session.id))
    const next = async () => value(await again.preview('What now?')).body
    expect((await next()).equals(elided.body)).toBe(true)
    value(await again.undoCompaction())
    expect((await next()).equals(before.body)).toBe(true)
    expect(await again.undoCompaction()).toMatchObject({
      error: { kind: 'not_found' },
    })
    await say(again, 'What did it say?')
    const proof = value(await third.harness.verify(session.id, { requests: true }))
    expect(proof.requests?.mismatches).toEqual([])
  },
)

test('a changed model keeps its surface when an earlier compaction is undone', async () => {
  const place = await harnessPlace({
    tools: { schemas: toolSchemas(TOOLSET).slice(1) },
  })
  const older = await harnessPlace({}, place.root)
  await writeNotes(place.workspace)
  const session = value(await older.harness.create(REHEARSAL))
  await say(session, 'Read a.txt, then b.txt')
  await session.close()
  const opened = value(await place.harness.open(session.id))
  expect(made(value(await opened.compact())).data.strategy).toBe('excerpts')
  value(await opened.change({ model: { provider: 'rehearsal', model: 'another' } }))
  const undone = value(await opened.undoCompaction())
  expect(undone.surface_restored).toBe(false)
  const { surface } = value(await opened.preview('What now?')).inputs
  expect(surface.model).toBe('another')
})

test('a dry run writes nothing, and a compaction without a gain neither', async () => {
  const place = await harnessPlace()
  await writeNotes(place.workspace)
  const session = value(await place.harness.create(REHEARSAL))
  await say(session, 'What did it say?')
  const small = value(await session.compact())
  expect(small).toMatchObject({ compactable: false, reason: 'nothing_to_compact' })
  await say(session, 'Read a.txt')
  await say(session, 'What did it say?')
  const log = await readFile(logPath(place.root, session.id))
  const { plan, request_bytes } = value(await session.previewCompaction())
  expect(plan.compactable).toBe(true)
  expect(request_bytes.after).toBeLessThan(request_bytes.before)
  expect((await readFile(logPath(place.root, session.id))).equals(log)).toBe(true)
  expect(historyOf(session.events).checkpoint).toBeUndefined()
})

test('pinned texts are limited in all, and a checkpoint repeats them', async () => {
  const place = await harnessPlace()
  await writeNotes(place.workspace)
  const session = value(await place.harness.create(REHEARSAL))
  expect(await session.pin(' \n')).toMatchObject({ error: { kind: 'invalid_args' } })
  value(await session.pin('Mind the tide.'))
  const most = LIMITS.pinned_text_bytes - 'Mind the tide.'.length
  expect(await session.pin('x'.repeat(most + 1))).toMatchObject({
    error: {
      kind: 'too_large',
      details: { limit: LIMITS.pinned_text_bytes, actual: most + 1, pinned: 14 },
    },
  })
  await say(session, 'Read a.txt, then b.txt')
  const { data } = made(value(await session.compact()))
  expect(data.carried?.pinned).toEqual(['Mind the tide.'])
  expect(await session.pin('x'.repeat(most + 1))).toMatchObject({
    error: { kind: 'too_large' },
  })
  value(await session.pin('x'.repeat(most)))
  const next = value(await session.preview('What now?'))
  expect(next.body.toString('utf8')).toContain('Mind the tide.')
})

test('pinned text is in every request after pointers, after a summary, after its undo and after a resume', async () => {
  const place = await harnessPlace()
  await writeNotes(place.workspace)
  const session = value(await place.harness.create(REHEARSAL))
  await say(session, 'Read a.txt')
  value(await session.pin('Mind the tide.'))
  const times = async (one = session) =>
    value(await one.preview('What now?'))
      .body.toString('utf8')
      .split('Mind the tide.').length - 1
  for (const name of ['b', 'c', 'a']) await say(session, `Read ${name}.txt`)
  const pointers = made(value(await session.compact()))
  expect(pointers.data.strategy).toBe('elide')
  expect(pointers.kept.pinned).toBe(1)
  expect(await times()).toBe(1)
  expect(made(value(await session.compact())).data.strategy).toBe('excerpts')
  expect(await times()).toBe(1)
  value(await session.undoCompaction())
  expect(await times()).toBe(1)
  await say(session, 'What did it say?')
  await session.close()
  const resumed = value(await place.harness.open(session.id))
  expect(await times(resumed)).toBe(1)
  const proof = value(await place.harness.verify(session.id, { requests: true }))
  expect(proof.requests?.mismatches).toEqual([])
})

test('a removed pin is in no later checkpoint, also if an earlier checkpoint carried it', async () => {
  const place = await harnessPlace()
  await writeNotes(place.workspace)
  const session = value(await place.harness.create(REHEARSAL))
  value(await session.pin('Mind the tide.'))
  value(await session.pin('Coil the rope.'))
  await say(session, 'Read a.txt, then b.txt')
  const first = made(value(await session.compact()))
  expect(first.data.carried?.pinned).toEqual(['Mind the tide.', 'Coil the rope.'])
  await session.close()
  const resumed = value(await place.harness.open(session.id))
  expect(await resumed.unpin(3)).toMatchObject({ error: { kind: 'not_found' } })
  expect(value(await resumed.unpin(1))).toBe('Mind the tide.')
  expect(await resumed.pinnedTexts()).toEqual(['Coil the rope.'])
  const log = await wholeLog(place.harness, resumed)
  const [pin] = eventsOf(log, 'text_pinned')
  const [removal] = eventsOf(log, 'text_unpinned')
  expect(removal?.data).toEqual({ event_id: pin?.id, text: 'Mind the tide.', by: 'person' })
  await say(resumed, 'Read a.txt, then b.txt')
  const second = made(value(await resumed.compact()))
  expect(second.data.carried?.pinned).toEqual(['Coil the rope.'])
  const next = value(await resumed.preview('What now?')).body.toString('utf8')
  expect([next.includes('Mind the tide.'), next.includes('Coil the rope.')]).toEqual([false, true])
  const proof = value(await place.harness.verify(session.id, { requests: true }))
  expect([proof.requests?.mismatches, proof.checkpoints]).toEqual([[], []])
})
