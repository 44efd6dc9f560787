// How long a person waits: `--version`, a new Session until its first request, and an old Session of one megabyte until the same
// point. The floors are `node -e 0`, and a script that only writes and syncs the same.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { bundled } from './bundled.ts'
import { full, median, medianRatio, tell, tellSkipped, timed } from './figure.ts'
import { firstRequest } from './first-request.ts'
import { noMemoryFigures } from './memory.ts'
import { builtProgram, peakMeter, said, type Place } from './program.ts'
import { inScratch } from './scratch.ts'

const ROUNDS = full ? 25 : 5
const LONG_TURNS = full ? 150 : 6

/** The model answers it at once, in a new Session too: it makes no call. */
const QUESTION = 'What happened?'

const PROGRAM = await builtProgram()

await inScratch(async (folder) => {
  const floorScript = await bundled('start-floor.worker.ts', folder)
  const cwd = join(folder, 'workspace')
  await mkdir(cwd)
  await writeFile(join(cwd, 'notes.txt'), 'x'.repeat(300))
  const place = { cwd, env: { ...process.env, HAWSER_HOME: join(folder, 'home') } }
  const node = (...args: readonly string[]) => timed(() => said(args, place))
  const first = (...args: readonly string[]) => firstRequest(args, place)

  const [bare, version, floor, fresh, resumed] = [list(), list(), list(), list(), list()]
  await first(PROGRAM, 'run', QUESTION, '--json')
  const long = await longSession(place)
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await node('-e', '0'))
    version.push(await node(PROGRAM, '--version'))
    floor.push(await first(floorScript, cwd))
    fresh.push(await first(PROGRAM, 'run', QUESTION, '--json'))
    resumed.push(await first(PROGRAM, 'run', '--session', long.id, QUESTION, '--json'))
  }
  tell({
    bench: 'start: --version, relative to node -e 0',
    ratio: medianRatio(version, bare),
    bar: '<= 1.25',
    more: { ms: median(version), floor_ms: median(bare) },
  })
  tell({
    bench: 'start: start to first request, relative to the floor',
    ratio: medianRatio(fresh, floor),
    bar: '<= 2.2',
    more: { ms: median(fresh), floor_ms: median(floor) },
  })
  tell({
    bench: 'start: start to first request of an old Session, relative to a new one',
    ratio: medianRatio(resumed, fresh),
    // 1.25 with checkpoints, which make opening independent of the length of a Log.
    bar: '<= 1.5',
    more: { ms: median(resumed), log_mib: long.bytes / 1024 / 1024 },
  })
  if (noMemoryFigures !== undefined) return tellSkipped('start: memory', noMemoryFigures)
  const peakOf = await peakMeter(folder)
  const peaks: number[] = []
  for (let round = 0; round < 5; round += 1) {
    peaks.push(await peakOf([PROGRAM, 'run', 'Read notes.txt', '--json'], place))
  }
  tell({
    bench: 'start: peak memory of a run, in MB',
    ratio: median(peaks),
    bar: '<= 70',
    more: {},
  })
})

function list(): number[] {
  return []
}

/** A Session of about a megabyte, each of whose Turns reads one file. */
async function longSession(place: Place) {
  const args = [PROGRAM, 'run', 'Read notes.txt', '--json']
  const id = /"session_id":"(\w+)"/.exec(await said(args, place))?.[1] ?? ''
  for (let turn = 1; turn < LONG_TURNS; turn += 1) await said([...args, '--session', id], place)
  const log = await readFile(join(place.cwd, '.hawser', 'sessions', `${id}.ndjson`), 'utf8')
  const reads = log.match(/"type":"tool_call"/g)?.length ?? 0
  if (reads !== LONG_TURNS) throw new Error(`${reads} reads in ${LONG_TURNS} Turns`)
  return { id, bytes: Buffer.byteLength(log) }
}
