import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const run = promisify(execFile)

const INSIDE = 'HAWSER_FAULT_FOLDER'

/** It dies with the process that started it; its mounts are private and disappear with it. */
const APART = ['--mount', '--propagation', 'private', 'setpriv', '--pdeathsig', 'KILL']
export const APART_NEEDS = ['unshare', 'setpriv', 'mount', 'umount']

/**
 * Starts this script again in its own mount namespace and runs `work` there, with a folder to mount in. However
 * either process ends, nothing stays mounted; the parent removes the folder. Requires root.
 */
export async function withOwnMounts(work: (folder: string) => Promise<void>): Promise<void> {
  const inside = process.env[INSIDE]
  if (inside !== undefined) return work(inside)
  const folder = await mkdtemp(join(tmpdir(), 'own-mounts-'))
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const env = { ...process.env, [INSIDE]: folder }
  const inner = spawn('unshare', [...APART, ...args], { stdio: 'inherit', env })
  const end = () => void inner.kill('SIGKILL')
  process.once('SIGINT', end).once('SIGTERM', end)
  process.exitCode = await new Promise<number>((resolve, reject) => {
    inner.on('error', reject)
    inner.on('close', (code) => resolve(code ?? 1))
  })
  await rm(folder, { recursive: true })
}

/** The reason why these programs cannot run here, if any. */
export async function whyNotAsRoot(programs: readonly string[]): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return 'only root may mount'
  for (const program of programs) {
    const found = await run('sh', ['-c', `command -v ${program}`]).catch(() => undefined)
    if (found === undefined) return `${program} is missing`
  }
  const apart = await run('unshare', [...APART, 'true']).catch(() => undefined)
  return apart === undefined ? 'a mount namespace is refused' : undefined
}
