import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import {
  sampleFile,
  lastAnswer,
  oneOfEach,
  picture,
  say,
} from '../../support/resources/sample-files.ts'
import { projected, resources, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// Upload rules are applied where bytes would leave the machine, and each decision is recorded.

function neverAsk(): Ask {
  return async ({ reason }) => {
    throw new Error(`unexpected question: ${reason}`)
  }
}

/** Decisions about Resources, by handle. */
function decisions(session: Session): string[] {
  const handles = new Map(resources(session).map((one) => [one.resource_id, one.handle]))
  return session.events.flatMap((e) => {
    if (e.type !== 'permission_decision' || !e.data.subject.startsWith('upload:')) return []
    const [, id = ''] = e.data.subject.split(':')
    const handle = [...handles].find(([one]) => one === id)?.[1]
    return [`${handle} ${e.data.decision} ${e.data.by}`]
  })
}

test.each(WAYS)(
  '[SR-016] [SR-017] %s: without rules, nothing is asked or recorded for an upload',
  async (way) => {
    const place = await visionPlace(way, { changes: { person: { ask: neverAsk() } } })
    const files = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    const attachments = files.map(({ input }) => input)
    expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
    expect([decisions(session), place.seen[0]?.files.length]).toEqual([[], 3])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-016] [SR-017] %s: a Resource that must not be sent is stored, described, reported as withheld, and denied to views, too',
  async (way) => {
    const changes = { person: { ask: neverAsk(), upload: { upload: 'deny' } } } as const
    const place = await visionPlace(way, { changes })
    const image = await sampleFile(place.workspace, 'a.png', picture(1))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'What do you see?', { attachments: [image.input] })).toBe('completed')
    expect(decisions(session)).toEqual(['@img1 denied policy'])
    expect(place.seen[0]?.notes.map((note) => note.split(/[:,]/)[0])).toEqual([
      '[@img1',
      '[@img1 is not shown',
    ])
    expect(lastAnswer(session)).toContain('I see only the description of @img1')
    expect(value(await session.resourceBytes('@img1')).equals(image.bytes)).toBe(true)
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(lastAnswer(session)).toContain('Denied: ')
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    const outcomes = session.events.flatMap((e) =>
      e.type === 'resource_view' ? [`${e.data.by} ${e.data.outcome}`] : [],
    )
    expect(outcomes).toEqual(['model denied', 'person denied'])
    expect(projected(session).flat()).toEqual([])
    expect(place.seen.flatMap(({ files }) => files)).toEqual([])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-017] %s: rules apply by kind and size, and allowed uploads continue',
  async (way) => {
    const upload = { upload_image: 'deny', upload_deny_over: 500 } as const
    const place = await visionPlace(way, { changes: { person: { ask: neverAsk(), upload } } })
    const [image, pdf, text] = await oneOfEach(place.workspace)
    expect(pdf.bytes.length).toBeGreaterThan(500)
    const session = value(await place.harness.create(place.begin))
    const attachments = [image.input, pdf.input, text.input]
    expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
    expect(decisions(session)).toEqual(['@img1 denied policy', '@pdf2 denied policy'])
    expect(place.seen.map(({ files }) => files)).toEqual([[`@txt3 ${text.sha256}`]])
    expect(projected(session)).toEqual([[`@txt3 ${text.sha256} turn`]])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-017] %s: with the setting ask, the person is asked once per file, and the answer applies and is recorded',
  async (way) => {
    const questions: string[] = []
    const ask: Ask = async ({ tool, upload }) => {
      questions.push(`${tool} ${upload?.handle ?? ''}`)
      return { allowed: questions.length === 2, scope: 'once' }
    }
    const place = await visionPlace(way, {
      changes: { person: { ask, upload: { upload: 'ask' } } },
    })
    const first = await sampleFile(place.workspace, 'a.png', picture(1))
    const second = await sampleFile(place.workspace, 'b.png', picture(2))
    const session = value(await place.harness.create(place.begin))
    const attachments = [first.input, second.input]
    expect(await say(session, 'Read a.txt', { attachments })).toBe('completed')
    expect(await say(session, 'What came back?')).toBe('completed')
    expect(questions).toEqual(['upload @img1', 'upload @img2'])
    expect(decisions(session)).toEqual(['@img1 denied person', '@img2 allowed person'])
    const shown = [`@img2 ${second.sha256}`]
    expect(place.seen.map(({ files }) => files)).toEqual([shown, shown, []])
    await verified(place, session)
  },
)
