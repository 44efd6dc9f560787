import { cp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { SessionResources } from '../../../src/history/session-resources.ts'
import type { Session } from '../../../src/session/session.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { lastAnswer, oneOfEach, say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'

function requests(session: Session): WholeEvent<'provider_request'>['data'][] {
  return session.events.flatMap((event) => (event.type === 'provider_request' ? [event.data] : []))
}

/** The same workspace in another process. */
async function reopened({ root }: { readonly root: string }, session: Session) {
  const again = await wayPlace('in process', { root })
  return { again, resumed: value(await again.harness.open(session.id)) }
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
  value(
    await session.between(({ record }) => record([{ type: 'compaction_undone', data: undone }])),
  )
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

test('Resources that were dropped before a checkpoint stay so, handles keep counting, and the others can be viewed', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  value(await session.dropResource('@txt3'))
  const last = new SessionResources(session.events).last
  await recordCheckpoint(place.parts, session, 0)
  await session.close()
  const { again, resumed } = await reopened(place, session)
  const known = new SessionResources(resumed.events)
  expect([known.last, known.byHandle('@txt3')?.goneBy]).toEqual([last, 'dropped'])
  expect(await say(resumed, 'Again @img1 and @txt3', { views: ['@txt3', '@img1'] })).toBe(
    'completed',
  )
  expect(views(resumed)).toEqual([
    ['@img1', 'projected'],
    ['@txt3', 'denied'],
  ])
  expect(
    requests(resumed)
      .at(-1)
      ?.projected?.map(({ bytes }) => bytes > 0),
  ).toEqual([true])
  const listed = value(await resumed.resources())
  expect(
    listed.map(({ descriptor, state, turn, views: count }) => [
      descriptor.handle,
      state,
      turn,
      count,
    ]),
  ).toEqual([
    ['@img1', 'live', 1, 1],
    ['@pdf2', 'live', 1, 0],
    ['@txt3', 'dropped', 1, 1],
  ])
  await resumed.close()
  await verified(again, resumed)
})

function views(session: Session): string[][] {
  return session.events.flatMap((event) =>
    event.type === 'resource_view' ? [[event.data.handle, event.data.outcome]] : [],
  )
}

test('undo and diff reach Turns before a checkpoint', async () => {
  const place = await wayPlace('in process')
  const begin = { ...place.begin, permissionMode: 'auto' as const }
  const session = value(await place.harness.create(begin))
  expect(await say(session, 'Write "moored" to new.txt')).toBe('completed')
  expect(await say(session, 'Who are you?')).toBe('completed')
  await recordCheckpoint(place.parts, session, 1)
  await session.close()
  const { resumed } = await reopened(place, session)
  const [file] = value(await resumed.diff()).files
  expect(file).toMatchObject({ path: 'new.txt', change: 'created' })
  const undone = value(await resumed.undo())
  expect(undone.files.map(({ path, outcome }) => [path, outcome])).toEqual([
    ['new.txt', 'restored'],
  ])
  await resumed.close()
})

test('lies in the state of a checkpoint are noticed, and bring back nothing that was dropped', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  value(await session.dropResource('@img1'))
  await recordCheckpoint(place.parts, session, 1, (data) => {
    const { state } = data
    if (state === undefined) return data
    const [image, pdf, text] = state.resources
    if (image === undefined || pdf === undefined || text === undefined) return data
    const { fate: _fate, ...live } = image
    const lies = {
      ...state,
      handle_counter: 999_999_998,
      permission_mode: 'auto',
      resources: [
        live,
        { ...text, descriptor: { ...pdf.descriptor, handle: text.descriptor.handle } },
      ],
      call_ids: 'nonsense',
      requests: [],
    }
    return { ...data, state: lies, tail: { ...data.tail, from_offset: 7 } }
  })
  await session.close()
  const { again, resumed } = await reopened(place, session)
  expect(resumed.state.permission_mode).toBe('ask')
  expect(await say(resumed, 'Again @img1 @txt3', { views: ['@img1', '@txt3'] })).toBe('completed')
  expect(views(resumed)).toEqual([
    ['@img1', 'denied'],
    ['@txt3', 'projected'],
  ])
  const shown = requests(resumed).at(-1)?.projected ?? []
  const crew = value(await resumed.resourceNamed('@txt3'))?.descriptor
  expect(shown.map(({ content_sha256 }) => content_sha256)).toEqual([
    crew?.kind === 'link' ? '' : crew?.content_sha256,
  ])
  expect(await say(resumed, 'Read notes.txt')).toBe('completed')
  await resumed.close()
  const { log, checkpoints = [] } = value(
    await again.harness.verify(session.id, { requests: false }),
  )
  expect(log.damage).toBeUndefined()
  expect(checkpoints.flatMap(({ recorded }) => Object.keys(recorded)).toSorted()).toEqual([
    'state.call_ids',
    'state.handle_counter',
    'state.permission_mode',
    'state.requests',
    'state.resources',
    'tail.from_offset',
  ])
})
