// How long a person waits: `--version`, a new Session up to its first request, and an old Session of a megabyte up to the same
// place. Floors are `node -e 0`, and a script that writes and syncs the same and does nothing else.
import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundled } from './bundled.ts'
import { full, median, tell, tellSkipped } from './figure.ts'
import { noMemoryFigures } from './memory.ts'
import { inScratch } from './scratch.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PROGRAM = join(ROOT, 'dist', 'hawser.js')
const ROUNDS = full ? 25 : 5
const LONG_TURNS = full ? 150 : 6

const run = promisify(execFile)
await run(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--if-stale'])

await inScratch(async (folder) => {
  const floorScript = await bundled('start-floor.worker.ts', folder)
  const cwd = join(folder, 'workspace')
  await mkdir(cwd)
  await writeFile(join(cwd, 'notes.txt'), 'x'.repeat(300))
  const env = { ...process.env, HAWSER_HOME: join(folder, 'home') }
  const node = (...args: readonly string[]) => ended(args, cwd, env)
  const first = (...args: readonly string[]) => firstRequest(args, cwd, env)

  const [bare, version, floor, fresh, resumed]: number[][] = [[], [], [], [], []]
  await first(PROGRAM, 'run', 'What?', '--json')
  const long = await longSession(cwd, env)
  for (let round = 0; round < ROUNDS; round += 1) {
    bare?.push(await node('-e', '0'))
    version?.push(await node(PROGRAM, '--version'))
    floor?.push(await first(floorScript, cwd))
    fresh?.push(await first(PROGRAM, 'run', 'What?', '--json'))
    resumed?.push(await first(PROGRAM, 'run', '--session', long.id, 'What?', '--json'))
  }
  tell({
    bench: 'start: --version, of node -e 0',
    ratio: ratio(version, bare),
    bar: '<= 1.25',
    more: { ms: median(version ?? []), floor_ms: median(bare ?? []) },
  })
  tell({
    bench: 'start: run to its first request, of the floor',
    ratio: ratio(fresh, floor),
    bar: '<= 2.2',
    more: { ms: median(fresh ?? []), floor_ms: median(floor ?? []) },
  })
  tell({
    bench: 'start: an old Session to its first request, of a new one',
    ratio: ratio(resumed, fresh),
    bar: '<= 1.25',
    more: { ms: median(resumed ?? []), log_mib: long.bytes / 1024 / 1024 },
  })
  if (noMemoryFigures !== undefined) return tellSkipped('start: memory', noMemoryFigures)
  const peakScript = await bundled('peak.worker.ts', join(folder, 'preloaded'))
  const peaks: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const kept = join(folder, 'peak')
    const watched = { ...env, HAWSER_BENCH_PEAK: kept }
    await ended(['--import', peakScript, PROGRAM, 'run', 'Read notes.txt', '--json'], cwd, watched)
    peaks.push(Number(await readFile(kept, 'utf8')) / 1e6)
  }
  tell({
    bench: 'start: MB of memory of a run, at its highest',
    ratio: median(peaks),
    bar: '<= 70',
    more: {},
  })
})

/** Each measurement by the one of its round. */
function ratio(of: readonly number[] = [], to: readonly number[] = []): number {
  return median(of.map((ms, at) => ms / (to[at] ?? ms)))
}

/** A Session whose next request is about as long as the Log is. */
async function longSession(cwd: string, env: NodeJS.ProcessEnv) {
  const argv = [
    PROGRAM,
    'run',
    `Read ${Array.from({ length: 20 }, () => 'notes.txt').join(' and ')}`,
  ]
  const { stdout } = await run(process.execPath, [...argv, '--json'], { cwd, env })
  const id = /"session_id":"(\w+)"/.exec(stdout)?.[1] ?? ''
  for (let turn = 1; turn < LONG_TURNS; turn += 1) {
    await run(process.execPath, [...argv, '--json', '--session', id], { cwd, env })
  }
  const log = await readFile(join(cwd, '.hawser', 'sessions', `${id}.ndjson`))
  return { id, bytes: log.length }
}

/** Milliseconds from the start of a program to its end. */
async function ended(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const started = performance.now()
  await run(process.execPath, args, { cwd, env })
  return performance.now() - started
}

/** Milliseconds from the start of a program to the moment when it says that it calls its model. */
function firstRequest(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const started = performance.now()
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  let ms: number | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.includes('"provider_request"')) ms ??= performance.now() - started
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      if (ms === undefined) reject(new Error(`${args.join(' ')} made no request: ${said}`))
      else resolve(ms)
    })
  })
}
