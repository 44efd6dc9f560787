import { execFile } from 'node:child_process'
import { chmod, chown } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { runAttachmentCases } from './attachment-runs.ts'

const NOBODY = 65_534

test('[AT-015] [AT-024] [AT-030] [AT-031] [AT-059] what cannot be attached is refused with its own reason, by path and by link', async () => {
  const { tried, wrong } = await runAttachmentCases(await freshFolder())
  expect(wrong).toEqual([])
  expect(tried).toBeGreaterThan(130)
})

test('the same applies to an unprivileged user, who learns which files cannot be read', async () => {
  const folder = await freshFolder()
  const script = await bundleScript(new URL('attachments-child.ts', import.meta.url), folder)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    // Only root can enter the parent folder; a user who gets in can still list nothing.
    await chmod(process.env['HAWSER_TEST_ROOT'] ?? folder, 0o711)
    await chown(folder, NOBODY, NOBODY)
  }
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder], {
    ...who,
    cwd: folder,
  })
  const { tried, wrong, uid } = Run.parse(JSON.parse(stdout))
  expect(wrong).toEqual([])
  expect(tried).toBeGreaterThan(130)
  expect(uid).not.toBe(0)
})

const Run = z.object({ tried: z.int(), wrong: z.array(z.string()), uid: z.int() })
