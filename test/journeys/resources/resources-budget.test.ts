import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/model/limits.ts'
import type { Session } from '../../../src/session/session.ts'
import { png } from '../../support/resources/drawing.ts'
import { sampleFile, say } from '../../support/resources/sample-files.ts'
import { LONG } from '../../support/host/long.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS, type Way } from '../../support/providers/ways.ts'

// The files of one request share one limit, whatever added them.

/** Large files are slow: `npm test` takes one way, and `npm run test:long` all others. */
const SOME_WAYS: readonly Way[] = LONG ? ['messages', ...WAYS] : ['in process']
const SEVEN_MIB = 7 * 1024 * 1024

/** The bytes of files that each request recorded as shown, and their handles. */
function shown(session: Session): { handles: number; bytes: number }[] {
  return session.events.flatMap((e) => {
    if (e.type !== 'provider_request') return []
    const { projected = [] } = e.data
    return [
      { handles: projected.length, bytes: projected.reduce((sum, one) => sum + one.bytes, 0) },
    ]
  })
}

async function threePictures(way: Way, replay: 'attach-turn' | 'window') {
  const place = await visionPlace(way, { changes: { model: { replay } } })
  const session = value(await place.harness.create(place.begin))
  const [first, second, third] = await Promise.all(
    ['a.png', 'b.png', 'c.png'].map((name, at) =>
      sampleFile(place.workspace, name, png(4, 4, Buffer.alloc(48, at), SEVEN_MIB - at)),
    ),
  )
  const given = [first, second, third].flatMap((file) => (file === undefined ? [] : [file.input]))
  for (const attachments of [given.slice(0, 2), given.slice(2)])
    expect(await say(session, 'Look.', { attachments })).toBe('completed')
  return { place, session }
}

test.each(SOME_WAYS)(
  '[SR-009] %s: the view that would exceed the files of a request is refused, says what is visible, and fits the next Turn',
  async (way) => {
    const { place, session } = await threePictures(way, 'attach-turn')
    const ask = 'View @img1. Then view @img2. Then view @img3.'
    expect(await say(session, ask)).toBe('completed')
    expect(await say(session, 'What came back?', { views: ['@img3'] })).toBe('completed')
    const views = session.events.flatMap((e) =>
      e.type === 'resource_view' ? [`${e.data.handle} ${e.data.by} ${e.data.outcome}`] : [],
    )
    expect(views).toEqual([
      '@img1 model projected',
      '@img2 model projected',
      '@img3 model over_budget',
      '@img3 person projected',
    ])
    const refused = session.events.findLast((e) => e.type === 'tool_result')?.data
    expect(refused?.outcome).toBe('failed')
    expect(refused?.output).toMatch(
      /^@img3 is not shown: it has 7,3\d\d,\d{3} bytes, and files of 14,6\d\d,\d{3} bytes are visible in this request; the limit is 18,874,368 bytes together\. View a region or a smaller size, or view it in another Turn\.$/,
    )
    const { length } = shown(session).filter(({ bytes }) => bytes > LIMITS.request_resource_bytes)
    expect(length).toBe(0)
    await verified(place, session)
  },
)

test.each(SOME_WAYS)(
  '[SR-009] %s: in a window the oldest files are retired so that new ones fit, with a sentence that stays',
  async (way) => {
    const { place, session } = await threePictures(way, 'window')
    expect(await say(session, 'What came back?', { views: ['@img1'] })).toBe('completed')
    expect(shown(session).map(({ handles }) => handles)).toEqual([2, 2, 2])
    const retired = session.events.flatMap((e) =>
      e.type === 'resource_retired' ? [e.data.why] : [],
    )
    expect(retired).toEqual(['over_budget'])
    const line =
      '[@img1 is not shown: the files in a request may have at most 18874368 bytes together, and it does not fit]'
    expect(place.seen.map(({ notes }) => notes.includes(line))).toEqual([false, true, true])
    expect(place.seen.at(-1)?.notes.at(-1)).toBe(
      '[View of @img1, by person: not shown: it does not fit next to the other files in this request]',
    )
    await verified(place, session)
  },
)
