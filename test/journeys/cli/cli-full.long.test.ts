import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { commandPlace } from '../../support/session/write-log.ts'

const Failed = z.object({ code: z.int(), stdout: z.string(), stderr: z.string() })

let program: string

beforeAll(async () => {
  program = await bundleScript(
    new URL('../../../bin/hawser.ts', import.meta.url),
    await freshFolder(),
  )
})

/** Runs the program in a shell that redirects its outputs. */
async function shell(root: string, line: string) {
  const env = {
    PATH: process.env['PATH'],
    HAWSER_HOME: join(root, 'home'),
    NODE: process.execPath,
    HAWSER: program,
  }
  const script = `hawser() { "$NODE" "$HAWSER" "$@"; }\n${line}`
  const cwd = join(root, 'workspace')
  try {
    return { code: 0, ...(await promisify(execFile)('sh', ['-c', script], { cwd, env })) }
  } catch (error) {
    return Failed.parse(error)
  }
}

const FULL = /hawser: cannot write to standard output \(ENOSPC\); .*incomplete\.\n$/

test('a command whose output does not fit exits with 1 and says so, and the Turn is complete in its Log', async () => {
  const { root } = await commandPlace()
  for (const line of [
    'hawser run --json "Say hello." > /dev/full',
    'hawser log export latest > /dev/full',
    'hawser sessions --json > /dev/full',
    'hawser run --help > /dev/full',
    'hawser --version > /dev/full',
    'hawser completions bash > /dev/full',
  ]) {
    const { code, stderr } = await shell(root, line)
    expect([line, code, stderr]).toEqual([line, 1, expect.stringMatching(FULL)])
  }
  const shown = await shell(root, 'hawser log show latest --json')
  expect(shown.stdout).toMatch(/"type":"turn_ended".*"status":"completed"/)
})

test('a full standard error stops nothing, and a more specific exit code is kept', async () => {
  const { root } = await commandPlace()
  const both = await shell(root, 'hawser run "Say hello." > /dev/full 2> /dev/full')
  expect([both.code, both.stdout, both.stderr]).toEqual([1, '', ''])
  const errors = await shell(root, 'hawser run "Say hello." 2> /dev/full')
  expect([errors.code, errors.stdout.length > 0]).toEqual([0, true])
  const misused = await shell(root, 'hawser nonsense --json > /dev/full')
  expect(misused.code).toBe(2)
})

test('a reader that closes the output is not a failure', async () => {
  const { root } = await commandPlace()
  const line = '{ hawser --help; echo "code $?" >&2; } | true'
  expect((await shell(root, line)).stderr).toBe('code 0\n')
})

test('a file that accepts only part of the output is a failure, too', async () => {
  const { root } = await commandPlace()
  // A limit of one block of 512 bytes; writing more is an error instead of a signal.
  const { code, stderr } = await shell(root, `trap '' XFSZ; ulimit -f 1; hawser --help > part.txt`)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/\(EFBIG\)/)])
  expect((await readFile(join(root, 'workspace', 'part.txt'))).length).toBeLessThan(1025)
})
