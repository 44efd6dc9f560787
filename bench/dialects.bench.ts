// The same as start.bench.ts and turn.bench.ts, with real providers over HTTP: the built program until a server has received its
// complete first request, and tool round trips. The floors send and receive the same amount to and from the same server, in
// plain Node.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { VENDOR_DIALECTS } from '../test/support/providers/dialects.ts'
import type { VendorDialect } from '../test/support/providers/vendor-schemas.ts'
import { bundled } from './bundled.ts'
import { measureIn, type Measured } from './child.ts'
import { full, median, medianRatio, tell, tellSkipped } from './figure.ts'
import { noMemoryFigures } from './memory.ts'
import { builtProgram, peakMeter } from './program.ts'
import { inScratch } from './scratch.ts'
import { firstRequest, placeOf, PROVIDERS, READ_FILE, workspaceWith } from './vendor-start.ts'
import { vendor, type Vendor } from './vendor.ts'

const STARTS = full ? 25 : 5
const TRIP_ROUNDS = full ? 3 : 1
const LATE = full ? 2_000 : 200
const EARLY = 50
const AROUND = 50
const READ_BYTES = 300

const PATHS: Readonly<Record<VendorDialect, string>> = {
  messages: '/v1/messages',
  responses: '/responses',
  chat: '/chat/completions',
}

const program = await builtProgram()

await inScratch(async (folder) => {
  const server = await vendor(folder, READ_FILE)
  try {
    const workspace = await workspaceWith(folder, READ_BYTES)
    await measureStarts(folder, workspace, server)
    await measureMemory(folder, workspace, server)
    for (const dialect of VENDOR_DIALECTS) await measureTrips(folder, dialect, server)
  } finally {
    server.close()
  }
})

async function measureStarts(folder: string, workspace: string, server: Vendor): Promise<void> {
  const floorScript = await bundled('start-floor.worker.ts', folder)
  const asks = VENDOR_DIALECTS.map((dialect) => {
    const url = server.baseUrl(dialect, 0, 'start')
    const floorUrl = server.baseUrl(dialect, 0, 'floor')
    const place = placeOf(folder, workspace, url)
    const args = [program, 'run', 'What?', '--json', '--provider', PROVIDERS[dialect]]
    const floorArgs = (bytes: number) => [
      floorScript,
      workspace,
      `${floorUrl}${PATHS[dialect]}`,
      `${bytes}`,
    ]
    const [ms, floorMs]: [number[], number[]] = [[], []]
    return {
      dialect,
      ms,
      floorMs,
      own: () => firstRequest(args, place, url, server),
      floor: (bytes: number) => firstRequest(floorArgs(bytes), place, floorUrl, server),
    }
  })
  // Warm up: reading the program's files for the first time is not measured.
  for (const { own } of asks) await own()
  for (let round = 0; round < STARTS; round += 1) {
    for (const { ms, floorMs, own, floor } of asks) {
      const started = await own()
      ms.push(started.ms)
      floorMs.push((await floor(started.bytes)).ms)
    }
  }
  for (const { dialect, ms, floorMs } of asks) {
    tell({
      bench: `dialects: ${dialect}: start to first request, relative to the floor`,
      ratio: medianRatio(ms, floorMs),
      bar: '<= 3',
      more: { ms: median(ms), floor_ms: median(floorMs) },
    })
  }
}

async function measureMemory(folder: string, workspace: string, server: Vendor): Promise<void> {
  if (noMemoryFigures !== undefined) return tellSkipped('dialects: memory', noMemoryFigures)
  const peakOf = await peakMeter(folder)
  for (const dialect of VENDOR_DIALECTS) {
    const url = server.baseUrl(dialect, 3, 'memory')
    const args = [program, 'run', 'Read the notes.', '--json', '--provider', PROVIDERS[dialect]]
    const peaks: number[] = []
    for (let round = 0; round < 5; round += 1) {
      peaks.push(await peakOf(args, placeOf(folder, workspace, url)))
    }
    tell({
      bench: `dialects: ${dialect}: peak memory of a run, in MB`,
      ratio: median(peaks),
      bar: '<= 85',
      more: { calls: 3 },
    })
  }
}

async function measureTrips(folder: string, dialect: VendorDialect, server: Vendor): Promise<void> {
  const worker = await bundled('dialects.worker.ts', join(folder, `trips-${dialect}`))
  const rounds: Measured[] = []
  for (let round = 0; round < TRIP_ROUNDS; round += 1) {
    const root = join(folder, 'round')
    await mkdir(root)
    const urls = [
      server.baseUrl(dialect, LATE + AROUND / 2, `long-${round}`),
      server.baseUrl(dialect, EARLY + AROUND / 2, `young-${round}`),
      `${server.baseUrl(dialect, Infinity, `floor-${round}`)}${PATHS[dialect]}`,
    ]
    rounds.push(await measureIn(worker, [root, dialect, `${LATE}`, READ_FILE, ...urls]))
    await rm(root, { recursive: true })
  }
  tellTrips(dialect, (figure) => median(rounds.map(figure)))
}

function tellTrips(
  dialect: VendorDialect,
  of: (figure: (measured: Measured) => number) => number,
): void {
  tell({
    bench: `dialects: ${dialect}: time of round trip 20, relative to the floor`,
    ratio: of((measured) => measured('soon_ratio')),
    bar: '<= 2.5',
    more: {
      ms_at_20: of((measured) => measured('soon_ms')),
      floor_ms: of((measured) => measured('soon_floor_ms')),
      syncs: of((measured) => measured('syncs')),
    },
  })
  // The floor also takes longer for a request of 2,000 round trips: it joins, sends and receives it.
  tell({
    bench: `dialects: ${dialect}: ratio to the floor at round trip ${LATE}, relative to round trip 50`,
    ratio: of((measured) => measured('late_ratio') / measured('early_ratio')),
    bar: '<= 1.3',
    more: {
      ms_at_50: of((measured) => measured('early_ms')),
      floor_ms_at_50: of((measured) => measured('early_floor_ms')),
      [`ms_at_${LATE}`]: of((measured) => measured('late_ms')),
      [`floor_ms_at_${LATE}`]: of((measured) => measured('late_floor_ms')),
      growth: of((measured) => measured('late_ms') / measured('early_ms')),
      floor_growth: of((measured) => measured('late_floor_ms') / measured('early_floor_ms')),
      cpu_growth: of((measured) => measured('late_cpu_ms') / measured('early_cpu_ms')),
      request_bytes: of((measured) => measured('late_bytes')),
    },
  })
  tell({
    bench: `dialects: ${dialect}: Log bytes per round trip`,
    ratio: of((measured) => measured('log_bytes')),
    bar: '<= 2600',
    more: {},
  })
}
