import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { canDrawAll } from '../../support/resources/drawing.ts'
import { sampleFile, oneOfEach, picture, say } from '../../support/resources/sample-files.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// Bytes that a request already shows are not added again.

function views(session: Session): string[] {
  return session.events.flatMap((e) =>
    e.type === 'resource_view' ? [`${e.data.handle} ${e.data.by} ${e.data.outcome}`] : [],
  )
}

function results(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data.output] : []))
}

test.each(WAYS)(
  '[SR-009] %s: a view of what a window still shows adds no copy, and the Log says that it is visible',
  async (way) => {
    const place = await visionPlace(way, { changes: { model: { replay: 'window' } } })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    const shown = [`@img1 ${image.sha256}`]
    expect(place.seen.map(({ files }) => files)).toEqual([shown, shown])
    expect(place.seen.at(-1)?.notes.at(-1)).toBe(
      '[View of @img1, by person: already visible in this Turn]',
    )
    expect(views(session)).toEqual(['@img1 person visible'])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-007] [SR-009] %s: a view of what is carried from a Turn without an answer adds no copy',
  async (way) => {
    let interrupts = true
    const place = await visionPlace(way, {
      onSeen: () => {
        if (interrupts) session.interrupt()
      },
    })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('interrupted')
    interrupts = false
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    expect(projected(session).at(-1)).toEqual([`@img1 ${image.sha256} carried`])
    expect(views(session)).toEqual(['@img1 person visible'])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-009] %s: a view of what this Turn attached says where it is, and one of a part shows the part',
  async (way) => {
    const place = await visionPlace(way)
    const [, , text] = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    const ask = 'View lines 1 to 3 of @txt1. Then view lines 2 to 3 of @txt1.'
    expect(await say(session, ask, { attachments: [text.input] })).toBe('completed')
    expect(views(session)).toEqual(['@txt1 model visible', '@txt1 model projected'])
    expect(results(session)).toEqual([
      "@txt1 is already visible, in the person's message of this Turn. It is not shown a second time.",
      '@txt1 is shown below.',
    ])
    expect(place.seen.map(({ files }) => files.length)).toEqual([1, 1, 2])
    await verified(place, session)
  },
)

test.skipIf(!canDrawAll).each(WAYS)(
  '[SR-009] [SR-028] %s: the same region twice in a Turn is shown once, and another region is shown, too',
  async (way) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(7))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    const region = 'the region 0,0 20x10 of @img1'
    const other = 'the region 0,0 10x10 of @img1'
    const ask = `View ${region}. Then view ${region}. Then view ${other}.`
    expect(await say(session, ask)).toBe('completed')
    expect(views(session).map((view) => view.split(' ')[2])).toEqual([
      'projected',
      'visible',
      'projected',
    ])
    expect(results(session)[1]).toContain('in a view of this Turn')
    expect(place.seen.slice(1).map(({ files }) => files.length)).toEqual([0, 1, 1, 2])
    await verified(place, session)
  },
)
