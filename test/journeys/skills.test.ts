import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../src/session/live/session.ts'
import { commandSource, handSource, withSkills, type HandSkill } from '../support/hand-skills.ts'
import { verified } from '../support/resource-events.ts'
import { say } from '../support/sample-files.ts'
import { value } from '../support/story.ts'
import { WAYS, wayPlace, type Way } from '../support/ways.ts'

export function eventsOf(session: Session, ...types: readonly string[]) {
  return session.events.filter(({ type }) => types.includes(type))
}

const REVIEW: HandSkill = {
  body: 'Review the change.\n',
  sources: [handSource('guide', { kind: 'file', path: 'guide.md' }), commandSource('list', ['ls'])],
}

async function place(way: Way, skills: Record<string, HandSkill>) {
  const map = new Map(Object.entries(skills))
  const at = await wayPlace(way, { changes: withSkills(map) })
  await writeFile(join(at.workspace, 'guide.md'), 'Names are short.\n')
  return { ...at, skills: map }
}

test.each(WAYS)('%s: a message activates a Skill and hydrates its sources', async (way) => {
  const at = await place(way, { review: REVIEW })
  const session = value(await at.harness.create(at.begin))
  const skills = [{ name: 'review', args: 'now', with: [{ id: 'guide' }, { id: 'list' }] }]
  expect(await say(session, '/review now', { skills })).toBe('completed')
  console.log(
    JSON.stringify(
      session.events.map(({ type, data }) => [type, data]),
      null,
      1,
    ).slice(0, 6000),
  )
  expect(await say(session, 'Use the skill review. Then hydrate guide of review.')).toBe(
    'completed',
  )
  console.log(
    JSON.stringify(
      session.events.slice(14).map(({ type, data }) => [type, data]),
      null,
      1,
    ).slice(0, 9000),
  )
  await verified(at, session)
})
