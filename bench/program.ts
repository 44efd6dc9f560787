import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundled } from './bundled.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)

/** Folder and environment of a program. */
export interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** The built program, rebuilt if a source is newer. */
export async function builtProgram(): Promise<string> {
  await run(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--if-stale'])
  return join(ROOT, 'dist', 'hawser.cjs')
}

/** The output of a program. */
export async function said(args: readonly string[], place: Place): Promise<string> {
  const running = run(process.execPath, args, { ...place, maxBuffer: 64 * 1024 * 1024 })
  // The program would wait for an open pipe.
  running.child.stdin?.end()
  return (await running).stdout
}

/** Returns a function that runs a program and returns its peak memory in MB. */
export async function peakMeter(folder: string) {
  const script = await bundled('peak.worker.ts', join(folder, 'preloaded'))
  const kept = join(folder, 'peak')
  return async (args: readonly string[], { cwd, env }: Place): Promise<number> => {
    await said(['--import', script, ...args], { cwd, env: { ...env, HAWSER_BENCH_PEAK: kept } })
    return Number(await readFile(kept, 'utf8')) / 1e6
  }
}
