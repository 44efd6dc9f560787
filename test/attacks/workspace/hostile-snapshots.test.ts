import { execFile } from 'node:child_process'
import { chmod, chown } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { PLANTS, runPlant } from './hostile-snapshot-runs.ts'

const NOBODY = 65_534

test.each(Object.keys(PLANTS))(
  '%s: a snapshot and a restoration start no program and stay inside',
  async (name) => {
    expect(await runPlant(await freshFolder(), name)).toEqual([])
  },
)

test('the same applies to an unprivileged user', async () => {
  const folder = await freshFolder()
  const script = await bundleScript(new URL('hostile-snapshots-child.ts', import.meta.url), folder)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    // Only root can enter the parent folder; a user who gets in can still list nothing.
    await chmod(process.env['HAWSER_TEST_ROOT'] ?? folder, 0o711)
    await chown(folder, NOBODY, NOBODY)
  }
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const env = { ...process.env, HOME: folder }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [script, folder], { ...who, cwd: folder, env })
  const { tried, wrong, uid } = Ran.parse(JSON.parse(stdout))
  expect([wrong, tried]).toEqual([[], Object.keys(PLANTS).length])
  expect(uid).not.toBe(0)
})

const Ran = z.object({ tried: z.int(), wrong: z.array(z.string()), uid: z.int() })
