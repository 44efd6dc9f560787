import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CANARY_KEY } from '../../test/support/host/canary.ts'
import { revealsKey } from '../../test/support/session/keyed-place.ts'
import {
  catalogAt,
  skillPlace,
  skillText,
  type SkillTestPlace,
} from '../../test/support/skills/skill-place.ts'
import { sha256 } from '../encoding/hash.ts'
import { KEY_PLACEHOLDER, Redactor } from '../encoding/redaction.ts'
import { skillTrust } from './skill-trust.ts'

const cachePath = ({ root }: SkillTestPlace) => join(root, 'hawser/cache/skills.json')

async function descriptions(place: SkillTestPlace) {
  return (await catalogAt(place).list()).skills.map(({ description }) => description)
}

/** Changes the cached description without damage. */
async function poison(place: SkillTestPlace, change: (json: string) => string) {
  const text = change((await readFile(cachePath(place), 'utf8')).slice(65))
  await writeFile(cachePath(place), `${sha256(text)}\n${text}`)
}

test('a second process reads the cache, which is private, and another version does not', async () => {
  const place = await skillPlace()
  await place.skill('hawser/skills/review', 'metadata: {a: b}\n')
  const first = await catalogAt(place).list()
  expect((await stat(cachePath(place))).mode & 0o777).toBe(0o600)
  expect(await catalogAt(place).list()).toEqual(first)
  await poison(place, (json) => json.replace('About hawser/skills/review.', 'From the cache.'))
  expect(await descriptions(place)).toEqual(['From the cache.'])
  const next = { ...place, parts: { ...place.parts, version: '2' } }
  expect(await descriptions(next)).toEqual(['About hawser/skills/review.'])
})

test.each([
  ['empty', ''],
  ['cut', undefined],
  ['not JSON', `${sha256('{')}\n{`],
  ['of another shape', `${sha256('[]')}\n[]`],
  ['null', `${sha256('null')}\nnull`],
])('a cache that is %s is ignored and replaced', async (_, content) => {
  const place = await skillPlace()
  const path = await place.skill('hawser/skills/review')
  await descriptions(place)
  const whole = await readFile(cachePath(place), 'utf8')
  await writeFile(cachePath(place), content ?? whole.slice(0, -10))
  expect(await descriptions(place)).toEqual(['About hawser/skills/review.'])
  const text = await readFile(cachePath(place), 'utf8')
  expect(text.startsWith(sha256(text.slice(65)))).toBe(true)
  expect(text).toContain(path)
})

test('a changed Skill is parsed again, also with the old size and time', async () => {
  const place = await skillPlace()
  const path = await place.skill('hawser/skills/review')
  const { atime, mtime, ctimeMs } = await stat(path)
  expect(await descriptions(place)).toEqual(['About hawser/skills/review.'])
  // Two changes within one tick of the file system's clock have the same ctime.
  do {
    await writeFile(path, skillText('hawser/skills/review').replace('About', 'ABOUT'))
    await utimes(path, atime, mtime)
  } while ((await stat(path)).ctimeMs === ctimeMs)
  expect(await descriptions(place)).toEqual(['ABOUT hawser/skills/review.'])
})

test('a Skill that changed a moment ago is not cached', async () => {
  const place = await skillPlace()
  const path = await place.skill('hawser/skills/review')
  const { ctimeMs } = await stat(path)
  const clock = { ...place.parts.clock, now: () => ctimeMs + 1 }
  await catalogAt({ ...place, parts: { ...place.parts, clock } }).list()
  await expect(stat(cachePath(place))).rejects.toThrow('ENOENT')
})

test('warnings and invalid Skills are cached too', async () => {
  const place = await skillPlace()
  await place.skill('hawser/skills/review', 'colour: red\n')
  await place.write('hawser/skills/broken/SKILL.md', 'text')
  const first = await catalogAt(place).list()
  expect(first.warnings).toHaveLength(2)
  expect(await catalogAt(place).list()).toEqual(first)
})

test('a poisoned cache neither gives trust nor changes what is activated', async () => {
  const place = await skillPlace()
  const path = await place.skill('repo/.agents/skills/review')
  await place.skill('hawser/skills/own')
  const store = skillTrust(place.parts)
  const shown = await store.examine('review')
  await store.trust('review', shown.ok ? shown.value.sha256 : '')
  await catalogAt(place).list()
  const before = await keyOf(path)
  await writeFile(path, skillText('repo/.agents/skills/review').replace('Do it.', 'Do IT.'))
  const after = await keyOf(path)
  await poison(place, (json) =>
    json
      .replaceAll('"context_sources":[]', '"context_sources":[{"id":"evil"}]')
      .replaceAll('"allowed_tools":[]', '"allowed_tools":["bash"]')
      .replace(before, after),
  )
  const catalog = catalogAt(place)
  const { skills } = await catalog.list()
  expect(skills.find(({ name }) => name === 'review')).toMatchObject({
    trust: 'untrusted',
    context_sources: [],
    allowed_tools: [],
  })
  const own = await catalog.load('own')
  expect(own.ok && [own.value.context_sources, own.value.allowed_tools]).toEqual([[], []])
})

async function keyOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path)
  return [dev, ino, size, mtimeMs, ctimeMs].join(':')
}

test('a cache that cannot be written changes nothing', async () => {
  const place = await skillPlace()
  await place.skill('hawser/skills/review')
  await writeFile(join(place.root, 'hawser/cache'), '')
  expect(await descriptions(place)).toEqual(['About hawser/skills/review.'])
})

test('what a Skill says is listed and cached without keys', async () => {
  const place = await skillPlace()
  const file = cachePath(place)
  const more = `when_to_use: For ${CANARY_KEY}.\nmetadata:\n  key: ${CANARY_KEY}\n`
  const cut = `${'x'.repeat(60)}${CANARY_KEY}: 1\n`
  await place.skill('user/.agents/skills/keyed', `${more}${cut}`)
  await place.skill('user/.agents/skills/plain')
  onTestFinished(() => rm(place.root, { recursive: true, force: true }))
  const listed = await catalogAt(place).list()
  expect(listed.skills.map(({ name }) => name)).toEqual(['keyed', 'plain'])
  expect(listed.skills[0]?.when_to_use).toBe(`For ${KEY_PLACEHOLDER}.`)
  expect(revealsKey(JSON.stringify(listed))).toBe(false)
  expect(revealsKey(await readFile(file, 'utf8'))).toBe(false)
  // From the cache, and after a key was configured that an earlier process did not know.
  expect(await catalogAt(place).list()).toEqual(listed)
  const before = { ...place, parts: { ...place.parts, redactor: new Redactor([]) } }
  await rm(file)
  expect(revealsKey(JSON.stringify(await catalogAt(before).list()))).toBe(true)
  expect(revealsKey(await readFile(file, 'utf8'))).toBe(true)
  expect(await catalogAt(place).list()).toEqual(listed)
  expect(revealsKey(await readFile(file, 'utf8'))).toBe(false)
})
