import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/model/limits.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { png } from '../../support/resources/drawing.ts'
import { sampleFile, say } from '../../support/resources/sample-files.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { value } from '../../support/log/story.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'

const SEVEN_MIB = 7 * 1024 * 1024

/** A Session with three pictures of earlier Turns, whose model views these handles in one answer of the last Turn. */
async function viewedTogether(dialect: VendorDialect, handles: readonly string[]) {
  const calls = handles.map((handle, at) => ({
    id: `call_${at}`,
    name: 'resource_view',
    arguments: JSON.stringify({ handle, reason: 'to compare them' }),
  }))
  const answers = [{ text: 'Seen.' }, { text: 'Seen.' }, { calls }, { text: 'Compared.' }]
  let answered = 0
  const server = await scriptedServer(() => ({
    body: sseOf(dialect, answers[answered++] ?? { text: 'There is no more.' }),
  }))
  const place = await vendorPlace(server)
  const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
  const [a, b, c] = await Promise.all(
    ['a.png', 'b.png', 'c.png'].map(async (name, at) => {
      const bytes = png(4, 4, Buffer.alloc(48, at), SEVEN_MIB - at)
      return (await sampleFile(place.workspace, name, bytes)).input
    }),
  )
  const given = [a, b, c].flatMap((input) => (input === undefined ? [] : [input]))
  for (const attachments of [given.slice(0, 2), given.slice(2)])
    expect(await say(session, 'Look.', { attachments })).toBe('completed')
  expect(await say(session, 'Compare them.')).toBe('completed')
  await verified(place, session)
  const views = session.events.flatMap((e) =>
    e.type === 'resource_view' ? [`${e.data.handle} ${e.data.outcome}`] : [],
  )
  return { session, views }
}

test.each(VENDOR_DIALECTS)(
  '[SR-009] %s: views that one answer asks for share the room of a request, and the last one is refused',
  async (dialect) => {
    const { session, views } = await viewedTogether(dialect, ['@img1', '@img2', '@img3'])
    expect(views).toEqual(['@img1 projected', '@img2 projected', '@img3 over_budget'])
    const shown = session.events.flatMap((e) =>
      e.type === 'provider_request'
        ? [(e.data.projected ?? []).reduce((sum, { bytes }) => sum + bytes, 0)]
        : [],
    )
    expect(shown.map((bytes) => bytes > 0)).toEqual([true, true, false, true])
    expect(Math.max(...shown)).toBeLessThanOrEqual(LIMITS.request_resource_bytes)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: an answer that views one picture twice gets one copy of it',
  async (dialect) => {
    const { session, views } = await viewedTogether(dialect, ['@img1', '@img1'])
    expect(views).toEqual(['@img1 projected', '@img1 visible'])
    expect(projected(session).at(-1)).toHaveLength(1)
  },
)
