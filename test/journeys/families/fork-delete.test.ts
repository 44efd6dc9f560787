import { expect, test } from 'vitest'
import { SessionResources } from '../../../src/history/session-resources.ts'
import type { Clock } from '../../../src/host/clock.ts'
import type { BlobKey } from '../../../src/model/ids.ts'
import type { ForkAt } from '../../../src/session/forks/fork-session.ts'
import { sweepWorkspace } from '../../../src/session/queries/sweep.ts'
import type { Session } from '../../../src/session/session.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { oneOfEach, picture, sampleFile, say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, type WayPlace } from '../../support/providers/ways.ts'

async function openFork({ harness }: WayPlace, session: Session, at?: ForkAt): Promise<Session> {
  const { session_id } = value(await harness.fork(session.id, at))
  return value(await harness.open(session_id))
}

function blobOf({ events }: Session, handle: string): BlobKey {
  const descriptor = new SessionResources(events).byHandle(handle)?.descriptor
  if (descriptor === undefined || descriptor.kind === 'link') return expect.fail('no blob')
  return descriptor.blob
}

test('a deleted Session that forks need does not exist for anyone else, and is removed after the last of them', async () => {
  const place = await wayPlace('in process')
  const { harness } = place
  const { place: stores, store } = place.parts.log
  const root = value(await harness.create(place.begin))
  const files = await oneOfEach(place.workspace)
  const attachments = files.map(({ input }) => input)
  expect(await say(root, 'What do you see?', { attachments })).toBe('completed')
  expect(await say(root, 'Who are you?')).toBe('completed')
  const child = await openFork(place, root, { turn: 1 })
  const { input } = await sampleFile(place.workspace, 'wreck.png', picture(3))
  expect(await say(root, 'And this?', { attachments: [input] })).toBe('completed')
  expect(await say(child, 'Who are you?')).toBe('completed')
  const grandchild = await openFork(place, child)
  const shared = blobOf(child, '@img1')
  const only = blobOf(root, '@img4')
  for (const one of [root, child, grandchild]) await one.close()

  value(await harness.delete(root.id))
  for (const gone of [
    await harness.open(root.id),
    await harness.find(root.id),
    await harness.verify(root.id, { requests: false }),
    await harness.salvage(root.id),
    await harness.adopt(root.id),
    await harness.delete(root.id),
    await harness.fork(root.id),
  ])
    expect(gone).toMatchObject({ error: { kind: 'not_found' } })
  expect((await harness.list()).map(({ id }) => id).toSorted()).toEqual(
    [child.id, grandchild.id].toSorted(),
  )
  // At a place that it inherited, a fork can be forked as before.
  const early = value(await harness.fork(grandchild.id, { turn: 1 }))
  expect(early.parent_session_id).toBe(root.id)
  await verified(place, child)

  const later = { ...place.parts.log, place: { ...stores, clock: inTwoHours(stores.clock) } }
  const { deleted } = value(await sweepWorkspace(later, { dryRun: false }))
  expect([deleted.includes(only), deleted.includes(shared)]).toEqual([true, false])
  expect((await store.get(shared)).ok).toBe(true)
  for (const one of [child, grandchild]) {
    const opened = value(await harness.open(one.id))
    expect(await say(opened, 'View @img1')).toBe('completed')
    await opened.close()
    await verified(place, opened)
  }

  value(await harness.delete(child.id))
  expect(value(await harness.gc({ dryRun: false })).deleted_sessions).toBe(0)
  value(await harness.delete(early.session_id))
  await verified(place, grandchild)
  value(await harness.delete(grandchild.id))
  expect(value(await harness.gc({ dryRun: true })).deleted_sessions).toBe(2)
  expect(value(await harness.gc({ dryRun: false })).deleted_sessions).toBe(2)
  expect([await stores.logs.list(), await stores.logs.listHidden()]).toEqual([[], []])
  expect(await stores.heads.list()).toEqual([])
  const swept = value(await sweepWorkspace(later, { dryRun: false }))
  expect(swept.kept).toBe(0)
})

function inTwoHours(clock: Clock): Clock {
  return { ...clock, now: () => clock.now() + 2 * 60 * 60 * 1000 }
}
