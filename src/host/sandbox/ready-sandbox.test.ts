import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { systemProgram } from '../process/system-program.ts'
import { systemSandbox } from './sandbox.ts'

const { isConfined } = await systemSandbox().status()

/** A sandbox whose bubblewrap does something else once, after `spoil` was called. */
async function spoilable(instead: string) {
  const root = await freshFolder()
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  for (const folder of [workspace, home]) await mkdir(folder)
  const program = join(root, 'bwrap')
  const spoiled = join(root, 'spoiled')
  const script = `#!/bin/sh
if rmdir '${spoiled}' 2>/dev/null; then ${instead}; fi
exec '${await systemProgram('bwrap')}' "$@"
`
  await writeFile(program, script)
  await chmod(program, 0o755)
  const sandbox = systemSandbox({ program })
  expect(await sandbox.confines()).toBe(true)
  const place = { workspace, home, writable: 'workspace', protectedPaths: [] } as const
  return {
    spoil: () => mkdir(spoiled),
    prepare: () => sandbox.prepare?.(place, {}),
    run: async () => {
      let output = ''
      const ran = await sandbox.runConfined(place)({
        argv: ['/bin/bash', '-c', 'echo done'],
        wallMs: 60_000,
        signal: new AbortController().signal,
        onOutput: (chunk) => void (output += chunk.toString()),
      })
      return ran.ok ? output : ran.error.message
    },
  }
}

test.runIf(isConfined).each([
  ['fails at once', 'exit 1'],
  ['never gets ready', 'exec sleep 600'],
])('a command runs in a new sandbox when the prepared one %s', async (_, instead) => {
  const { spoil, prepare, run } = await spoilable(instead)
  await spoil()
  const ahead = prepare()
  expect(await run()).toBe('done\n')
  expect(ahead?.isTaken()).toBe(true)
  // What is left of it does not disturb the next one.
  const next = prepare()
  expect(await next?.waits()).toBe(true)
  expect(await run()).toBe('done\n')
})
