import { constants } from 'node:fs'
import { access, lstat, stat, statfs } from 'node:fs/promises'
import { arch, homedir, release, totalmem } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'

/** The machine and runtime of this process. */
export interface MachineFacts {
  readonly node: string
  readonly platform: string
  readonly arch: string
  readonly release: string
}

export function machineFacts(): MachineFacts {
  const { versions, platform } = process
  return { node: versions.node, platform, arch: arch(), release: release() }
}

/** The environment of this process. */
export function processEnv(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** The operating system by its usual name, and the processor: `Linux x64`. */
export function operatingSystem(): string {
  const { platform } = process
  const names: Readonly<Record<string, string>> = {
    linux: 'Linux',
    darwin: 'macOS',
    win32: 'Windows',
  }
  return `${names[platform] ?? platform} ${arch()}`
}

/** The shell that runs commands: the system's bash, or the first on `PATH`; `sh` if there is none. */
export async function commandShell(): Promise<'bash' | 'sh'> {
  const folders = ['/bin', '/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)]
  for (const folder of folders) {
    if (!isAbsolute(folder)) continue
    const runs = access(join(folder, 'bash'), constants.X_OK)
    if (await runs.then(() => true).catch(() => false)) return 'bash'
  }
  return 'sh'
}

/** A share of the memory of this machine, or of the container this process runs in. */
export function memoryShare(percent: number): number {
  const most = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  return Math.floor((most * percent) / 100)
}

/** The user's home; absent when the system has none or names a relative path. */
export function userHome(): string | undefined {
  try {
    const path = homedir()
    return isAbsolute(path) ? path : undefined
  } catch {
    return undefined
  }
}

/** Empty when neither `HAWSER_HOME` nor the system names a home; `openHome` then returns an error. */
export function homePath(env: Readonly<Record<string, string | undefined>>): string {
  const chosen = env['HAWSER_HOME']
  if (chosen !== undefined && chosen !== '') return resolve(chosen)
  const user = userHome()
  return user === undefined ? '' : join(user, '.hawser')
}

/** The state of a path now, for reports only: code that acts on a path opens it first and checks what it opened. */
export type PathFacts =
  | {
      readonly kind: 'folder'
      readonly ours: boolean
      /** The permission bits, as in 0o700. */
      readonly mode: number
      readonly writable: boolean
      readonly freeBytes: number
    }
  | { readonly kind: 'missing' | 'not_folder' }
  | { readonly kind: 'unreadable'; readonly code: string }

/** What a path leads to now; `undefined` if nothing exists there. Only a hint. Never throws for system errors. */
export async function entryAt(path: string): Promise<'file' | 'folder' | 'other' | undefined> {
  // A link without a target exists too.
  const facts = await stat(path)
    .catch(() => lstat(path))
    .catch(() => undefined)
  if (facts === undefined) return undefined
  if (facts.isFile()) return 'file'
  return facts.isDirectory() ? 'folder' : 'other'
}

/** Never throws for system errors. */
export async function pathFacts(path: string): Promise<PathFacts> {
  try {
    const facts = await stat(path)
    if (!facts.isDirectory()) return { kind: 'not_folder' }
    const writable = await access(path, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    )
    const { bavail, bsize } = await statfs(path)
    const uid = process.geteuid?.()
    const ours = uid === undefined || facts.uid === uid
    return { kind: 'folder', ours, mode: facts.mode & 0o777, writable, freeBytes: bavail * bsize }
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code !== 'string') throw error
    return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'unreadable', code }
  }
}
