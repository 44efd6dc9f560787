import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { png } from '../../support/resources/drawing.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { sampleFile, picture, say } from '../../support/resources/sample-files.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// A Resource that was never shown stays reported as such, so that no later Turn assumes that the model saw it.

interface Unshown {
  readonly title: string
  readonly changes: Changes
  readonly reason: string
}

const UNSHOWN: readonly Unshown[] = [
  {
    title: 'may not be sent',
    changes: { person: { upload: { upload: 'deny' } } },
    reason: 'sending it to the model was not permitted',
  },
  {
    title: 'its model does not accept',
    changes: { model: { factsOf: () => ({ images: false }) } },
    reason: 'the model of this Turn does not accept images',
  },
  {
    title: 'is one too many',
    changes: { model: { factsOf: () => ({ image_count: 0 }) } },
    reason: 'the model of this Turn accepts at most 0 images in a request',
  },
  {
    title: 'is too large for a request',
    changes: { model: { factsOf: () => ({ request_bytes: 60_000 }) } },
    reason: 'with it, the request would exceed 60000 bytes, the limit of the model of this Turn',
  },
]

/** Too large for a request of 60,000 bytes, which has room for everything else. */
const LARGE = png(100, 100, Buffer.alloc(30_000, 200), 46_000)

const CASES = WAYS.flatMap((way) =>
  UNSHOWN.flatMap((unshown) =>
    (['attach-turn', 'window'] as const).map((replay) => ({ way, replay, ...unshown })),
  ),
)

function breaks(session: Session): unknown[] {
  return session.events.flatMap((e) =>
    e.type === 'provider_request' && e.data.prefix_break !== undefined ? [e.data.prefix_break] : [],
  )
}

test.each(CASES)(
  '[SR-033] $way, $replay: an image that $title is reported as not shown on every Turn, and this breaks no prefix',
  async ({ way, replay, changes, reason }) => {
    const model = { ...changes.model, replay }
    const place = await visionPlace(way, { changes: { ...changes, model } })
    const image = await sampleFile(place.workspace, 'a.png', LARGE)
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'What came back?')).toBe('completed')
    await session.close()
    const again = value(await place.harness.open(session.id))
    expect(await say(again, 'And now?')).toBe('completed')
    const notShown = place.seen.map(({ notes }) =>
      notes.filter((note) => note.includes('not shown')),
    )
    const line = `[@img1 is not shown: ${reason}]`
    expect(notShown).toEqual([[line], [line], [line]])
    expect(projected(again)).toEqual([[], [], []])
    expect(breaks(again)).toEqual([])
    await verified(place, again)
  },
)

test.each(WAYS)(
  '[SR-033] %s: an image of a Turn without an answer that is denied on the next Turn is reported there and on later Turns',
  async (way) => {
    const ask = { upload: 'ask' } as const
    let interrupts = true
    const place = await visionPlace(way, {
      changes: {
        person: {
          upload: ask,
          ask: async () => {
            if (interrupts) session.interrupt()
            return { allowed: false, scope: 'once' }
          },
        },
      },
    })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('interrupted')
    interrupts = false
    expect(await say(session, 'Look now.')).toBe('completed')
    expect(await say(session, 'And now?')).toBe('completed')
    const line = '[@img1 is not shown: sending it to the model was not permitted]'
    expect(place.seen.map(({ notes }) => notes.slice(1))).toEqual([[line], [line]])
    expect(breaks(session)).toEqual([])
    await verified(place, session)
  },
)

test.each(WAYS.filter((way) => way !== 'in process'))(
  '[SR-033] %s: an image that the provider refused stays reported, and a view of it has its own outcome, for a model and for a person',
  async (way) => {
    const place = await visionPlace(way, { switches: 'refuse-images,once' })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    const line = "[@img1 is not shown: the model's provider refused it]"
    expect(place.seen.every(({ notes }) => notes[1] === line)).toBe(true)
    const views = session.events.flatMap((e) =>
      e.type === 'resource_view' ? [`${e.data.by} ${e.data.outcome}`] : [],
    )
    expect(views).toEqual(['model quarantined', 'person quarantined'])
    expect(place.seen.at(-1)?.notes.slice(2)).toEqual([
      "[View of @img1, by model: not shown: the model's provider refused it]",
      "[View of @img1, by person: not shown: the model's provider refused it]",
    ])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-031] %s: a later view that shows nothing stays reported after that view, and changes no earlier message',
  async (way) => {
    const place = await visionPlace(way)
    const shown = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [shown.input] })).toBe('completed')
    const [key = ''] = session.events.flatMap((e) =>
      e.type === 'user_message'
        ? (e.data.resources ?? []).flatMap((one) => (one.kind === 'link' ? [] : [one.blob]))
        : [],
    )
    await registerDamage(place.root, 'blobs', 'A payload is missing.')
    value(await place.parts.log.store.delete(key))
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(await say(session, 'And now?')).toBe('completed')
    const notShown = place.seen.map(({ notes }) =>
      notes.filter((note) => /not shown|cannot/.test(note)),
    )
    const line = '[View of @img1, by model: cannot be shown: its payload is missing]'
    expect(notShown).toEqual([[], [], [line], [line]])
  },
)
