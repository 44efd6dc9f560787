import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { ConfinedFiles } from '../../host/files/confined-files.ts'
import { systemProgram } from '../../host/process/system-program.ts'
import { nextRound } from '../../host/wait.ts'
import type { Sandbox } from '../../host/sandbox/sandbox.ts'

/** The parts of a Session that listing files uses. */
interface FileParts {
  readonly workspace: {
    readonly path: string
    readonly identity?: FolderIdentity | undefined
    readonly home: string
  }
  readonly tools: {
    readonly files: Pick<ConfinedFiles, 'list' | 'isProtected'>
    readonly sandbox: Sandbox
    readonly protectedPaths: readonly string[]
    readonly readable?: readonly string[] | undefined
  }
}

export interface FileScan {
  /** Receives paths relative to the workspace, in pieces and in any order. Returns false to stop. */
  readonly onPaths: (paths: readonly string[]) => boolean
  readonly signal: AbortSignal
}

/**
 * Lists the files of the workspace: those that git tracks or does not ignore, or without a repository or a sandbox those of a
 * walk that skips the usual folders. Git runs in the sandbox, read-only, because the settings of a repository can make it run
 * programs. Never fails: a list that is incomplete is still useful.
 */
export async function listFiles(parts: FileParts, scan: FileScan): Promise<void> {
  if (await byGit(parts, scan)) return
  await byWalk(parts, scan)
}

const SCAN_MS = 60_000
const NUL = 0

/** Whether git listed the files. */
async function byGit(
  { workspace, tools }: FileParts,
  { onPaths, signal }: FileScan,
): Promise<boolean> {
  const { sandbox, files, protectedPaths, readable = [] } = tools
  const [program, confined] = await Promise.all([systemProgram('git'), sandbox.confines()])
  if (program === undefined || !confined) return false
  const stop = new AbortController()
  const end = () => stop.abort()
  signal.addEventListener('abort', end)
  const isProtected = protection(files)
  let rest: Buffer = Buffer.alloc(0)
  let found = 0
  const run = sandbox.runConfined({
    workspace: workspace.path,
    identity: workspace.identity,
    home: workspace.home,
    writable: 'nothing',
    protectedPaths,
    readable,
  })
  const exit = await run({
    // Errors would be in the middle of the paths.
    argv: ['/bin/sh', '-c', 'exec "$0" "$@" 2>/dev/null', program, ...LIST],
    wallMs: SCAN_MS,
    searches: true,
    signal: stop.signal,
    onOutput: async (chunk) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const last = bytes.lastIndexOf(NUL)
      rest = bytes.subarray(last + 1)
      if (last === -1) return
      const paths = bytes.toString('utf8', 0, last).split('\0')
      found += paths.length
      // Git waits meanwhile, and keys do not.
      for (let at = 0; at < paths.length && !stop.signal.aborted; at += SLICE) {
        const slice = paths.slice(at, at + SLICE).filter((path) => !isProtected(path))
        if (!onPaths(slice)) stop.abort()
        await nextRound()
      }
    },
  })
  signal.removeEventListener('abort', end)
  return found > 0 || (exit.ok && exit.value.code === 0)
}

/** How many paths are handled at once. */
const SLICE = 1_000

/** Judges each folder once: a repository has far fewer folders than files. */
function protection(files: Pick<ConfinedFiles, 'isProtected'>): (path: string) => boolean {
  const known = new Map<string, boolean>()
  return (path) => {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    if (folder === '') return files.isProtected(path)
    const found = known.get(folder) ?? files.isProtected(folder)
    known.set(folder, found)
    return found
  }
}

const LIST = [
  '-c',
  'core.fsmonitor=false',
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '-z',
] as const

/** Folders that are large, and rarely mentioned. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

const MOST_FOLDERS = 20_000

async function byWalk(
  { tools: { files } }: FileParts,
  { onPaths, signal }: FileScan,
): Promise<void> {
  const waiting = ['']
  for (let seen = 0; waiting.length > 0 && seen < MOST_FOLDERS; seen += 1) {
    if (signal.aborted) return
    const folder = waiting.shift() ?? ''
    const entries = await files.list(folder === '' ? '.' : folder)
    if (!entries.ok) continue
    const paths: string[] = []
    for (const { name, kind } of entries.value) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (files.isProtected(path)) continue
      if (kind === 'file') paths.push(path)
      if (kind === 'folder' && !SKIPPED.has(name)) waiting.push(path)
    }
    if (!onPaths(paths)) return
  }
}
