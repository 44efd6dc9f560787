// What installed Skills cost at the start of the program: 500 of the person, with front matter that was parsed by an earlier
// start, and 500 of the repository that are not trusted. The floor is the same start without any.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { full, median, medianRatio, tell } from './figure.ts'
import { firstRequest } from './first-request.ts'
import { builtProgram, type Place } from './program.ts'
import { inScratch } from './scratch.ts'

const ROUNDS = full ? 25 : 5
const SKILLS = 500

const PROGRAM = await builtProgram()

await inScratch(async (folder) => {
  const none = await placeIn(join(folder, 'none'))
  const own = await placeIn(join(folder, 'own'))
  const theirs = await placeIn(join(folder, 'theirs'))
  await writeSkills(join(own.home, 'skills'))
  await writeSkills(join(theirs.cwd, '.agents', 'skills'))

  for (const place of [none, own, theirs]) await first(place)
  // A file that changed a moment ago is not cached, so the second start may parse too.
  await first(own)
  await requireCache(own.home)
  const [without, mine, untrusted]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await first(none))
    mine.push(await first(own))
    untrusted.push(await first(theirs))
  }
  tell({
    bench: 'skills: start with 500 Skills on disk, relative to none',
    ratio: medianRatio(mine, without),
    bar: '<= 1.1',
    more: { ms: median(mine), floor_ms: median(without) },
  })
  tell({
    bench: 'skills: start with 500 untrusted Skills in the repository, relative to none',
    ratio: medianRatio(untrusted, without),
    bar: '<= 1.1',
    more: { ms: median(untrusted), floor_ms: median(without) },
  })
})

function first(place: Place): Promise<number> {
  return firstRequest([PROGRAM, 'run', 'What happened?', '--json'], place)
}

async function placeIn(folder: string) {
  const [cwd, home] = [join(folder, 'workspace'), join(folder, 'home')]
  await mkdir(cwd, { recursive: true })
  await mkdir(home, { mode: 0o700 })
  const { HOME: _other, ...env } = process.env
  return { cwd, home, env: { ...env, HAWSER_HOME: home } }
}

async function writeSkills(root: string): Promise<void> {
  for (let at = 0; at < SKILLS; at += 1) {
    const name = `skill-${at}`
    await mkdir(join(root, name), { recursive: true })
    await writeFile(join(root, name, 'SKILL.md'), skillText(name))
  }
}

function skillText(name: string): string {
  return `---
name: ${name}
description: Reviews a change for defects, missing tests and unclear names, in the order of their weight.
when_to_use: After a change is complete, before it is committed.
allowed-tools: read grep
metadata: {version: 1.0, author: bench}
context_sources:
  - id: changes
    description: what differs from HEAD
    command: [git, diff, HEAD]
  - id: guide
    file: docs/guide.md
---

${'Read the whole change first. Then report what is wrong, the worst first.\n'.repeat(40)}`
}

/** The program found them: without that, the figures mean nothing. */
async function requireCache(home: string): Promise<void> {
  const text = await readFile(join(home, 'cache', 'skills.json'), 'utf8')
  const entries = text.match(/\/SKILL\.md":/g)?.length ?? 0
  if (entries !== SKILLS) throw new Error(`${entries} Skills in the cache`)
}
