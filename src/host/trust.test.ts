import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/folder.ts'
import { value } from '../../test/support/story.ts'
import { systemClock } from './clock.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
import { readTrusted, readTrustedSkills, setTrustedSkill, trust } from './trust.ts'

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
      : setTrustedSkill(home, '/w', name, { sha256: name, at }, ids)
  })
  expect((await Promise.all(records)).every(({ ok }) => ok)).toBe(true)
  const [home] = homes
  if (home === undefined) throw new Error('no home')
  const contents = value(await readTrusted(home.own))
  const skills = value(await readTrustedSkills(home.own, '/w')).map(({ name }) => name)
  expect([...contents, ...skills].toSorted()).toEqual(names.toSorted())
  await Promise.all(homes.map((one) => one.close()))
})
