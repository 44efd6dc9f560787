import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { canDrawAll } from '../../support/resources/drawing.ts'
import { lastAnswer, oneOfEach, say } from '../../support/resources/sample-files.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { visionPlace, sha256 } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// A view of a part is a variant that is stored, recorded, and retired with its Turn.

function views(session: Session) {
  return session.events.flatMap((e) => (e.type === 'resource_view' ? [e.data] : []))
}

test.each(WAYS)(
  '[SR-028] [SR-029] [SR-042] %s: pages and lines are viewed as text, exactly the requested range',
  async (way) => {
    const place = await visionPlace(way)
    const files = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    const attachments = files.map(({ input }) => input)
    expect(await say(session, 'Look.', { attachments })).toBe('completed')
    expect(await say(session, 'View lines 2 to 3 of @txt3')).toBe('completed')
    expect(lastAnswer(session)).toContain('@txt3 is a text file with 2 lines and 4 words.')
    expect(await say(session, 'View page 2 of @pdf2')).toBe('completed')
    expect(await say(session, 'Thank you.')).toBe('completed')
    const [lines, pages] = views(session)
    expect([lines?.lines, lines?.outcome]).toEqual([{ from: 2, to: 3 }, 'projected'])
    expect([pages?.pages, pages?.outcome]).toEqual([{ from: 2, to: 2 }, 'projected'])
    const shown = place.seen.slice(1).map((request) => request.files)
    expect(shown).toEqual([
      [],
      [`@txt3 ${sha256(Buffer.from('Piet\nKlaas, the cook\n'))}`],
      [],
      [`@pdf2 ${pages?.variant?.slice(0, 64)}`],
      [],
    ])
    expect(projected(session).slice(1)).toEqual(
      shown.map((each) => each.map((file) => `${file} turn`)),
    )
    const words = value(await place.parts.log.store.get(pages?.variant ?? '')).toString('utf8')
    expect([words.includes('low water at six'), words.includes('high water')]).toEqual([
      true,
      false,
    ])
    await verified(place, session)
  },
)

test.skipIf(!canDrawAll).each(WAYS)(
  '[SR-026] [SR-028] %s: a region and a smaller size are variants beside the unchanged original',
  async (way) => {
    const place = await visionPlace(way)
    const [image] = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'View the region 0,0 20x10 of @img1')).toBe('completed')
    expect(lastAnswer(session)).toMatch(/@img1 is a \w+ picture, 20 by 10 pixels/)
    expect(await say(session, 'View @img1 at 16x16')).toBe('completed')
    expect(lastAnswer(session)).toMatch(/@img1 is a \w+ picture, (?:16 by \d+|\d+ by 16) pixels/)
    const variants = views(session).map(({ variant }) => `@img1 ${variant?.slice(0, 64)}`)
    const shown = place.seen.slice(1).map(({ files }) => files)
    expect(shown).toEqual([[], [variants[0]], [], [variants[1]]])
    expect(views(session).map(({ content_sha256 }) => content_sha256)).toEqual([
      image.sha256,
      image.sha256,
    ])
    expect(value(await session.resourceBytes('@img1')).equals(image.bytes)).toBe(true)
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-009] %s: a view of a missing Resource, or of a part that its kind does not have, fails and shows nothing',
  async (way) => {
    const place = await visionPlace(way)
    const [image] = await oneOfEach(place.workspace)
    const session = value(
      await place.harness.create({ ...place.begin, permissionMode: 'read-only' }),
    )
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'View @img7')).toBe('completed')
    expect(await say(session, 'View pages 1 to 2 of @img1')).toBe('completed')
    const results = session.events.flatMap((e) =>
      e.type === 'tool_result' ? [[e.data.outcome, e.data.error?.kind]] : [],
    )
    expect(results).toEqual([
      ['failed', 'not_found'],
      ['failed', 'invalid_args'],
    ])
    expect([views(session), place.seen.slice(1).flatMap(({ files }) => files)]).toEqual([[], []])
    const unknown = await session.admit('Look', { views: ['@img7'] })
    expect(unknown.ok ? 'ok' : unknown.error.kind).toBe('not_found')
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(place.seen.at(-1)?.files).toEqual([`@img1 ${image.sha256}`])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-009] %s: views of a person come after their attachments and before late context',
  async (way) => {
    const place = await visionPlace(way)
    const [image, , text] = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    value(await session.change({ permission_mode: 'read-only' }))
    const options = { attachments: [text.input], views: ['@img1', '@img1'] }
    expect(await say(session, 'What do you see?', options)).toBe('completed')
    const [, request] = place.seen
    expect(request?.files).toEqual([`@txt2 ${text.sha256}`, `@img1 ${image.sha256}`])
    expect(lastAnswer(session)).toMatch(/^@txt2 is a text .*@img1 is a PNG picture/s)
    expect(views(session).map(({ handle, by }) => [handle, by])).toEqual([['@img1', 'person']])
    const order = session.events.map(({ type }) => type).slice(-7)
    expect(order.indexOf('resource_view')).toBeLessThan(order.indexOf('late_context'))
    await verified(place, session)
  },
)
