import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  catalogAt,
  skillPlace,
  skillText,
  type SkillTestPlace,
} from '../../test/support/skills/skill-place.ts'
import { readTrusted, trust as trustContent } from '../host/trust.ts'
import { skillTrust } from './skill-trust.ts'

const FOLDER = 'repo/.agents/skills/review'

async function trustNow(place: SkillTestPlace, name = 'review') {
  const store = skillTrust(place.parts)
  const shown = await store.examine(name)
  if (!shown.ok) throw new Error(shown.error.message)
  expect(await store.trust(name, shown.value.sha256)).toEqual({ ok: true, value: undefined })
  return shown.value
}

async function trustIn(place: SkillTestPlace, name = 'review') {
  const catalog = catalogAt(place)
  const { skills } = await catalog.list()
  const loaded = await catalog.load(name)
  const listed = skills.find((skill) => skill.name === name)?.trust
  expect(loaded.ok && loaded.value.trust).toBe(listed)
  return listed
}

test('a trusted Skill of a repository has its description, sources and tools', async () => {
  const place = await skillPlace()
  const more = 'allowed-tools: read\ncontext_sources:\n  - {id: a, command: [git, status]}\n'
  await place.skill(FOLDER, more)
  expect(await trustIn(place)).toBe('untrusted')
  expect(await trustNow(place)).toMatchObject({ trust: 'untrusted', findings: [] })
  expect(await trustIn(place)).toBe('trusted')
  const [skill] = (await catalogAt(place).list()).skills
  expect(skill).toMatchObject({
    description: `About ${FOLDER}.`,
    allowed_tools: ['read'],
    context_sources: [{ id: 'a', from: { kind: 'command', argv: ['git', 'status'] } }],
  })
})

test('an edit ends the trust, and the old content has it again', async () => {
  const place = await skillPlace()
  const path = await place.skill(FOLDER)
  await trustNow(place)
  await writeFile(path, `${skillText(FOLDER)}More.\n`)
  expect(await trustIn(place)).toBe('untrusted')
  await writeFile(path, skillText(FOLDER))
  expect(await trustIn(place)).toBe('trusted')
})

test('an edit that keeps size and times ends the trust, also for a process that cached the Skill', async () => {
  const place = await skillPlace()
  const path = await place.skill(FOLDER)
  await trustNow(place)
  const catalog = catalogAt(place)
  expect((await catalog.list()).skills[0]?.trust).toBe('trusted')
  const text = skillText(FOLDER).replace('Do it.', 'Do IT.')
  await writeFile(path, text)
  expect((await catalog.list()).skills[0]?.trust).toBe('untrusted')
  const loaded = await catalog.load('review')
  expect(loaded.ok && loaded.value.trust).toBe('untrusted')
})

test('trust is of one workspace, one name and one content', async () => {
  const place = await skillPlace()
  await place.skill(FOLDER)
  await trustNow(place)
  await place.write('repo/.agents/skills/deploy/SKILL.md', skillText(FOLDER))
  expect(await trustIn(place, 'deploy')).toBe('untrusted')
  await place.skill('other/.agents/skills/review')
  await place.write('other/.agents/skills/review/SKILL.md', skillText(FOLDER))
  const elsewhere = { ...place, parts: { ...place.parts, workspace: join(place.root, 'other') } }
  expect(await trustIn(elsewhere)).toBe('untrusted')
  const below = join(place.root, 'repo/packages')
  await mkdir(below)
  expect(await trustIn({ ...place, parts: { ...place.parts, workspace: below } })).toBe('untrusted')
})

test('a link to the workspace has its trust, and a moved workspace has not', async () => {
  const place = await skillPlace()
  await place.skill(FOLDER)
  await trustNow(place)
  const link = join(place.root, 'link')
  await symlink(join(place.root, 'repo'), link)
  expect(await trustIn({ ...place, parts: { ...place.parts, workspace: link } })).toBe('trusted')
  const moved = join(place.root, 'moved')
  await rename(join(place.root, 'repo'), moved)
  expect(await trustIn({ ...place, parts: { ...place.parts, workspace: moved } })).toBe('untrusted')
})

test('trust can be ended, also of a Skill that is gone', async () => {
  const place = await skillPlace()
  await place.skill(FOLDER)
  await trustNow(place)
  await rename(join(place.root, FOLDER), join(place.root, 'gone'))
  const store = skillTrust(place.parts)
  expect(await store.untrust('review')).toEqual({ ok: true, value: true })
  expect(await store.untrust('review')).toEqual({ ok: true, value: false })
  await rename(join(place.root, 'gone'), join(place.root, FOLDER))
  expect(await trustIn(place)).toBe('untrusted')
})

test('trusted settings and trusted Skills share a file and survive each other', async () => {
  const place = await skillPlace()
  const { home, ids } = place.parts
  await place.skill(FOLDER)
  const settings = { sha256: 'a'.repeat(64), what: 'settings of x', at: '2026-01-01T00:00:00.000Z' }
  await trustContent(home, settings, ids)
  await trustNow(place)
  await trustContent(home, { ...settings, sha256: 'b'.repeat(64) }, ids)
  expect(await trustIn(place)).toBe('trusted')
  const trusted = await readTrusted(home)
  expect(trusted.ok && trusted.value.size).toBe(2)
  const stored: unknown = JSON.parse(await readFile(join(place.root, 'hawser/trust.json'), 'utf8'))
  const anything: unknown = expect.anything()
  expect(stored).toEqual({ contents: anything, skills: anything, folders: anything })
})

test('with a damaged trust file nothing is trusted, and a warning says so', async () => {
  const place = await skillPlace()
  await place.skill(FOLDER)
  await trustNow(place)
  await writeFile(join(place.root, 'hawser/trust.json'), '{')
  const { skills, warnings } = await catalogAt(place).list()
  expect(skills.map(({ trust }) => trust)).toEqual(['untrusted'])
  expect(warnings).toHaveLength(1)
  expect((await catalogAt(place).load('review')).ok).toBe(false)
})

test('a Skill of the person needs no trust, and one that does not exist cannot be examined', async () => {
  const place = await skillPlace()
  await place.skill('hawser/skills/own')
  const store = skillTrust(place.parts)
  expect(await store.examine('own')).toMatchObject({ ok: true, value: { trust: 'user' } })
  expect(await store.examine('none')).toMatchObject({ ok: false, error: { kind: 'not_found' } })
})
