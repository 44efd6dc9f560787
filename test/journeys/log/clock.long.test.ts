import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'

/** Replaces `Date.now` before the program is loaded. */
const PRELOADS = {
  'before 1970': 'Date.now = () => -86_400_000',
  'that steps back 5 s at each reading': 'let now = Date.now(); Date.now = () => (now -= 5000)',
  'beyond the year 9999': 'Date.now = () => 8.64e15',
}

test.each(Object.entries(PRELOADS))('the program works with a clock %s', async (_name, script) => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await writeFile(join(root, 'workspace', 'notes.txt'), 'rope\n')
  const preload = join(root, 'clock.mjs')
  await writeFile(preload, `${script}\n`)
  const program = async (...argv: string[]) => {
    const NODE_OPTIONS = `--import=${pathToFileURL(preload).href}`
    const started = await startProgram({ root, env: { NODE_OPTIONS } }, argv)
    const { code } = await started.ended
    return { code, stdout: started.stdout(), stderr: started.stderr() }
  }
  const ran = await program('run', 'Read notes.txt', '--provider', 'rehearsal')
  expect([ran.code, ran.stderr.includes('at ')]).toEqual([0, false])
  const verify = await program('log', 'verify', 'latest', '--requests')
  expect(verify.code).toBe(0)
})
