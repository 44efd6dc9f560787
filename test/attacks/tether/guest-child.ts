import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemProgram } from '../../../src/host/process/system-program.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { Verdict } from '../sandbox/attack.ts'
import { GUEST_ATTACKS } from './guest-attacks.ts'
import { LIFETIME_ATTACKS } from './guest-lifetime.ts'
import { startGuest } from './guest-scene.ts'
import { running, setScene } from '../sandbox/sandbox-scene.ts'

/**
 * A child process that starts guests as its user, in the given folder, and reports the result of each attack. Started with
 * `tool`, it is inside a guest and runs a script in a nested sandbox. With `hold`, it starts a guest with the given state, prints
 * a line, and keeps it until it is killed. With `start`, it starts a program in a sandbox that is only set up once the file `go`
 * exists, writes the pid of the wrapper to `pid`, and prints a line.
 */
const [, , root = '', order, ...rest] = process.argv
if (order === 'tool') await tool(rest[0] ?? '')
else if (order === 'hold') await hold()
else if (order === 'start') await startSlowly()
else await attack(order)

async function attack(only: string | undefined): Promise<void> {
  const scene = await setScene(root)
  for (const one of [...GUEST_ATTACKS, ...LIFETIME_ATTACKS]) {
    const { row, name } = one
    if (only !== undefined && !name.includes(only)) continue
    await scene.restore()
    const through = await one.run(scene).catch((error: unknown) => `it broke: ${String(error)}`)
    const verdict: Verdict = { row, name, ...(through === undefined ? {} : { through }) }
    console.log(JSON.stringify(verdict))
  }
  await scene.clear()
}

async function tool(script: string): Promise<void> {
  const home = process.env['HAWSER_HOME'] ?? ''
  const ran = await systemSandbox().runConfined({
    workspace: process.cwd(),
    home,
    writable: 'workspace',
    protectedPaths: ['AGENTS.md'],
  })({
    argv: ['/bin/bash', '-c', script],
    env: { OWN: home },
    wallMs: 600_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => void process.stdout.write(chunk),
  })
  if (!ran.ok) console.log(ran.error.message)
}

async function hold(): Promise<void> {
  const [state = '', count = '', mark = '', script = ''] = rest
  const [hawserHome, workspace] = [join(root, 'home'), join(root, 'ws')]
  await mkdir(hawserHome, { recursive: true })
  await mkdir(join(workspace, '.hawser'), { recursive: true })
  const guest = await startGuest(
    { hawserHome, workspace },
    script,
    systemSandbox(),
    state === 'unconfined' ? { withoutSandbox: true } : {},
  )
  await guest.says('tool is up')
  while (running(`sleep ${mark}`) < Number(count))
    await new Promise<void>((r) => void setTimeout(r, 5))
  if (state !== 'running') {
    const paused = await guest.process.pause()
    if (!paused.ok) throw new Error(paused.error.message)
  }
  console.log('held')
  await guest.process.ending
}

async function startSlowly(): Promise<void> {
  const at = (name: string) => join(root, name)
  const [home, workspace, program] = [at('home'), at('ws'), at('bwrap')]
  await mkdir(home, { recursive: true })
  await mkdir(workspace)
  const waits = `echo $$ >${at('new')}; mv ${at('new')} ${at('pid')}; until [ -e ${at('go')} ]; do sleep 0.01; done`
  const bubblewrap = (await systemProgram('bwrap')) ?? ''
  await writeFile(
    program,
    `#!/bin/sh\n[ ! -e ${at('slow')} ] || { ${waits}; }\nexec ${bubblewrap} "$@"\n`,
  )
  await chmod(program, 0o755)
  const sandbox = systemSandbox({ program })
  await sandbox.status()
  await writeFile(at('slow'), '')
  // Starting resolves when the sandbox is set up, which waits.
  console.log('starting')
  const started = await sandbox.start(
    { workspace, home, writable: 'workspace', protectedPaths: [] },
    { argv: ['/bin/sh', '-c', 'touch ran; exec sleep 1000'], descriptors: [], onOutput: () => {} },
  )
  if (!started.ok) throw new Error(started.error.message)
  await started.value.ending
}
