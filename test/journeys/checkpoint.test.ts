import { cp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WholeEvent } from '../../src/model/events/event.ts'
import { SessionResources } from '../../src/history/session-resources.ts'
import type { Session } from '../../src/session/live/session.ts'
import { recordCheckpoint } from '../support/hand-checkpoint.ts'
import { verified } from '../support/resource-events.ts'
import { lastAnswer, oneOfEach, say } from '../support/sample-files.ts'
import { value } from '../support/story.ts'
import { wayPlace, WAYS } from '../support/ways.ts'

function requests(session: Session): WholeEvent<'provider_request'>['data'][] {
  return session.events.flatMap((event) => (event.type === 'provider_request' ? [event.data] : []))
}

async function severalTurns(session: Session, workspace: string): Promise<void> {
  await writeFile(join(workspace, 'notes.txt'), 'The tide turns at six.\n')
  const files = await oneOfEach(workspace)
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
  expect(await say(session, 'Read notes.txt')).toBe('completed')
  expect(await say(session, 'Who are you?')).toBe('completed')
}

test.each(WAYS)(
  '%s: after a checkpoint a resumed Session sends the same bytes as the open one, under the same key',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create(place.begin))
    await severalTurns(session, place.workspace)
    const key = requests(session).at(-1)?.cache_key
    await recordCheckpoint(place.parts, session, 1)
    expect(session.events.filter(({ type }) => type === 'turn_started')).toHaveLength(1)
    const kept = `${place.root}-as-it-was`
    await session.close()
    await cp(place.root, kept, { recursive: true })

    expect(await say(session, 'Read notes.txt')).toBe('completed')
    expect(await say(session, 'View @img1')).toBe('completed')
    const live = { requests: requests(session), answer: lastAnswer(session) }
    await session.close()
    await verified(place, session)
    const [, first] = live.requests
    expect(first?.prefix_break?.cause).toBe('checkpoint')
    expect(first?.cache_key).toBe(key)

    await rm(place.root, { recursive: true })
    await rename(kept, place.root)
    const again = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const resumed = value(await again.harness.open(session.id))
    expect(resumed.events[0]?.type).toBe('turn_started')
    expect(await say(resumed, 'Read notes.txt')).toBe('completed')
    expect(await say(resumed, 'View @img1')).toBe('completed')
    // Servers give other ids to later calls.
    expect(requests(resumed).slice(0, 2)).toEqual(live.requests.slice(0, 2))
    expect(lastAnswer(resumed)).toBe(live.answer)
    await resumed.close()
    await verified(again, resumed)
  },
)

test('after a checkpoint is undone, the earlier Events are known again, also in a new process', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const before = session.events
  await recordCheckpoint(place.parts, session, 1)
  const [checkpoint = expect.fail('no checkpoint')] = session.events.slice(-1)
  const undone = { compaction_event_id: checkpoint.id, reason: 'test' }
  value(await session.between((record) => record([{ type: 'compaction_undone', data: undone }])))
  expect(session.events.slice(0, before.length)).toEqual(before)
  await session.close()
  const again = await wayPlace('in process', { root: place.root })
  const resumed = value(await again.harness.open(session.id))
  expect(resumed.events).toEqual(session.events)
  expect(await say(resumed, 'Who are you?')).toBe('completed')
  expect(requests(resumed).at(-1)?.prefix_break).toBeUndefined()
  await resumed.close()
  await verified(again, resumed)
})

test('a Resource that was dropped before a checkpoint stays so, and handles go on', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  value(await place.harness.dropResource(session, '@img1'))
  const last = new SessionResources(session.events).last
  await recordCheckpoint(place.parts, session, 0)
  await session.close()
  const again = await wayPlace('in process', { root: place.root })
  const resumed = value(await again.harness.open(session.id))
  const known = new SessionResources(resumed.events)
  expect([known.last, known.byHandle('@img1')?.gone]).toEqual([last, 'dropped'])
  await resumed.close()
})
