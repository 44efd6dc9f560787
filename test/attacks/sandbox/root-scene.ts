import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { RootScene } from './root-attack.ts'
import { plantClosed, plantCredentials, plantSystemCredentials } from './root-credentials.ts'

/** `ownSystem`: /etc and other system folders are private copies. */
export async function setRootScene(root: string, ownSystem: boolean): Promise<RootScene> {
  const [person, workspace, home] = ['person', 'ws', 'hawser'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  await mkdir(workspace)
  await mkdir(home, { mode: 0o700 })
  const canaries = [
    ...(await plantCredentials(root, person)),
    ...(ownSystem && process.getuid?.() === 0
      ? [...(await plantSystemCredentials()), ...(await plantClosed())]
      : []),
  ]
  await mkdir(join(person, 'bin'), { recursive: true })
  await mkdir(join(person, '.local/bin'), { recursive: true })
  await chmod(person, 0o755)
  const env = {
    ...process.env,
    HOME: person,
    PATH: `${person}/bin:${person}/.local/bin:${process.env['PATH']}`,
    CARGO_HOME: join(root, 'cargo'),
    PUB_CACHE: join(root, 'pub'),
  }
  process.env['HOME'] = person
  const sandbox = systemSandbox({ env })
  const clears: (() => void)[] = []
  const run: RootScene['run'] = async (at, argv, how = {}) => {
    const chunks: Buffer[] = []
    const base = { workspace: at, home, writable: 'workspace' as const, protectedPaths: [] }
    const result = await sandbox.runConfined({ ...base, ...how })({
      argv,
      wallMs: 120_000,
      signal: new AbortController().signal,
      onOutput: (chunk) => void chunks.push(chunk),
    })
    if (!result.ok) throw new Error(result.error.message)
    return { output: Buffer.concat(chunks).toString() }
  }
  return {
    root,
    person,
    workspace,
    canaries,
    run,
    sh: (at, script, how) => run(at, ['/bin/sh', '-c', script], how),
    onClear: (clear) => void clears.push(clear),
    clear: () => {
      for (const clear of clears) clear()
    },
  }
}
