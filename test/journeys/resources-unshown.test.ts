import { expect, test } from 'vitest'
import type { Session } from '../../src/session/live/session.ts'
import { damagedOnPurpose } from '../support/damaged-on-purpose.ts'
import { png } from '../support/drawing.ts'
import type { Changes } from '../support/harness-parts.ts'
import { givenFile, picture, say } from '../support/given-files.ts'
import { projected, verified } from '../support/resource-events.ts'
import { seeingPlace } from '../support/seeing-place.ts'
import { value } from '../support/story.ts'
import { WAYS } from '../support/ways.ts'

// What a model was never shown stays told: nobody may believe on a later Turn that it was seen.

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

/** More than fits a request of 60,000 bytes, which is enough for all else. */
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
  '[SR-033] $way, $replay: a picture that $title is told as not shown on every Turn, and that breaks no prefix',
  async ({ way, replay, changes, reason }) => {
    const model = { ...changes.model, replay }
    const here = await seeingPlace(way, { changes: { ...changes, model } })
    const image = await givenFile(here.workspace, 'a.png', LARGE)
    const session = value(await here.harness.create(here.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'What came back?')).toBe('completed')
    await session.close()
    const again = value(await here.harness.open(session.id))
    expect(await say(again, 'And now?')).toBe('completed')
    const told = here.seen.map(({ notes }) => notes.filter((note) => note.includes('not shown')))
    const line = `[@img1 is not shown: ${reason}]`
    expect(told).toEqual([[line], [line], [line]])
    expect(projected(again)).toEqual([[], [], []])
    expect(breaks(again)).toEqual([])
    await verified(here, again)
  },
)

test.each(WAYS)(
  '[SR-033] %s: a picture of a Turn without an answer that is denied on the next is told there, and stays told',
  async (way) => {
    const ask = { upload: 'ask' } as const
    let interrupts = true
    const here = await seeingPlace(way, {
      changes: {
        person: {
          upload: ask,
          ask: async () => {
            if (interrupts) session.interrupt()
            return { allowed: false, scope: 'once', by: 'person' }
          },
        },
      },
    })
    const image = await givenFile(here.workspace, 'a.png', picture(1))
    const session = value(await here.harness.create(here.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('interrupted')
    interrupts = false
    expect(await say(session, 'Look now.')).toBe('completed')
    expect(await say(session, 'And now?')).toBe('completed')
    const line = '[@img1 is not shown: sending it to the model was not permitted]'
    expect(here.seen.map(({ notes }) => notes.slice(1))).toEqual([[line], [line]])
    expect(breaks(session)).toEqual([])
    await verified(here, session)
  },
)

test.each(WAYS.filter((way) => way !== 'in process'))(
  '[SR-033] %s: a picture that the provider refused stays told, and a view of it has its own outcome, whoever asks',
  async (way) => {
    const here = await seeingPlace(way, { switches: 'refuse-images,once' })
    const image = await givenFile(here.workspace, 'a.png', picture(1))
    const session = value(await here.harness.create(here.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    const line = "[@img1 is not shown: the model's provider refused it]"
    expect(here.seen.every(({ notes }) => notes[1] === line)).toBe(true)
    const views = session.events.flatMap((e) =>
      e.type === 'resource_view' ? [`${e.data.by} ${e.data.outcome}`] : [],
    )
    expect(views).toEqual(['model quarantined', 'person quarantined'])
    expect(here.seen.at(-1)?.notes.slice(2)).toEqual([
      "[View of @img1, by model: not shown: the model's provider refused it]",
      "[View of @img1, by person: not shown: the model's provider refused it]",
    ])
    await verified(here, session)
  },
)

test.each(WAYS)(
  '[SR-031] %s: what a later view cannot show stays told behind that view, and changes no earlier message',
  async (way) => {
    const here = await seeingPlace(way)
    const shown = await givenFile(here.workspace, 'a.png', picture(1))
    const session = value(await here.harness.create(here.begin))
    expect(await say(session, 'Look.', { attachments: [shown.input] })).toBe('completed')
    const [key = ''] = session.events.flatMap((e) =>
      e.type === 'user_message'
        ? (e.data.resources ?? []).flatMap((one) => (one.kind === 'link' ? [] : [one.blob]))
        : [],
    )
    await damagedOnPurpose(here.root, 'blobs', 'A payload is missing.')
    value(await here.parts.log.store.delete(key))
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(await say(session, 'And now?')).toBe('completed')
    const told = here.seen.map(({ notes }) => notes.filter((note) => /not shown|cannot/.test(note)))
    const line = '[View of @img1, by model: cannot be shown: its payload is missing]'
    expect(told).toEqual([[], [], [line], [line]])
  },
)
