import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hydratedText, hydration } from '../../../src/prompt/words/skills.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { handSource, type HandSkill } from '../../support/session/hand-skills.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { oneOfEach, say } from '../../support/resources/sample-files.ts'
import {
  decisions,
  hydrations,
  messagesIn,
  results,
  skillPlace,
  typesOfLastTurn,
  type SkillPlace,
} from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

const GUIDED: HandSkill = {
  body: 'Follow the guide.\n',
  sources: [handSource('guide', { kind: 'file', path: 'guide.md' })],
}
const WITH_GUIDE = { skills: [{ name: 'guided', with: [{ id: 'guide' }] }] }

/** The texts of the last request, without the answers: the model may repeat a fact in its own words. */
function textsSeen({ seen }: SkillPlace): string[] {
  return messagesIn(seen.at(-1)?.segments ?? []).flatMap(([role, text]) =>
    role === 'assistant' ? [] : [text],
  )
}

test.each(WAYS)(
  '[SH-042] %s: after a checkpoint, hydration behaves as before, and a resumed Session sends the same bytes',
  async (way) => {
    const at = await skillPlace(way, { guided: GUIDED })
    await writeFile(join(at.workspace, 'guide.md'), 'Names are short.\n')
    const session = value(await at.harness.create(at.begin))
    expect(await say(session, 'Thanks.', WITH_GUIDE)).toBe('completed')
    expect(await say(session, 'Thanks again.')).toBe('completed')
    await recordCheckpoint(at.parts, session, 1)
    await writeFile(join(at.workspace, 'guide.md'), 'Names are long.\n')
    expect(await say(session, 'Thanks.', WITH_GUIDE)).toBe('completed')
    const second = hydrations(session).at(-1)
    if (second === undefined) throw new Error('nothing was hydrated')
    const texts = () => textsSeen(at)
    // The checkpoint replaced the first one; its text is nowhere.
    expect(texts().join('\n')).not.toContain('Names are short.')
    expect(texts().slice(-2)).toEqual([
      hydration(second),
      hydratedText('guide', 'Names are long.\n'),
    ])
    const shown = texts().length
    await session.close()
    // Another process, on a disk without the Skill.
    const later = await skillPlace(way, {}, { root: at.root })
    const resumed = value(await later.harness.open(session.id))
    expect(await say(resumed, 'Thanks once more.')).toBe('completed')
    const seen = textsSeen(later)
    expect(seen.slice(0, shown - 1)).toEqual(texts().slice(0, shown - 1))
    expect(seen.join('\n')).not.toContain('Names are long.')
    const last = resumed.events.findLast((e) => e.type === 'provider_request')
    expect(last?.data).toMatchObject({ prefix_break: { cause: 'transient_retired' } })
    await verified(later, resumed)
  },
)

test.each(WAYS)(
  '[PC-070] %s: after a checkpoint a Skill has no effect until it is activated again',
  async (way) => {
    const at = await skillPlace(way, { guided: GUIDED })
    await writeFile(join(at.workspace, 'guide.md'), 'Names are short.\n')
    const session = value(await at.harness.create(at.begin))
    expect(await say(session, 'Thanks.', WITH_GUIDE)).toBe('completed')
    expect(await say(session, 'Thanks again.')).toBe('completed')
    await recordCheckpoint(at.parts, session, 1)
    const bodies = () =>
      messagesIn(at.seen.at(-1)?.segments ?? []).filter(([, text]) => text === GUIDED.body).length
    expect(await say(session, 'Hydrate guide of guided')).toBe('completed')
    expect([bodies(), results(session).at(-1)?.outcome]).toEqual([0, 'failed'])
    expect(await say(session, 'Use the skill guided. Then hydrate guide of guided')).toBe(
      'completed',
    )
    expect([bodies(), results(session).at(-1)?.outcome]).toEqual([1, 'ok'])
    await verified(at, session)
  },
)

test.each(WAYS)('%s: a Resource is hydrated as a view of its Turn', async (way) => {
  const sources = [
    handSource('text', { kind: 'resource_view', handle: '@txt3' }),
    handSource('picture', { kind: 'resource_view', handle: 'img1' }),
    handSource('missing', { kind: 'resource_view', handle: '@img9' }),
  ]
  const at = await skillPlace(way, { look: { sources } })
  const files = await oneOfEach(at.workspace)
  const session = value(await at.harness.create(at.begin))
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'Look.', { attachments })).toBe('completed')
  const skills = [{ name: 'look', with: sources.map(({ id }) => ({ id })) }]
  expect(await say(session, 'Thanks.', { skills })).toBe('completed')
  expect(
    hydrations(session).map((one) => [one.status, one.handle, one.output, one.error?.kind]),
  ).toEqual([
    ['ok', '@txt3', '', undefined],
    ['ok', '@img1', '', undefined],
    ['failed', undefined, '', 'not_found'],
  ])
  const views = session.events.flatMap((e) => (e.type === 'resource_view' ? [e.data] : []))
  expect(views.map(({ by, handle, outcome }) => [by, handle, outcome])).toEqual([
    ['hydration', '@txt3', 'projected'],
    ['hydration', '@img1', 'projected'],
  ])
  const [image, , text] = files
  expect(at.seen.at(-1)?.files).toEqual([`@txt3 ${text.sha256}`, `@img1 ${image.sha256}`])
  expect(projected(session).at(-1)).toEqual([
    `@txt3 ${text.sha256} turn`,
    `@img1 ${image.sha256} turn`,
  ])
  expect(await say(session, 'Thanks again.')).toBe('completed')
  expect(at.seen.at(-1)?.files).toEqual([])
  await verified(at, session)
})

test('the rules for uploads apply to a hydrated Resource', async () => {
  const sources = [handSource('text', { kind: 'resource_view', handle: '@txt3' })]
  const at = await skillPlace('in process', { look: { sources } })
  const files = await oneOfEach(at.workspace)
  const session = value(await at.harness.create(at.begin))
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'Look.', { attachments })).toBe('completed')
  await session.close()
  const changes = { person: { upload: { upload: 'deny' } } } as const
  const later = await skillPlace('in process', { look: { sources } }, { root: at.root, changes })
  const resumed = value(await later.harness.open(session.id))
  const skills = [{ name: 'look', with: [{ id: 'text' }] }]
  expect(await say(resumed, 'Thanks.', { skills })).toBe('completed')
  expect(hydrations(resumed)).toMatchObject([
    { status: 'denied', handle: '@txt3', error: { kind: 'hydration_denied' } },
  ])
  expect(
    decisions(resumed).map(({ subject, decision }) => [subject.split(':')[0], decision]),
  ).toEqual([
    ['hydration', 'allowed'],
    ['upload', 'denied'],
  ])
  expect(later.seen.at(-1)?.files).toEqual([])
  expect(typesOfLastTurn(resumed)).toContain('resource_view')
})
