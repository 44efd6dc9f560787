// Tool round trips of a guest, whose requests pass through the relay of another process, relative to the same round trips
// through a bare relay, which only copies, and compared with a direct connection. All run in one process and alternate; the
// server and its answers are those of dialects.bench.ts.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { VENDOR_DIALECTS } from '../test/support/providers/dialects.ts'
import type { VendorDialect } from '../test/support/providers/vendor-schemas.ts'
import { bundled } from './bundled.ts'
import { measureIn, type Measured } from './child.ts'
import { full, median, tell } from './figure.ts'
import { inScratch } from './scratch.ts'
import { PROVIDERS, READ_FILE } from './vendor-start.ts'
import { vendor, type Vendor } from './vendor.ts'

const ROUNDS = full ? 3 : 1
/** Round trips before the last measured one. */
const TRIPS = full ? [60, 1_000] : [30, 100]
/** Relative to the bare relay, which does not read what it copies: see ADR 20. */
const MOST_RATIO = [1.3, 1.6] as const
/** A model takes a second and more to answer: half a percent of that for a short request, one percent for a long one. */
const MOST_ADDED_MS = [5, 10] as const
const MEASURED = full ? 40 : 20

await inScratch(async (folder) => {
  const server = await vendor(folder, READ_FILE)
  try {
    const daemon = await bundled('relay-daemon.worker.ts', join(folder, 'daemon'))
    const guest = await bundled('relay-guest.worker.ts', join(folder, 'guest'))
    for (const dialect of VENDOR_DIALECTS) {
      for (const [at, trips] of TRIPS.entries()) {
        const place = { folder, daemon, guest, server }
        const bars = { ratio: MOST_RATIO[at] ?? 0, addedMs: MOST_ADDED_MS[at] ?? 0 }
        await measureTrips(place, dialect, trips, bars)
      }
    }
  } finally {
    server.close()
  }
})

interface Place {
  readonly folder: string
  readonly daemon: string
  readonly guest: string
  readonly server: Vendor
}

async function measureTrips(
  { folder, daemon, guest, server }: Place,
  dialect: VendorDialect,
  trips: number,
  bars: { readonly ratio: number; readonly addedMs: number },
): Promise<void> {
  const rounds: Measured[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const root = join(folder, 'round')
    await mkdir(root)
    const urls = ['relayed', 'bare', 'direct'].map((name) =>
      server.baseUrl(dialect, trips, `${name}-${trips}-${round}`),
    )
    const counts = [`${trips}`, `${MEASURED}`]
    const args = [guest, PROVIDERS[dialect], ...urls, root, dialect, READ_FILE, ...counts]
    rounds.push(await measureIn(daemon, args))
    await rm(root, { recursive: true })
  }
  const of = (name: string) => median(rounds.map((measured) => measured(name)))
  tell({
    bench: `relay: ${dialect}: time of round trip ${trips}, relative to a bare relay`,
    ratio: of('ratio'),
    bar: `<= ${bars.ratio}`,
    more: {
      relayed_ms: of('relayed_ms'),
      bare_ms: of('bare_ms'),
      direct_ms: of('direct_ms'),
      direct_ratio: of('direct_ratio'),
      bare_direct_ratio: of('bare_direct_ratio'),
      request_bytes: of('request_bytes'),
    },
  })
  tell({
    bench: `relay: ${dialect}: ms that it adds to round trip ${trips}, compared with a direct connection`,
    ratio: of('added_ms'),
    bar: `<= ${bars.addedMs}`,
    more: { bare_added_ms: of('bare_added_ms') },
  })
}
