import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemProgram } from '../../../src/host/process/system-program.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { freshFolder } from '../../support/host/folder.ts'

const sandbox = systemSandbox()
const { isConfined } = await sandbox.status()
const npm = await systemProgram('npm')

test.skipIf(!isConfined || npm === undefined)(
  'an npm install without network is explained at once, long before npm gives up',
  { timeout: 60_000 },
  async () => {
    const workspace = await freshFolder()
    const home = await freshFolder()
    await writeFile(join(workspace, 'package.json'), '{"dependencies":{"left-pad":"1.3.0"}}')
    const stop = new AbortController()
    const run = sandbox.runConfined({ workspace, home, writable: 'workspace', protectedPaths: [] })
    // The notice ends the command; without it, npm would run until the time limit.
    const exit = await run({
      argv: ['/bin/sh', '-c', `${npm} install --registry https://192.0.2.1/`],
      wallMs: 50_000,
      signal: stop.signal,
      onOutput: () => {},
      onNetworkTry: () => stop.abort(),
    })
    expect(exit).toMatchObject({
      ok: true,
      value: { triedNetwork: true, wasInterrupted: true, timedOut: false },
    })
  },
)
