import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'

/** A child process that prepares one sandbox after another in a workspace of its own, until it is killed. With a second argument it keeps the first. */
const [, , folder = '', hold] = process.argv
const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
for (const one of [workspace, home]) mkdirSync(one, { recursive: true })
const place = { workspace, home, writable: 'workspace', protectedPaths: [] } as const
const sandbox = systemSandbox()
await sandbox.status()
process.stdout.write('proved\n')
for (;;) {
  const ahead = sandbox.prepare?.(place, {})
  if ((await ahead?.waits()) !== true) throw new Error('nothing was prepared')
  process.stdout.write('waits\n')
  await (hold === undefined ? ahead?.end() : forever())
}

/** A timer keeps the process running. */
async function forever(): Promise<void> {
  for (;;) await setTimeout(60_000)
}
