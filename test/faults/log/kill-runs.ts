import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { random, type Random } from '../../support/host/random.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { startChild } from '../support/child.ts'
import { judge } from '../support/judge.ts'
import { openPlace } from '../support/place.ts'
import { Ledger } from '../../support/host/child-report.ts'

export interface KillRun {
  readonly seed: number
  readonly kills: number
  /** The number of writers that run concurrently, each with its own folder. */
  readonly lanes: number
  /** The parent of the folders; all are removed, except those with a violation. */
  readonly folder: string
}

export interface Killed {
  readonly violations: string[]
  events: number
  blobs: number
  repaired: number
}

/** A folder is abandoned after this many kills, because the data to check grows with each. */
const KILLS_A_FOLDER = 12

/** Writers are killed at random moments; after each kill, everything acknowledged must be present. */
export async function runKills({ seed, kills, lanes, folder }: KillRun): Promise<Killed> {
  const root = await mkdtemp(join(folder, 'kill-'))
  const script = await bundleScript(new URL('kill-writer.ts', import.meta.url), root)
  const sum: Killed = { violations: [], events: 0, blobs: 0, repaired: 0 }
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const chance = random(seed + lane)
      const own = Math.floor((kills + lane) / lanes)
      for (let done = 0; done < own; done += KILLS_A_FOLDER) {
        const place = join(root, `${lane}-${done}`)
        await mkdir(place, { mode: 0o700 })
        const some = Math.min(KILLS_A_FOLDER, own - done)
        const violations = await oneFolder(script, place, some, chance, sum)
        sum.violations.push(...violations.map((text) => `${place}: ${text}`))
        if (violations.length === 0) await rm(place, { recursive: true })
      }
    }),
  )
  if (sum.violations.length === 0) await rm(root, { recursive: true })
  return sum
}

async function oneFolder(
  script: string,
  root: string,
  kills: number,
  chance: Random,
  sum: Killed,
): Promise<string[]> {
  const violations: string[] = []
  const ledger = new Ledger()
  let repaired = 0
  for (let kill = 0; kill < kills && violations.length === 0; kill++) {
    const session = chance.next() < 0.9 ? ledger.newest() : undefined
    const large = chance.next() < 0.3
    const order = { root, seed: chance.below(2 ** 31), name: `w${kill}`, session, large }
    const child = startChild(script, order, { note: (report) => ledger.note(report) })
    await child.waitFor(({ what }) => what === 'ready')
    // Some die while they open the Log, most while they write to it.
    await sleep(chance.next() < 0.3 ? chance.below(25) : chance.below(300))
    const { signal, complaint } = await child.kill()
    if (signal !== 'SIGKILL') violations.push(`the writer ended by itself: ${complaint}`)
    for (const { doing, kind, message } of ledger.refusals.splice(0)) {
      violations.push(`refused to ${doing}: ${kind}: ${message}`)
    }
    const storage = await openPlace(root)
    const found = await judge(storage, ledger)
    await storage.close()
    violations.push(...[...found.events, ...found.blobs].map((text) => `kill ${kill}: ${text}`))
    repaired = found.repaired
  }
  sum.repaired += repaired
  sum.blobs += ledger.blobs.size
  for (const lines of ledger.sessions.values()) sum.events += lines.size
  return violations
}
