import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { value } from '../../test/support/log/story.ts'
import type { Rule } from '../model/rule.ts'
import { systemClock } from './clock.ts'
import { openHome } from './home.ts'
import { systemIds } from './ids.ts'
import { workspaceRules } from './permission-rules.ts'

const ALLOW: Rule = { kind: 'prefix', answer: 'allow', words: ['make'] }
const DENY: Rule = { kind: 'prefix', answer: 'deny', words: ['rm'] }

async function place() {
  const root = await freshFolder()
  const home = value(await openHome(join(root, 'home')))
  const workspace = join(root, 'w')
  await mkdir(workspace)
  const ids = systemIds(systemClock)
  const holdsKey = () => false
  const store = workspaceRules({ home: home.own, workspace, ids, clock: systemClock, holdsKey })
  const rules = async () => value(await store.read()).map(({ rule }) => rule)
  return { root, home, workspace, store, rules, file: join(root, 'home/permissions.json') }
}

test('in another folder at the path only rules that deny apply, and the next rule replaces the others', async () => {
  const { root, home, workspace, store, rules } = await place()
  for (const rule of [ALLOW, DENY]) value(await store.add(rule))
  await rename(workspace, join(root, 'aside'))
  await mkdir(workspace)
  expect(await rules()).toEqual([DENY])
  await rename(workspace, join(root, 'other'))
  await rename(join(root, 'aside'), workspace)
  expect(await rules()).toEqual([ALLOW, DENY])
  await rename(workspace, join(root, 'aside'))
  await rename(join(root, 'other'), workspace)
  const upload: Rule = { kind: 'upload', answer: 'allow' }
  value(await store.add(upload))
  expect(await rules()).toEqual([DENY, upload])
  await rename(workspace, join(root, 'other'))
  await rename(join(root, 'aside'), workspace)
  expect(await rules()).toEqual([DENY])
  await home.close()
})

test('rules of an older version get the folder that is there when they are read first', async () => {
  const { root, home, workspace, store, rules, file } = await place()
  const old = { v: 1, workspaces: { [workspace]: [{ rule: ALLOW, at: 'then' }] } }
  await writeFile(file, JSON.stringify(old), { mode: 0o600 })
  expect(await rules()).toEqual([ALLOW])
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    ...old,
    folders: { [workspace]: { path: workspace } },
  })
  await rename(workspace, join(root, 'aside'))
  await mkdir(workspace)
  expect(await rules()).toEqual([])
  expect(value(await store.remove(ALLOW))).toBe(false)
  await home.close()
})
