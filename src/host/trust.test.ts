import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { value } from '../../test/support/log/story.ts'
import { systemClock } from './clock.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
import {
  readTrusted,
  readTrustedInstructions,
  readTrustedSkills,
  setTrustedSkill,
  trust,
  trustInstructions,
} from './trust.ts'

const HERE = { path: '/w', dev: '1', ino: '2' }

test('trust that several processes record at once is all kept', async () => {
  const root = await freshFolder()
  const ids = systemIds(systemClock)
  const at = '2026-01-31T12:00:00.000Z'
  const names = Array.from({ length: 12 }, (_, number) => `skill-${number}`)
  const homes = await Promise.all(names.map(async () => value(await openHome(join(root, 'home')))))
  const records = names.map((name, number) => {
    const home = homes[number]?.own
    if (home === undefined) throw new Error('no home')
    return number % 3 === 0
      ? trust(home, { sha256: name, what: name, at }, ids)
      : setTrustedSkill(home, HERE, name, { sha256: name, at }, ids)
  })
  expect((await Promise.all(records)).every(({ ok }) => ok)).toBe(true)
  const [home] = homes
  if (home === undefined) throw new Error('no home')
  const contents = value(await readTrusted(home.own))
  const skills = value(await readTrustedSkills(home.own, HERE)).map(({ name }) => name)
  expect([...contents, ...skills].toSorted()).toEqual(names.toSorted())
  await Promise.all(homes.map((one) => one.close()))
})

test('what is trusted in a folder is not trusted in another one at its path', async () => {
  const home = value(await openHome(join(await freshFolder(), 'home')))
  const ids = systemIds(systemClock)
  const other = { ...HERE, ino: '3' }
  const file = { path: 'AGENTS.md', sha256: 'x', at: 'then' }
  const trusted = async (folder: typeof HERE) => [
    value(await readTrustedSkills(home.own, folder)).length,
    value(await readTrustedInstructions(home.own, folder)).length,
  ]
  value(await setTrustedSkill(home.own, HERE, 'a', { sha256: 'x', at: 'then' }, ids))
  value(await trustInstructions(home.own, HERE, [file], ids))
  expect([await trusted(HERE), await trusted(other), await trusted(HERE)]).toEqual([
    [1, 1],
    [0, 0],
    [1, 1],
  ])
  value(await trustInstructions(home.own, other, [file], ids))
  expect([await trusted(HERE), await trusted(other)]).toEqual([
    [0, 0],
    [0, 1],
  ])
  await home.close()
})

test('trust of an older version gets the folder that is there when it is read first', async () => {
  const root = await freshFolder()
  const home = value(await openHome(join(root, 'home')))
  const skills = { '/w': [{ name: 'a', sha256: 'x', at: 'then' }] }
  await writeFile(join(root, 'home/trust.json'), JSON.stringify({ contents: [], skills }), {
    mode: 0o600,
  })
  expect(value(await readTrustedSkills(home.own, HERE))).toHaveLength(1)
  expect(value(await readTrustedSkills(home.own, { ...HERE, ino: '3' }))).toEqual([])
  await home.close()
})
