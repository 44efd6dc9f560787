import { expect, test } from 'vitest'
import { SessionResources } from '../../../src/history/session-resources.ts'
import { inheritedId } from '../../../src/log/inherited.ts'
import type { ResourceId } from '../../../src/model/ids.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../../support/log/story.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal' } as const

function idsOf({ events }: Session): ResourceId[] {
  return new SessionResources(events).all.map(({ descriptor }) => descriptor.resource_id)
}

test('a salvaged fork has the ids of its Resources everywhere, also where a list of them is too long for a line', async () => {
  const place = await harnessPlace()
  const { harness } = place
  const session = value(await harness.create(BEGIN))
  const uri = (n: number) => `https://example.org/${n}/${'tide'.repeat(200)}`
  const attachments = Array.from({ length: 90 }, (_, n) => ({ from: 'link', uri: uri(n) }) as const)
  expect(await say(session, 'Remember these.', { attachments })).toBe('completed')
  const lines: string[] = []
  value(await harness.read(session.id, {}, ({ raw }) => void lines.push(JSON.stringify(raw))))
  expect(lines.some((line) => line.includes('"resources_blob"'))).toBe(true)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(LIMITS.event_field_bytes * 2)

  const child = value(await harness.open(value(await session.fork()).session_id))
  const below = value(await harness.open(value(await child.fork()).session_id))
  expect(await say(below, 'Hello')).toBe('completed')
  await below.close()
  const saved = value(await harness.open(value(await harness.salvage(below.id)).session_id))
  expect(idsOf(saved)).toHaveLength(90)
  expect(idsOf(saved)).toEqual(idsOf(below))
  const ofChild = idsOf(session).map((id) => inheritedId(child.id, id))
  expect(idsOf(saved)).toEqual(ofChild.map((id) => inheritedId(below.id, id)))
  // It needs none of them any more.
  for (const one of [session, child]) await one.close()
  await saved.close()
  for (const { id } of [below, child, session]) value(await harness.delete(id))
  value(await harness.gc({ dryRun: false }))
  const again = value(await harness.open(saved.id))
  expect(idsOf(again)).toHaveLength(90)
  expect(value(await again.resources()).map(({ state }) => state)).not.toContain('missing')
  await again.close()
  await verified(place, again)
})
