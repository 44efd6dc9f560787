import { join } from 'node:path'
import type { Verdict } from './attack.ts'
import { FILE_ATTACKS } from './sandbox-files.ts'
import { POWER_ATTACKS } from './sandbox-powers.ts'
import { setScene } from './sandbox-scene.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'

/**
 * A child process that attacks the sandbox as its user, in the given folder, and reports the result of each attack.
 * With the argument `ready`, in prepared sandboxes. With another one it only reports whether the self-test of a sandbox passes, or keeps a program running that can be
 * found by that argument, until it is killed.
 */
const [, , root = '', order] = process.argv
await (order === undefined || order === 'ready'
  ? attack(order === 'ready')
  : order === 'prove'
    ? prove()
    : hold(order))

async function attack(ready: boolean): Promise<void> {
  const scene = await setScene(root, ready)
  for (const one of [...POWER_ATTACKS, ...FILE_ATTACKS]) {
    const { row, name } = one
    const through = await one.run(scene).catch((error: unknown) => `it broke: ${String(error)}`)
    const verdict: Verdict = { row, name, ...(through === undefined ? {} : { through }) }
    console.log(JSON.stringify(verdict))
  }
  await scene.clear()
}

async function prove(): Promise<void> {
  console.log(JSON.stringify(await systemSandbox().status()))
}

async function hold(seconds: string): Promise<void> {
  const place = { workspace: join(root, 'outside'), home: join(root, 'home') }
  const run = systemSandbox().runConfined({ ...place, writable: 'workspace', protectedPaths: [] })
  const script = `setsid -f sleep ${seconds}; echo started; sleep ${seconds}`
  await run({
    argv: ['/bin/sh', '-c', script],
    wallMs: 600_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => void process.stdout.write(chunk),
  })
}
