import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemSandbox, type Sandbox } from '../../../src/host/sandbox/sandbox.ts'

/**
 * A child process whose sandboxed programs start as many processes and allocate as much memory as they can, as its user,
 * within small limits, and that prints the result. With `hold` it keeps a command running until it is killed.
 */
const [, , root = '', order] = process.argv
const MIB = 1024 * 1024
const [workspace, home] = ['workspace', 'home'].map((name) => join(root, name)) as [string, string]
for (const folder of [workspace, home]) mkdirSync(folder, { mode: 0o700, recursive: true })

/** Stops at 500 if nothing else stops it. */
const FORKS =
  'my $n = 0; while ($n < 500) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } print "$n\\n"'
const GROWS = 'my $x = "x" x (1024 * 1024 * 1024); print "grown\\n"'

/** Each runs its self-test once. */
const smallSandbox = systemSandbox({ limits: limits(64) })
const wide = systemSandbox({ limits: limits(2_000) })

await (order === 'hold' ? run(smallSandbox, 'print "held\\n"; sleep 600') : report())

async function report(): Promise<void> {
  console.log(
    JSON.stringify({
      status: await smallSandbox.status(),
      limited: await run(smallSandbox, FORKS),
      unlimited: await run(wide, FORKS),
      grows: await run(smallSandbox, GROWS),
      works: await run(smallSandbox, 'print "worked\\n"'),
    }),
  )
}

function limits(processes: number) {
  return { processes, memoryBytes: 256 * MIB }
}

async function run(sandbox: Sandbox, script: string) {
  const chunks: Buffer[] = []
  const place = { workspace, home, writable: 'workspace', protectedPaths: [] } as const
  const ran = await sandbox.runConfined(place)({
    argv: ['/usr/bin/perl', '-e', `$| = 1; ${script}`],
    wallMs: 60_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => {
      chunks.push(chunk)
      if (order === 'hold') console.log('held')
    },
  })
  const output = Buffer.concat(chunks).toString()
  if (!ran.ok) return { output, error: ran.error.message }
  const { code, limitsMet } = ran.value
  return { output, code, limitsMet }
}
