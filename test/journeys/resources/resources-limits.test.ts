import { expect, test } from 'vitest'
import { canDrawAll, png } from '../../support/resources/drawing.ts'
import { sampleFile, lastAnswer, picture, say } from '../../support/resources/sample-files.ts'
import { projected, resources, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// Files that a model does not accept are reported to the model and to the user; nothing is omitted silently.

test.each(WAYS)(
  '[SR-021] [TI-120] %s: of a hundred images a model is shown as many as it accepts, and informed about the others',
  async (way) => {
    const place = await visionPlace(way, {
      changes: { model: { factsOf: () => ({ image_count: 20 }) } },
    })
    const bytes = picture(8)
    const file = await sampleFile(place.workspace, 'a.png', bytes)
    const session = value(await place.harness.create(place.begin))
    const attachments = Array.from({ length: 100 }, () => file.input)
    expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
    const [request] = place.seen
    const handles = Array.from({ length: 100 }, (_, n) => `@img${n + 1}`)
    expect(request?.files).toEqual(handles.slice(0, 20).map((handle) => `${handle} ${file.sha256}`))
    const absent = request?.notes.filter((note) => note.includes(' is not shown: ')) ?? []
    expect(absent.map((note) => note.split(' ')[0])).toEqual(
      handles.slice(20).map((handle) => `[${handle}`),
    )
    expect(request?.notes.filter((note) => note.includes(': image, ')).length).toBe(100)
    const notices = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))
    expect(notices).toEqual(['resource_not_shown'])
    expect(projected(session).map((each) => each.length)).toEqual([20])
    await verified(place, session)
  },
)

test.skipIf(!canDrawAll).each(WAYS)(
  '[SR-026] [SR-028] %s: an image larger than the model accepts is sent as a smaller variant, which is recorded with how it was made',
  async (way) => {
    const place = await visionPlace(way, {
      changes: { model: { factsOf: () => ({ image_side_pixels: 64 }) } },
    })
    const image = await sampleFile(
      place.workspace,
      'a.png',
      png(200, 100, Buffer.alloc(60_000, 200)),
    )
    const session = value(await place.harness.create(place.begin))
    const attachments = [image.input]
    expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
    expect(await say(session, 'View @img1')).toBe('completed')
    const all = session.events.flatMap((e) =>
      e.type === 'provider_request' ? [e.data.projected ?? []] : [],
    )
    const [[first] = [], , [viewed] = []] = all
    expect([first?.content_sha256, viewed?.content_sha256]).toEqual([image.sha256, image.sha256])
    expect([first?.made?.max_side, first?.variant === viewed?.variant]).toEqual([64, true])
    const sent = `@img1 ${first?.variant?.slice(0, 64)}`
    expect(place.seen.map(({ files }) => files)).toEqual([[sent], [], [sent]])
    expect(lastAnswer(session)).toMatch(/@img1 is a \w+ picture, 64 by 32 pixels/)
    const line = '[@img1 is shown at 64x32 of 200x100 pixels]'
    expect(place.seen.map(({ notes }) => notes.includes(line))).toEqual([true, false, true])
    const notices = session.events.flatMap((e) => (e.type === 'notice' ? [e.data] : []))
    expect(notices.map(({ code }) => code)).toEqual(['resource_reduced'])
    expect(notices[0]?.text).toContain('@img1 (64x32 of 200x100 pixels)')
    expect(value(await session.resourceBytes('@img1')).equals(image.bytes)).toBe(true)
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-021] [SR-033] %s: a model without image support gets a description of the image, and says so',
  async (way) => {
    const place = await visionPlace(way, {
      changes: { model: { factsOf: () => ({ images: false }) } },
    })
    const image = await sampleFile(place.workspace, 'a.png', picture(7))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'What do you see?', { attachments: [image.input] })).toBe('completed')
    expect(lastAnswer(session)).toContain('I see only the description of @img1')
    expect([place.seen[0]?.files, projected(session), resources(session).length]).toEqual([
      [],
      [[]],
      1,
    ])
    await verified(place, session)
  },
)
