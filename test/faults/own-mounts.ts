import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

export const run = promisify(execFile)

const INSIDE = 'HAWSER_FAULT_OWN_MOUNTS'

/**
 * True in a process that has a mount namespace of its own: what it mounts is seen by nobody else and is gone with it,
 * however it ends. False in the process that started that one; there nothing is left to do. As root only.
 */
export async function withOwnMounts(): Promise<boolean> {
  if (process.env[INSIDE] !== undefined) return true
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const inner = spawn('unshare', ['--mount', '--propagation', 'private', ...args], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    inner.on('error', reject)
    inner.on('close', (code) => resolve(code ?? 1))
  })
  return false
}

/** Why these programs cannot be run here, if so. */
export async function whyNotAsRoot(...programs: readonly string[]): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return 'only root may mount'
  for (const program of programs) {
    const found = await run('sh', ['-c', `command -v ${program}`]).catch(() => undefined)
    if (found === undefined) return `${program} is missing`
  }
  const apart = await run('unshare', ['--mount', 'true']).catch(() => undefined)
  return apart === undefined ? 'a mount namespace is refused' : undefined
}
