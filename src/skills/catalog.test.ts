import { execFileSync } from 'node:child_process'
import { chmod, link, mkdir, rename, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { catalogAt, skillPlace, skillText } from '../../test/support/skills/skill-place.ts'
import { value } from '../../test/support/log/story.ts'
import { sha256 } from '../encoding/hash.ts'
import { NO_SKILLS } from './catalog.ts'
import { skillTrust } from './skill-trust.ts'

test('without Skills there is nothing, and no warning', async () => {
  const place = await skillPlace()
  expect(await catalogAt(place).list()).toEqual(await NO_SKILLS.list())
  const loaded = await catalogAt(place).load('review')
  expect(!loaded.ok && loaded.error.kind).toBe('not_found')
})

test('Skills are found in the roots, and the first of a name hides the others', async () => {
  const place = await skillPlace()
  const roots = ['user/.agents', 'hawser', 'repo/.agents', 'repo/.claude']
  const paths = new Map<string, string>()
  for (const [at, root] of roots.entries()) {
    for (const name of ['d', 'c', 'b', 'a'].slice(0, at + 1)) {
      const folder = `${root}/skills/${name}`
      paths.set(folder, await place.skill(folder))
    }
  }
  const { skills, shadowed, warnings } = await catalogAt(place).list()
  expect(
    skills.map(({ name, root, trust, description }) => [name, root, trust, description]),
  ).toEqual([
    ['a', '<repo>/.claude/skills', 'untrusted', ''],
    ['b', '<repo>/.agents/skills', 'untrusted', ''],
    ['c', '$HAWSER_HOME/skills', 'user', 'About hawser/skills/c.'],
    ['d', '~/.agents/skills', 'user', 'About user/.agents/skills/d.'],
  ])
  expect(skills.map(({ path }) => path)).toContain(paths.get('repo/.claude/skills/a'))
  expect(shadowed).toHaveLength(6)
  expect(shadowed).toContainEqual({
    name: 'd',
    path: paths.get('repo/.claude/skills/d'),
    by: paths.get('user/.agents/skills/d'),
  })
  expect(warnings).toEqual([])
})

test('a loaded Skill has the body, hash and fields of one read', async () => {
  const place = await skillPlace()
  const path = await place.skill(
    'hawser/skills/review',
    'when_to_use: now\ndisable-model-invocation: true\nallowed-tools: read grep\nmetadata: {a: b}\n',
  )
  expect(await catalogAt(place).load('review')).toEqual({
    ok: true,
    value: {
      name: 'review',
      root: '$HAWSER_HOME/skills',
      path,
      trust: 'user',
      description: 'About hawser/skills/review.',
      when_to_use: 'now',
      forModel: false,
      context_sources: [],
      allowed_tools: ['read', 'grep'],
      metadata: { a: 'b' },
      content_sha256: sha256(
        skillText(
          'hawser/skills/review',
          'when_to_use: now\ndisable-model-invocation: true\nallowed-tools: read grep\nmetadata: {a: b}\n',
        ),
      ),
      body: Buffer.from('Do it.\n'),
    },
  })
})

test('an untrusted Skill is listed by its name alone, and only that its front matter is broken is said', async () => {
  const place = await skillPlace()
  const sources = 'context_sources:\n  - {id: a, command: [id]}\nallowed-tools: bash\n'
  await place.skill('repo/.agents/skills/review', sources)
  await place.write('repo/.agents/skills/broken/SKILL.md', '!`touch pwned`')
  const catalog = catalogAt(place)
  const { skills, warnings } = await catalog.list()
  expect(skills).toEqual(
    ['broken', 'review'].map((name) => ({
      name,
      root: '<repo>/.agents/skills',
      path: join(place.root, 'repo/.agents/skills', name, 'SKILL.md'),
      trust: 'untrusted',
      description: '',
      forModel: true,
      context_sources: [],
      allowed_tools: [],
      metadata: {},
    })),
  )
  expect(warnings).toEqual([
    {
      path: join(place.root, 'repo/.agents/skills/broken/SKILL.md'),
      line: 1,
      message: expect.stringMatching(/^This Skill is not usable\. /),
    },
  ])
  const loaded = await catalog.load('review')
  expect(loaded.ok && loaded.value.context_sources).toEqual([])
  expect(loaded.ok && loaded.value.trust).toBe('untrusted')
  expect(loaded.ok && loaded.value.body.toString()).toBe('Do it.\n')
})

test('an invalid Skill is a warning with its line, is not usable, and still hides others', async () => {
  const place = await skillPlace()
  const path = await place.write('user/.agents/skills/review/SKILL.md', '---\nname: review\n---\n')
  const other = await place.skill('hawser/skills/review')
  const { skills, shadowed, warnings } = await catalogAt(place).list()
  expect(skills).toEqual([])
  expect(shadowed).toEqual([{ name: 'review', path: other, by: path }])
  expect(warnings).toEqual([
    { path, line: 1, message: 'This Skill is not usable. "description" is missing.' },
  ])
  const loaded = await catalogAt(place).load('review')
  expect(!loaded.ok && loaded.error.kind).toBe('unreadable')
})

test('folders that are not Skills are reported, and tool folders are skipped', async () => {
  const place = await skillPlace()
  const root = join(place.root, 'user/.agents/skills')
  await mkdir(join(root, 'empty'), { recursive: true })
  await mkdir(join(root, '.git'))
  await mkdir(join(root, 'a b\u202e'))
  await writeFile(join(root, 'README.md'), '')
  const { skills, warnings } = await catalogAt(place).list()
  expect(skills).toEqual([])
  expect(warnings).toEqual([
    { path: root, message: expect.stringContaining('"a b\\u202e" is ignored') },
    { path: join(root, 'empty/SKILL.md'), message: 'The folder has no SKILL.md.' },
  ])
})

test('in the roots of the person links are followed', async () => {
  const place = await skillPlace()
  await place.skill('elsewhere/review')
  await place.write('elsewhere/SKILL.md', skillText('hawser/skills/linked'))
  await mkdir(join(place.root, 'hawser/skills/linked'), { recursive: true })
  await symlink(join(place.root, 'elsewhere/review'), join(place.root, 'hawser/skills/review'))
  await symlink('../../../elsewhere/SKILL.md', join(place.root, 'hawser/skills/linked/SKILL.md'))
  const { skills, warnings } = await catalogAt(place).list()
  expect(skills.map(({ name, trust }) => [name, trust])).toEqual([
    ['linked', 'user'],
    ['review', 'user'],
  ])
  expect(warnings).toEqual([])
})

test('in the roots of a repository no link is followed, at any level', async () => {
  const place = await skillPlace()
  await place.skill('elsewhere/review')
  const skills = join(place.root, 'repo/.agents/skills')
  await mkdir(join(skills, 'file'), { recursive: true })
  await symlink(join(place.root, 'elsewhere/review'), join(skills, 'review'))
  await symlink(join(place.root, 'elsewhere/review/SKILL.md'), join(skills, 'file/SKILL.md'))
  await symlink(join(place.root, 'elsewhere'), join(place.root, 'repo/.claude'))
  await mkdir(join(place.root, 'elsewhere/skills'))
  const catalog = catalogAt(place)
  const listed = await catalog.list()
  expect(listed.skills).toEqual([])
  expect(listed.warnings.map(({ path }) => path)).toEqual([
    join(place.root, 'repo/.claude/skills'),
    join(skills, 'file/SKILL.md'),
    join(skills, 'review/SKILL.md'),
  ])
  for (const name of ['review', 'file']) {
    const [loaded, read] = [await catalog.load(name), await catalog.readFile(name, 'SKILL.md', 100)]
    expect([loaded.ok, read.ok]).toEqual([false, false])
  }
})

test('links from one root of a repository to the other cause no warning', async () => {
  const place = await skillPlace()
  await place.skill('repo/.agents/skills/a')
  await place.skill('repo/.agents/skills/b')
  await mkdir(join(place.root, 'repo/.claude/skills'), { recursive: true })
  await symlink('../../.agents/skills/a', join(place.root, 'repo/.claude/skills/a'))
  const { skills, shadowed, warnings } = await catalogAt(place).list()
  expect([skills.map(({ name }) => name), shadowed, warnings]).toEqual([['a', 'b'], [], []])
  const whole = await skillPlace()
  await whole.skill('repo/.agents/skills/a')
  await symlink('.agents', join(whole.root, 'repo/.claude'))
  const { warnings: none } = await catalogAt(whole).list()
  expect(none).toEqual([])
})

test('a root inside the workspace is not the person’s own, whatever links lead there', async () => {
  const inside = await skillPlace()
  await inside.skill('repo/home/skills/review')
  const parts = { ...inside.parts, hawserHome: join(inside.root, 'repo/home') }
  const [own] = (await catalogAt({ ...inside, parts }).list()).skills
  expect(own).toMatchObject({ trust: 'untrusted', root: '$HAWSER_HOME/skills' })

  const linked = await skillPlace()
  await linked.skill('repo/mine/review')
  await linked.skill('outside/away')
  await mkdir(join(linked.root, 'user/.agents'), { recursive: true })
  await symlink(join(linked.root, 'repo/mine'), join(linked.root, 'user/.agents/skills'))
  await symlink(join(linked.root, 'outside'), join(linked.root, 'repo/hop'))
  await mkdir(join(linked.root, 'hawser/skills'))
  // Through the workspace and out again: who writes the workspace decides where it ends.
  await symlink(join(linked.root, 'repo/hop/away'), join(linked.root, 'hawser/skills/away'))
  const { skills } = await catalogAt(linked).list()
  expect(skills.map(({ name, trust }) => [name, trust])).toEqual([
    ['away', 'untrusted'],
    ['review', 'untrusted'],
  ])
})

test('a workspace that is a Skill of the person is not trusted to change it', async () => {
  const place = await skillPlace('hawser/skills/review')
  await place.skill('hawser/skills/review')
  await place.skill('hawser/skills/other')
  const { skills } = await catalogAt(place).list()
  expect(skills.map(({ name, trust }) => [name, trust])).toEqual([
    ['other', 'user'],
    ['review', 'untrusted'],
  ])
})

test('the repository is the nearest folder with .git, also a worktree, else the workspace', async () => {
  const below = await skillPlace('repo/packages/web')
  await below.skill('repo/.agents/skills/top')
  await below.skill('repo/packages/.agents/skills/between')
  const names = async () => (await catalogAt(below).list()).skills.map(({ name }) => name)
  expect(await names()).toEqual(['top'])
  await below.write('repo/packages/.git', 'gitdir: /somewhere\n')
  expect(await names()).toEqual(['between'])
  const bare = await skillPlace('plain/folder')
  await bare.skill('plain/.agents/skills/above')
  await bare.skill('plain/folder/.claude/skills/here')
  expect((await catalogAt(bare).list()).skills.map(({ name }) => name)).toEqual(['here'])
})

test('the search for a repository does not go above the home of the person', async () => {
  const place = await skillPlace('user/work')
  await mkdir(join(place.root, '.git'))
  await place.skill('.agents/skills/above')
  expect((await catalogAt(place).list()).skills).toEqual([])
})

test('a pipe, a folder, a hard link, a huge or an unreadable file is not a Skill, and nothing waits', async () => {
  const place = await skillPlace()
  for (const root of ['hawser/skills', 'repo/.agents/skills']) {
    const at = (path: string) => join(place.root, root, path)
    const kind = root.startsWith('repo') ? 'r' : 'u'
    await mkdir(at(`${kind}-pipe`), { recursive: true })
    execFileSync('mkfifo', [at(`${kind}-pipe/SKILL.md`)])
    await mkdir(at(`${kind}-folder/SKILL.md`), { recursive: true })
    await truncate(await place.write(`${root}/${kind}-huge/SKILL.md`, 'x'), 2 ** 40)
  }
  await link(
    await place.skill('repo/.agents/skills/first'),
    await mkdir(join(place.root, 'repo/.agents/skills/second')).then(() =>
      join(place.root, 'repo/.agents/skills/second/SKILL.md'),
    ),
  )
  const catalog = catalogAt(place)
  const { skills, warnings } = await catalog.list()
  expect(skills).toEqual([])
  expect(warnings).toHaveLength(8)
  for (const name of ['u-pipe', 'r-pipe', 'u-huge', 'r-huge', 'first', 'second', 'r-folder']) {
    const loaded = await catalog.load(name)
    expect(!loaded.ok && loaded.error.message).toContain(`"${name}" is not usable`)
  }
})

test.skipIf(process.geteuid?.() === 0)('an unreadable Skill or root is a warning', async () => {
  const place = await skillPlace()
  await chmod(await place.skill('hawser/skills/review'), 0)
  await place.skill('user/.agents/skills/other')
  await chmod(join(place.root, 'user/.agents/skills'), 0)
  const { skills, warnings } = await catalogAt(place).list()
  await chmod(join(place.root, 'user/.agents/skills'), 0o700)
  expect(skills).toEqual([])
  expect(warnings).toHaveLength(2)
})

test('files of a Skill are read in its folder only', async () => {
  const place = await skillPlace()
  await place.skill('repo/.agents/skills/review')
  await place.skill('hawser/skills/own')
  await place.write('repo/secret.txt', 'secret')
  await place.write('repo/.agents/skills/review/docs/a.md', 'text')
  await place.write('hawser/skills/own/a.md', 'mine')
  const folder = join(place.root, 'repo/.agents/skills/review')
  await symlink(join(place.root, 'repo/secret.txt'), join(folder, 'leaf.md'))
  await symlink(join(place.root, 'repo'), join(folder, 'up'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const catalog = catalogAt(place)
  const read = async (name: string, path: string) => {
    const content = await catalog.readFile(name, path, 3)
    return content.ok
      ? [content.value.bytes.toString(), content.value.truncated]
      : content.error.kind
  }
  expect(await read('review', 'docs/a.md')).toEqual(['tex', true])
  expect(await read('own', 'a.md')).toEqual(['min', true])
  expect(await read('review', '../../../secret.txt')).toBe('outside_workspace')
  expect(await read('review', join(place.root, 'repo/secret.txt'))).toBe('outside_workspace')
  expect(await read('review', '~/secret.txt')).toBe('outside_workspace')
  expect(await read('review', 'leaf.md')).toBe('not_regular_file')
  expect(await read('review', 'up/secret.txt')).toBe('outside_workspace')
  expect(await read('review', 'pipe')).toBe('not_regular_file')
  expect(await read('review', 'missing.md')).toBe('not_found')
  expect(await read('../review', 'a.md')).toBe('not_found')
})

test('[SH-002] neither listing, loading nor reading a Skill runs its scripts', async () => {
  const place = await skillPlace()
  await place.skill('hawser/skills/review')
  const ran = join(place.root, 'ran')
  const script = `#!/bin/sh\ntouch '${ran}'\n`
  const path = await place.write('hawser/skills/review/scripts/run.sh', script)
  await chmod(path, 0o755)
  const catalog = catalogAt(place)
  await catalog.list()
  expect((await catalog.load('review')).ok).toBe(true)
  const read = await catalog.readFile('review', 'scripts/run.sh', 1_000)
  expect(read.ok && read.value.bytes.toString()).toBe(script)
  await expect(stat(ran)).rejects.toThrow('ENOENT')
})

test('a folder that becomes a link after it was listed is not followed', async () => {
  const place = await skillPlace()
  await place.skill('repo/.agents/skills/review')
  await place.skill('elsewhere/review')
  const catalog = catalogAt(place)
  await catalog.list()
  const folder = join(place.root, 'repo/.agents')
  await rename(folder, join(place.root, 'repo/old'))
  await symlink(join(place.root, 'repo/old'), folder)
  expect((await catalog.load('review')).ok).toBe(false)
})

test('a thousand Skills of one root are used, and more are reported', async () => {
  const place = await skillPlace()
  for (let at = 0; at < 1_001; at += 1) await place.skill(`repo/.agents/skills/s${at}`)
  const { skills, warnings } = await catalogAt(place).list()
  expect(skills).toHaveLength(1_000)
  expect(warnings).toHaveLength(1)
})

test('a Skill that changed after it was trusted says so until it is trusted again', async () => {
  const place = await skillPlace()
  const path = await place.skill('repo/.agents/skills/review')
  const store = skillTrust(place.parts)
  const trustNow = async () => {
    const { sha256: hash } = value(await store.examine('review'))
    value(await store.trust('review', hash))
  }
  const changed = async () => {
    const [skill] = (await catalogAt(place).list()).skills
    return [skill?.trust, skill?.changed, value(await store.examine('review')).isChanged]
  }
  expect(await changed()).toEqual(['untrusted', undefined, false])
  await trustNow()
  expect(await changed()).toEqual(['trusted', undefined, false])
  await writeFile(path, skillText('repo/.agents/skills/review').replace('Do it.', 'Do IT.'))
  expect(await changed()).toEqual(['untrusted', true, true])
  expect(value(await catalogAt(place).load('review')).changed).toBe(true)
  await trustNow()
  expect(await changed()).toEqual(['trusted', undefined, false])
})

test('~/.claude/skills is a root of the person, after $HAWSER_HOME/skills and before the repository', async () => {
  const place = await skillPlace()
  for (const root of ['user/.claude', 'repo/.agents']) await place.skill(`${root}/skills/both`)
  await place.skill('user/.claude/skills/mine')
  for (const root of ['hawser', 'user/.claude']) await place.skill(`${root}/skills/first`)
  const { skills } = await catalogAt(place).list()
  expect(skills.map(({ name, root, trust }) => [name, root, trust])).toEqual([
    ['both', '~/.claude/skills', 'user'],
    ['first', '$HAWSER_HOME/skills', 'user'],
    ['mine', '~/.claude/skills', 'user'],
  ])
})
