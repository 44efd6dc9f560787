import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundled } from './bundled.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)

/** Where and how programs run. */
export interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** The program as people get it, built anew when a source is newer. */
export async function builtProgram(): Promise<string> {
  await run(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--if-stale'])
  return join(ROOT, 'dist', 'hawser.js')
}

/** What a program wrote. */
export async function said(args: readonly string[], place: Place): Promise<string> {
  const running = run(process.execPath, args, { ...place, maxBuffer: 64 * 1024 * 1024 })
  // A pipe that stays open would be waited for.
  running.child.stdin?.end()
  return (await running).stdout
}

/** A function that runs a program and tells the most memory that it ever had, in MB. */
export async function peakMeter(folder: string) {
  const script = await bundled('peak.worker.ts', join(folder, 'preloaded'))
  const kept = join(folder, 'peak')
  return async (args: readonly string[], { cwd, env }: Place): Promise<number> => {
    await said(['--import', script, ...args], { cwd, env: { ...env, HAWSER_BENCH_PEAK: kept } })
    return Number(await readFile(kept, 'utf8')) / 1e6
  }
}
