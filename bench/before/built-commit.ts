import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const Manifest = z.object({ bin: z.object({ hawser: z.string() }) })

/** The program of another commit, built once outside the repository with the packages that its lock file names. */
export async function builtCommit(name: string): Promise<{ commit: string; program: string }> {
  const commit = await git('rev-parse', '--verify', `${name}^{commit}`)
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hawser-bench')
  await mkdir(cache, { recursive: true })
  const place = join(cache, `commit-${commit}`)
  const isBuilt = await access(place).then(
    () => true,
    () => false,
  )
  if (!isBuilt) await build(commit, cache, place)
  const { bin } = Manifest.parse(JSON.parse(await readFile(join(place, 'package.json'), 'utf8')))
  return { commit: commit.slice(0, 8), program: join(place, bin.hawser) }
}

async function build(commit: string, cache: string, place: string): Promise<void> {
  const fresh = await mkdtemp(join(cache, '.new-'))
  try {
    const archive = join(fresh, 'commit.tar')
    await git('archive', '--output', archive, commit)
    await run('tar', ['-xf', archive, '-C', fresh])
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['ci', ...quiet], { cwd: fresh })
    await run(process.execPath, ['scripts/build.mjs'], { cwd: fresh })
    await rename(fresh, place)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: ROOT })).stdout.trim()
}
