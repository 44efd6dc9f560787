import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import {
  sampleFile,
  lastAnswer,
  picture,
  say,
  type SampleFile,
} from '../../support/resources/sample-files.ts'
import { projected, resources, verified } from '../../support/resources/resource-events.ts'
import { visionPlace, type VisionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// Bytes that are lost, and bytes that a provider refuses.

const STATES = ['missing', 'damaged'] as const

async function corrupt(
  { root, workspace }: VisionPlace,
  { sha256 }: SampleFile,
  state: (typeof STATES)[number],
): Promise<void> {
  await registerDamage(root, 'blobs', `A payload is ${state}.`)
  const blob = join(workspace, '.hawser', 'blobs', `${sha256}.png`)
  await rm(blob)
  if (state === 'damaged') await writeFile(blob, picture(99))
}

function views(session: Session): string[] {
  return session.events.flatMap((e) =>
    e.type === 'resource_view' ? [`${e.data.handle} ${e.data.by} ${e.data.outcome}`] : [],
  )
}

/** Requests that showed lost bytes cannot be verified; all others are. */
async function unproven({ harness }: VisionPlace, session: Session): Promise<string[]> {
  const { requests } = value(await harness.verify(session.id, { requests: true }))
  return (requests?.mismatches ?? []).map(({ what }) => what)
}

const CASES = WAYS.flatMap((way) => STATES.map((state) => ({ way, state })))

test.each(CASES)(
  '[SR-031] [TI-121] $way: an image in the window whose payload is $state does not stop the next Turn, which reports it',
  async ({ way, state }) => {
    const place = await visionPlace(way, { changes: { model: { replay: 'window' } } })
    const [bad, good] = [
      await sampleFile(place.workspace, 'a.png', picture(1)),
      await sampleFile(place.workspace, 'b.png', picture(2)),
    ]
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [bad.input, good.input] })).toBe('completed')
    expect(await say(session, 'Well.')).toBe('completed')
    await corrupt(place, bad, state)
    expect(await say(session, 'What do you see?')).toBe('completed')
    expect(lastAnswer(session)).toContain('@img2 is a PNG picture')
    expect(lastAnswer(session)).not.toContain('@img1 is a')
    expect(await say(session, 'And now?')).toBe('completed')
    const [both, one] = [[bad, good], [good]].map((files) => files.map(({ sha256 }) => sha256))
    expect(place.seen.map(({ files }) => files.map((file) => file.split(' ')[1]))).toEqual([
      both,
      both,
      one,
      one,
    ])
    const line = `[@img1 is not shown: its payload is ${state}]`
    expect(place.seen.map(({ notes }) => notes.includes(line))).toEqual([false, false, true, true])
    expect(place.seen.every(({ texts }) => texts[0] === 'Look.')).toBe(true)
    const notices = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))
    expect(notices).toEqual([`payload_${state}`])
    const retired = session.events.flatMap((e) => (e.type === 'resource_retired' ? [e.data] : []))
    expect(retired).toEqual([
      { resource_id: resources(session)[0]?.resource_id, why: `payload_${state}` },
    ])
    const listed = value(await session.resources())
    expect(listed.map(({ payload }) => payload)).toEqual([state, 'present'])
    expect(await unproven(place, session)).toEqual(['payload', 'payload'])
  },
)

test.each(CASES)(
  '[SR-031] [SR-033] $way: a view of a payload that is $state has that outcome, whether the user or the model requests it, and the model does not pretend',
  async ({ way, state }) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    await corrupt(place, image, state)
    expect(await say(session, 'View @img1 and say what you see.')).toBe('completed')
    expect(lastAnswer(session)).toContain('Failed: view @img1')
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    expect(lastAnswer(session)).toContain('I see only the description of @img1')
    expect(views(session)).toEqual([`@img1 model ${state}`, `@img1 person ${state}`])
    expect(projected(session).slice(1)).toEqual([[], [], []])
    expect(place.seen.slice(1).every(({ files }) => files.length === 0)).toBe(true)
    const results = session.events.flatMap((e) =>
      e.type === 'tool_result' ? [e.data.outcome] : [],
    )
    expect(results).toEqual(['failed'])
    expect(await unproven(place, session)).toEqual(['payload'])
  },
)

test.each(WAYS.filter((way) => way !== 'in process'))(
  '[SR-033] %s: an image that the provider refuses causes one more call and is never sent again, not even by a view',
  async (way) => {
    const place = await visionPlace(way, { switches: 'refuse-images,once' })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'What do you see?', { attachments: [image.input] })).toBe('completed')
    expect(place.vendor?.requests.map(({ status }) => status)).toEqual([400, 200])
    expect(lastAnswer(session)).toContain('I see only the description of @img1')
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(lastAnswer(session)).toContain('Failed: view @img1')
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    expect(place.seen.every(({ files }) => files.length === 0)).toBe(true)
    expect(place.vendor?.requests.map(({ status }) => status)).toEqual([400, 200, 200, 200, 200])
    expect(projected(session).map((each) => each.length)).toEqual([1, 0, 0, 0, 0])
    const gone = session.events.flatMap((e) => (e.type === 'resource_quarantined' ? [e.data] : []))
    expect(gone.map(({ resource_id }) => resource_id)).toEqual([resources(session)[0]?.resource_id])
    const listed = value(await session.resources())
    expect(listed.map(({ state, payload }) => [state, payload])).toEqual([
      ['quarantined', 'present'],
    ])
    await verified(place, session)
  },
)

test.each(WAYS.filter((way) => way !== 'in process'))(
  '[SR-033] %s: an image that is refused in a view is reported as not shown, after its announcement',
  async (way) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    await session.close()
    const { root, vendor, seen } = place
    const again = await visionPlace(way, { root, vendor, seen, switches: 'refuse-images' })
    const resumed = value(await again.harness.open(session.id))
    expect(await say(resumed, 'View @img1 and say what you see.')).toBe('completed')
    expect(lastAnswer(resumed)).not.toContain('@img1 is a PNG picture')
    expect(seen.at(-1)?.files).toEqual([])
    expect(seen.at(-1)?.notes.at(-1)).toMatch(/^\[@img1 is not shown: /)
    await verified(again, resumed)
  },
)

test.each(WAYS)(
  '%s: a dropped Resource is no longer shown, in the window and by views, and stays described',
  async (way) => {
    const place = await visionPlace(way, { changes: { model: { replay: 'window' } } })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('completed')
    expect(await say(session, 'Well.')).toBe('completed')
    value(await session.dropResource('@img1'))
    expect(await say(session, 'View @img1')).toBe('completed')
    const shown = [`@img1 ${image.sha256}`]
    expect(place.seen.map(({ files }) => files)).toEqual([shown, shown, [], []])
    expect(place.seen.every(({ notes }) => notes[0]?.startsWith('[@img1: image'))).toBe(true)
    await verified(place, session)
  },
)
