import { execFile } from 'node:child_process'
import { chmod, chown } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { TOOLSET } from '../../../src/tools/toolset.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { toolWorld } from '../../support/skills/tool-world.ts'
import { FILE_CASES } from './file-cases.ts'
import { pathOf, runFileCases, untouched } from './file-runs.ts'
import { buildScene, CANARY } from './file-scene.ts'

const NOBODY = 65_534
const run = promisify(execFile)

test('[PC-024] [SR-013] every path that leads where a model may not go is refused, for every way to access it', async () => {
  const { tried, wrong } = await runFileCases(await freshFolder())
  expect(wrong).toEqual([])
  expect(tried).toBeGreaterThan(700)
})

test('the same applies to an unprivileged user', async () => {
  const folder = await freshFolder()
  const script = await bundleScript(new URL('files-child.ts', import.meta.url), folder)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    // Only root can enter the parent folder; a user who gets in can still list nothing.
    await chmod(process.env['HAWSER_TEST_ROOT'] ?? folder, 0o711)
    await chown(folder, NOBODY, NOBODY)
  }
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const { stdout } = await run(process.execPath, [script, folder], { ...who, cwd: folder })
  const { tried, wrong, uid } = CaseRun.parse(JSON.parse(stdout))
  expect(wrong).toEqual([])
  expect(tried).toBeGreaterThan(700)
  expect(uid).not.toBe(0)
})

const CaseRun = z.object({ tried: z.int(), wrong: z.array(z.string()), uid: z.int() })

test('[SR-013] no tool bypasses this', async () => {
  const scene = await buildScene(await freshFolder())
  const before = await untouched(scene)
  const { context, ran } = await toolWorld({ at: scene })
  const wrong: string[] = []
  for (const one of FILE_CASES) {
    if (one.devices === true && !scene.devices) continue
    const { read: expected } = one
    if (expected === undefined || expected === 'ok' || one.list === 'ok') continue
    if (one.root !== undefined && process.getuid?.() === 0) continue
    const path = pathOf(one, scene)
    for (const [name, args] of Object.entries(ARGUMENTS)) {
      // A file that does not exist can be created.
      if (name === 'write' && expected === 'not_found') continue
      const call = TOOLSET.find((tool) => tool.name === name)?.parse(
        JSON.stringify({ path, ...args }),
      )
      const outcome = call?.ok === true ? await call.value.run(context) : call
      const got = outcome?.error?.kind ?? 'no refusal'
      if (got !== expected) wrong.push(`${name} ${one.path} gave ${got}, not ${expected}`)
      if (JSON.stringify(outcome).includes(CANARY))
        wrong.push(`${name} ${one.path} revealed a secret`)
    }
  }
  expect(wrong).toEqual([])
  expect(ran).toEqual([])
  expect(await untouched(scene)).toBe(before)
  await scene.close()
})

const ARGUMENTS = {
  read: {},
  write: { content: 'planted' },
  edit: { edits: [{ old_text: 'a', new_text: 'b' }] },
  glob: { pattern: '*' },
  grep: { pattern: '.' },
}

test('a search of the whole workspace shows nothing from outside or from Hawser folders', async () => {
  const scene = await buildScene(await freshFolder())
  const { context } = await toolWorld({ at: scene })
  const shown = await Promise.all(
    [
      ['grep', { pattern: `${CANARY}|text of` }],
      ['grep', { pattern: CANARY, glob: '**/*', context: 3 }],
      ['glob', { pattern: '**' }],
      ['glob', { pattern: '{.hawser,state,dir-*}/**' }],
    ].map(async ([name, args]) => {
      const call = TOOLSET.find((tool) => tool.name === name)?.parse(JSON.stringify(args))
      return call?.ok === true ? (await call.value.run(context)).output : ''
    }),
  )
  const ours = process.getuid?.() === 0 ? ['closed/x', 'unreadable'] : []
  const [all = '', secrets = '', names = '', none] = shown
  expect(all).toContain('README.md\n1:text of README.md')
  expect(secrets.match(/^\w.*(?=\n1:canary)/gm) ?? []).toEqual(ours)
  expect(names).toContain('src/deep/b.ts')
  expect(names.match(/state|\.hawser|dir-|secret/g)).toBeNull()
  expect(none).toMatch(/^\[No file/)
  await scene.close()
})
