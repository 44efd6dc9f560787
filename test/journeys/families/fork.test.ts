import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SessionResources } from '../../../src/history/session-resources.ts'
import { inheritedId } from '../../../src/log/inherited.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import type { Session } from '../../../src/session/session.ts'
import { sessionFold } from '../../../src/session/live/state.ts'
import { openReader } from '../../../src/log/reader.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { oneOfEach, picture, sampleFile, say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS, type WayPlace } from '../../support/providers/ways.ts'

function requests(session: Session): WholeEvent<'provider_request'>['data'][] {
  return session.events.flatMap((event) => (event.type === 'provider_request' ? [event.data] : []))
}

/** What calls used, up to an Event. */
function usages(session: Session, lastSeq = Infinity) {
  return session.events.flatMap((event) =>
    event.type === 'provider_usage' && event.seq <= lastSeq ? [event.data.usage] : [],
  )
}

async function severalTurns(session: Session, workspace: string): Promise<void> {
  await writeFile(join(workspace, 'notes.txt'), 'The tide turns at six.\n')
  const files = await oneOfEach(workspace)
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
  expect(await say(session, 'Read notes.txt')).toBe('completed')
}

/** The whole next request, as its hash. */
async function nextRequest(session: Session, text = 'And now?'): Promise<string> {
  return sha256(value(await session.preview(text)).body)
}

async function openedFork(
  place: WayPlace,
  session: Session,
  at?: { seq: number } | { turn: number },
) {
  const forked = value(await place.harness.fork(session.id, at))
  return { forked, child: value(await place.harness.open(forked.session_id)) }
}

/** The same state, whether it was carried over by the fork or folded from every line. */
async function foldedAnew({ parts }: WayPlace, id: SessionId) {
  const { place } = parts.log
  const carried = value(await openReader(place, id))
  const indexed = value(await carried.fold(sessionFold)).state
  await carried.close()
  await place.indexes.remove(id)
  const reader = value(await openReader(place, id))
  const whole = value(await reader.fold(sessionFold)).state
  await reader.close()
  return { indexed, whole }
}

test.each(WAYS)(
  '%s: the next request of a fork, of a fork of it, of a resumed parent and of the open one are equal [PC-009] [PC-068] [SR-046]',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create(place.begin))
    await severalTurns(session, place.workspace)
    const { forked, child } = await openedFork(place, session)
    expect(forked).toEqual({
      session_id: child.id,
      parent_session_id: session.id,
      at_seq: session.lastSeq,
    })
    const { child: grandchild } = await openedFork(place, child)
    // What is on disk now is in no request of before.
    await writeFile(join(place.workspace, 'notes.txt'), 'changed\n')
    await rm(join(place.workspace, 'harbour.png'))
    const again = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const resumed = value(await again.harness.open(session.id))
    const other = value(await again.harness.open(child.id))
    const expected = await nextRequest(session)
    for (const one of [resumed, child, other, grandchild])
      expect(await nextRequest(one)).toBe(expected)
    await resumed.close()
    await other.close()

    expect(await say(child, 'Who are you?')).toBe('completed')
    expect(await say(session, 'Who are you?')).toBe('completed')
    // The open parent may continue its socket, which sends less of the same request.
    const whole = (one: Session) => {
      const request = requests(one).at(-1)
      return { ...request, previous_response_id_used: true, sent_bytes: 0 }
    }
    expect(whole(child)).toEqual(whole(session))
    if (place.vendor !== undefined) {
      const shared = usages(session, forked.at_seq)
      const sent = shared.at(-1)?.input ?? Infinity
      // All of the last request before the fork; a server without marks counts in steps.
      expect(usages(child)[shared.length]?.cached_read).toBeGreaterThanOrEqual(sent - (sent % 128))
    }
    for (const one of [session, child, grandchild]) {
      await one.close()
      await verified(place, one)
    }
  },
)

test('all Sessions of a family have the cache key of its root, ten forks deep [PC-035] [PC-073]', async () => {
  const place = await wayPlace('in process')
  const root = value(await place.harness.create(place.begin))
  expect(await say(root, 'Who are you?')).toBe('completed')
  const keys = new Set([requests(root)[0]?.cache_key])
  let last: Session = root
  for (let depth = 1; depth <= 10; depth++) {
    const { child, forked } = await openedFork(place, last)
    expect(forked.parent_session_id).toBe(last.id)
    expect(child.state).toMatchObject({ root_session_id: root.id, parent_session_id: last.id })
    expect(await say(child, `I am at depth ${depth}`)).toBe('completed')
    const request = requests(child).at(-1)
    expect(request?.prefix_break).toBeUndefined()
    keys.add(request?.cache_key)
    await last.close()
    last = child
  }
  expect([...keys]).toEqual([requests(root)[0]?.cache_key])
  expect(requests(last).length).toBeGreaterThan(10)
  await last.close()
  await verified(place, last)
  const other = value(await place.harness.create(place.begin))
  expect(await say(other, 'Who are you?')).toBe('completed')
  expect(keys.has(requests(other)[0]?.cache_key)).toBe(false)
  await other.close()
})

test('a fork after an earlier Turn has that Turn as its last, and its siblings do not see what it does', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const before = session.events.length
  const ended = session.events.find(({ type }) => type === 'turn_ended')
  const { child, forked } = await openedFork(place, session, { turn: 1 })
  expect(forked.at_seq).toBe(ended?.seq)
  expect(forked.asked_seq).toBeUndefined()
  expect(child.state.turns).toBe(1)
  expect(await say(child, 'Who are you?')).toBe('completed')
  await recordCompaction(child)
  const expected = await nextRequest(session)
  await session.catchUp()
  expect(session.events).toHaveLength(before)
  expect(await nextRequest(session)).toBe(expected)
  for (const one of [session, child]) {
    await one.close()
    await verified(place, one)
  }
})

async function recordCompaction(session: Session): Promise<void> {
  value(await session.compact())
}

test('Resources of a fork have ids of their own and the same bytes, and what is seen stays on its branch [SR-035] [SR-036]', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const { child } = await openedFork(place, session)
  const parents = new SessionResources(session.events).all.map(({ descriptor }) => descriptor)
  const own = new SessionResources(child.events).all.map(({ descriptor }) => descriptor)
  expect(own).toEqual(
    parents.map((one) => ({ ...one, resource_id: inheritedId(child.id, one.resource_id) })),
  )
  const ids = [...parents, ...own].map(({ resource_id }) => resource_id)
  expect(new Set(ids).size).toBe(6)
  const fork = child.events.find(({ type }) => type === 'session_fork')
  expect(fork?.data).toMatchObject({
    resources_count: 3,
    resources: parents.map(({ resource_id }, i) => ({
      parent_resource_id: resource_id,
      resource_id: own[i]?.resource_id,
    })),
  })
  expect(await say(child, 'Look again', { views: ['@img1'] })).toBe('completed')
  value(await child.dropResource('@txt3'))
  const views = (one: Session) => one.events.filter(({ type }) => type === 'resource_view')
  expect(
    views(child).map((event) => event.type === 'resource_view' && event.data.resource_id),
  ).toEqual([own[0]?.resource_id])
  await session.catchUp()
  expect(views(session)).toEqual([])
  expect(new SessionResources(session.events).byHandle('@txt3')?.goneBy).toBeUndefined()
  expect(new SessionResources(child.events).byHandle('@txt3')?.goneBy).toBe('dropped')
  const sibling = await openedFork(place, session)
  expect(await say(sibling.child, 'Look again', { views: ['@txt3'] })).toBe('completed')
  const { child: below } = await openedFork(place, child)
  expect(new SessionResources(below.events).byHandle('@txt3')).toMatchObject({
    goneBy: 'dropped',
    descriptor: { resource_id: inheritedId(below.id, own[2]?.resource_id ?? expect.fail()) },
  })
  const listed = value(await below.resources()).map(({ descriptor, state, views: count }) => [
    descriptor.handle,
    state,
    count,
  ])
  expect(listed).toEqual([
    ['@img1', 'live', 1],
    ['@pdf2', 'live', 0],
    ['@txt3', 'dropped', 0],
  ])
  // What a provider cannot read in one branch is still shown in the others.
  const quarantine = { dialect: 'rehearsal', provider_error: { message: 'unreadable' } } as const
  const resource_id = own[0]?.resource_id ?? expect.fail('no image')
  value(
    await child.between(({ record }) =>
      record([{ type: 'resource_quarantined', data: { resource_id, ...quarantine } }]),
    ),
  )
  const goneBy = ({ events }: Session) => new SessionResources(events).byHandle('@img1')?.goneBy
  for (const one of [session, sibling.child, below]) await one.catchUp()
  expect([child, session, sibling.child, below].map(goneBy)).toEqual([
    'quarantined',
    undefined,
    undefined,
    undefined,
  ])
  for (const one of [session, child, sibling.child, below]) {
    await one.close()
    await verified(place, one)
  }
})

test('a state that a fork carries over is what its lines fold to', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  await recordCheckpoint(place.parts, session, 1)
  value(await session.change({ permission_mode: 'auto' }))
  const { child } = await openedFork(place, session)
  const { child: grandchild } = await openedFork(place, child)
  const { child: early } = await openedFork(place, session, { turn: 1 })
  for (const one of [session, child, grandchild, early]) {
    await one.close()
    const { indexed, whole } = await foldedAnew(place, one.id)
    expect(whole).toEqual(indexed)
    await verified(place, one)
  }
})

test('forks across a checkpoint and before one send what their parent would', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const uncut = await nextRequest(session)
  const end = session.lastSeq
  await recordCheckpoint(place.parts, session, 1)
  expect(await say(session, 'Who are you?')).toBe('completed')
  const { child: across } = await openedFork(place, session)
  expect(across.events[0]?.type).toBe('turn_started')
  expect(await nextRequest(across)).toBe(await nextRequest(session))
  const { child: before } = await openedFork(place, session, { seq: end })
  expect(await nextRequest(before)).toBe(uncut)
  // In a branch, the checkpoint of the shared part can be undone.
  const checkpoint =
    session.events.find(({ type }) => type === 'history_compaction') ?? expect.fail('no checkpoint')
  value(
    await across.between(({ record }) =>
      record([
        {
          type: 'compaction_undone',
          data: { compaction_event_id: checkpoint.id, reason: 'test' },
        },
      ]),
    ),
  )
  expect(across.events[0]?.type).toBe('session_started')
  expect(session.events[0]?.type).toBe('turn_started')
  for (const one of [session, across, before]) {
    await one.close()
    await verified(place, one)
  }
})

test('a fork inside a Turn or a write begins at the last place before it, and says so', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const call = session.events.findLast(({ type }) => type === 'tool_call')
  const first = session.events.find(({ type }) => type === 'turn_ended')
  const forked = value(await place.harness.fork(session.id, { seq: call?.seq ?? -1 }))
  expect(forked).toMatchObject({ at_seq: first?.seq, asked_seq: call?.seq })
  const begun = session.events.find(({ type }) => type === 'turn_started')?.seq ?? -1
  expect(value(await place.harness.fork(session.id, { seq: begun })).at_seq).toBe(begun - 1)
  // The first write has the surface, too: without it there is no Session.
  expect(await place.harness.fork(session.id, { seq: 0 })).toMatchObject({
    error: { kind: 'invalid_args' },
  })
  const beyond = await place.harness.fork(session.id, { seq: session.lastSeq + 1 })
  expect(beyond).toMatchObject({
    error: { kind: 'invalid_args', details: { last: session.lastSeq } },
  })
  for (const at of [{ seq: -1 }, { seq: 1.5 }, { turn: 0 }, { turn: -1 }])
    expect(await place.harness.fork(session.id, at)).toMatchObject({
      error: { kind: 'invalid_args' },
    })
  expect(await place.harness.fork(session.id, { turn: 3 })).toMatchObject({
    error: { kind: 'not_found', details: { turns: 2 } },
  })
  await session.close()
})

test('a fork at a place that a fork inherited has the Session as its parent that wrote it', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const { child } = await openedFork(place, session)
  expect(await say(child, 'Who are you?')).toBe('completed')
  value(await child.change({ permission_mode: 'read-only' }))
  const { forked, child: sibling } = await openedFork(place, child, { turn: 1 })
  expect(forked.parent_session_id).toBe(session.id)
  // The settings of the Session that was forked count, so that forking widens nothing.
  expect(sibling.state).toMatchObject({
    parent_session_id: session.id,
    permission_mode: 'read-only',
    turns: 1,
  })
  for (const one of [session, child, sibling]) await one.close()
})

test('a Session can be forked while a Turn runs in it, and has then the Turns before', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const end = session.lastSeq
  const running = value(await session.admit('Read notes.txt'))
  const forked = value(await place.harness.fork(session.id))
  expect(forked.at_seq).toBe(end)
  value(await running.done)
  const child = value(await place.harness.open(forked.session_id))
  expect(child.state.turns).toBe(2)
  expect(await say(child, 'Who are you?')).toBe('completed')
  for (const one of [session, child]) {
    await one.close()
    await verified(place, one)
  }
})

test('a Resource added after the fork continues the handles of its branch', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  await severalTurns(session, place.workspace)
  const { child } = await openedFork(place, session)
  const { input } = await sampleFile(place.workspace, 'buoy.png', picture(9))
  expect(await say(child, 'And this?', { attachments: [input] })).toBe('completed')
  expect(new SessionResources(child.events).byHandle('@img4')?.descriptor.name).toBe('buoy.png')
  expect(new SessionResources(session.events).byHandle('@img4')).toBeUndefined()
  for (const one of [session, child]) {
    await one.close()
    await verified(place, one)
  }
})

test('missing, deleted and foreign Sessions cannot be forked', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  expect(await say(session, 'Who are you?')).toBe('completed')
  await session.close()
  const { heads } = place.parts.log.place
  const head = value(await heads.read(session.id)) ?? expect.fail('no head')
  await heads.remove(session.id)
  expect(await place.harness.fork(session.id)).toMatchObject({ error: { kind: 'session_foreign' } })
  await heads.write(session.id, head)
  value(await place.harness.delete(session.id))
  expect(await place.harness.fork(session.id)).toMatchObject({ error: { kind: 'not_found' } })
})
