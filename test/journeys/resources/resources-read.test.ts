import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { sampleFile, oneOfEach, picture, say } from '../../support/resources/sample-files.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// A model reads an image or a PDF of the workspace like a text, and it is shown.

/** The Events about Resources, in the order of the Log. */
function resourceEvents(session: Session): string[] {
  return session.events.flatMap((e) => {
    if (e.type === 'resource_ingested') return [`${e.data.descriptor.handle} by ${e.data.origin}`]
    return e.type === 'resource_view' ? [`${e.data.handle} ${e.data.outcome}`] : []
  })
}

function results(session: Session): string[][] {
  return session.events.flatMap((e) =>
    e.type === 'tool_result' ? [[e.data.outcome, ...e.data.output.split('\n')]] : [],
  )
}

test.each(WAYS)(
  '[SR-009] %s: an image and a PDF that are read are shown for the Turn, described, and attached to no answer',
  async (way) => {
    const place = await visionPlace(way)
    const [image] = await oneOfEach(place.workspace)
    const session = value(
      await place.harness.create({ ...place.begin, permissionMode: 'read-only' }),
    )
    expect(await say(session, 'Read harbour.png. Then read tides.pdf.')).toBe('completed')
    expect(await say(session, 'What came back?')).toBe('completed')
    expect(resourceEvents(session)).toEqual([
      '@img1 by tool',
      '@img1 projected',
      '@pdf2 by tool',
      '@pdf2 projected',
    ])
    expect(results(session).map(([outcome, , text]) => [outcome, text])).toEqual([
      ['ok', '@img1 is shown below.'],
      ['ok', '@pdf2 is shown below.'],
    ])
    expect(results(session)[0]?.[1]).toMatch(/^\[@img1: image, "harbour.png", image\/png, /)
    const shown = projected(session).map((each) => each.map((file) => file.replace(/ turn$/, '')))
    expect(place.seen.map(({ files }) => files)).toEqual(shown)
    expect(shown.map((files) => files.length)).toEqual([0, 1, 2, 0])
    expect(shown[1]).toEqual([`@img1 ${image.sha256}`])
    const attached = session.events.flatMap((e) =>
      e.type === 'assistant_message' ? (e.data.resources ?? []) : [],
    )
    expect(attached).toEqual([])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-004] [SR-009] %s: known content keeps its Resource, and is not shown twice',
  async (way) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    await copyFile(image.path, join(place.workspace, 'b.png'))
    const session = value(await place.harness.create(place.begin))
    const attachments = [image.input]
    expect(await say(session, 'Read b.png', { attachments })).toBe('completed')
    expect(await say(session, 'Read a.png')).toBe('completed')
    expect(resourceEvents(session)).toEqual(['@img1 visible', '@img1 projected'])
    expect(projected(session).map((each) => each.length)).toEqual([1, 1, 0, 1])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-017] [SR-021] %s: an image that the model does not accept, or that may not be sent, is reported as such',
  async (way) => {
    for (const [changes, outcome, text] of [
      [
        { model: { factsOf: () => ({ images: false }) } },
        'failed',
        /^a\.png cannot be shown: this model does not accept images\.$/,
      ],
      [{ person: { upload: { upload: 'deny' } } }, 'denied', /^\[@img1: image, /],
    ] as const) {
      const place = await visionPlace(way, { changes })
      await sampleFile(place.workspace, 'a.png', picture(1))
      const session = value(await place.harness.create(place.begin))
      expect(await say(session, 'Read a.png')).toBe('completed')
      expect(results(session).map(([word]) => word)).toEqual([outcome])
      expect(results(session)[0]?.[1]).toMatch(text)
      expect(projected(session).flat()).toEqual([])
      await verified(place, session)
    }
  },
)
