import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlantedBug } from '../../support/host/planted-bugs.ts'
import { random, type Random } from '../../support/host/random.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { startChild } from '../support/child.ts'
import { judge } from '../support/judge.ts'
import { LoopDisk } from './loop-disk.ts'
import { openPlace } from '../support/place.ts'
import { Ledger, type ChildReport } from '../../support/host/child-report.ts'

export interface PowerCutRun {
  readonly seed: number
  readonly cuts: number
  /** Mount points of the disks. */
  readonly folder: string
  /** Number of concurrent disks. */
  readonly lanes: number
  readonly bug?: PlantedBug
}

export interface PowerCuts {
  /** Violations concerning Events and Logs. */
  readonly events: string[]
  /** Violations concerning blobs: dangling, lost or with other content than their name states. */
  readonly blobs: string[]
  acknowledged: number
  kept: number
  repaired: number
}

/** A disk is recreated after this many cuts. */
const CUTS_A_DISK = 10

/** Writers lose their disk at a random moment; when it is back, everything acknowledged before must be present. */
export async function runPowerCuts(run: PowerCutRun): Promise<PowerCuts> {
  const { seed, cuts, lanes, folder, bug } = run
  const sum: PowerCuts = { events: [], blobs: [], acknowledged: 0, kept: 0, repaired: 0 }
  const script = await bundleScript(new URL('../log/kill-writer.ts', import.meta.url), folder)
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const chance = random(seed + lane)
      const own = Math.floor((cuts + lane) / lanes)
      for (let done = 0; done < own; done += CUTS_A_DISK) {
        const disk = await LoopDisk.make(folder)
        try {
          const one = new OneDisk(disk, script, chance, bug)
          await one.cutAgainAndAgain(Math.min(CUTS_A_DISK, own - done), sum)
        } finally {
          await disk.remove()
        }
      }
    }),
  )
  return sum
}

class OneDisk {
  readonly #disk: LoopDisk
  readonly #script: string
  readonly #chance: Random
  readonly #bug: PlantedBug | undefined
  #ledger = new Ledger()
  #writers = 0

  constructor(disk: LoopDisk, script: string, chance: Random, bug: PlantedBug | undefined) {
    this.#disk = disk
    this.#script = script
    this.#chance = chance
    this.#bug = bug
  }

  async cutAgainAndAgain(cuts: number, sum: PowerCuts): Promise<void> {
    const root = join(this.#disk.path, 'root')
    await mkdir(root, { mode: 0o700 })
    await (await openPlace(root)).close()
    let repaired = 0
    for (let cut = 0; cut < cuts; cut++) {
      const events = await this.#writeAndCut(root)
      const storage = await openPlace(root)
      const found = await judge(storage, this.#ledger)
      await storage.close()
      repaired = found.repaired
      sum.events.push(...events, ...found.events)
      sum.blobs.push(...found.blobs)
      // A violation would be found again after every further cut.
      if (events.length + found.events.length + found.blobs.length > 0) break
    }
    sum.repaired += repaired
    sum.kept += this.#ledger.blobs.size
    for (const lines of this.#ledger.sessions.values()) sum.acknowledged += lines.size
  }

  /** Ends with the disk mounted again, without anything that was only in memory. */
  async #writeAndCut(root: string): Promise<string[]> {
    const chance = this.#chance
    // A killed writer leaves unsynced data to the next one, and then the power is cut.
    if (chance.next() < 0.3) {
      const killed = this.#writer(root, (report) => this.#ledger.note(report))
      await killed.waitFor(({ what }) => what === 'ready')
      await sleep(chance.below(200))
      await killed.kill()
    }
    const power = await this.#disk.switch()
    let isOn = true
    const child = this.#writer(root, (report) => {
      // A report that arrives after the cut may concern a disk that was already gone.
      if (isOn) this.#ledger.note(report)
    })
    await child.waitFor(({ what }) => what === 'ready')
    await sleep(chance.next() < 0.2 ? chance.below(30) : chance.below(600))
    isOn = false
    await power.cut()
    // It detects that the disk is gone, and must receive no acknowledgement from then on.
    await sleep(chance.below(20))
    await child.kill()
    await this.#disk.unmount()
    await this.#disk.mount()
    const refusals = this.#ledger.refusals.splice(0)
    return [
      ...refusals.map(({ doing, message }) => `refused to ${doing}: ${message}`),
      ...falseReports(child.reports),
    ]
  }

  #writer(root: string, note: (report: ChildReport) => void) {
    this.#writers += 1
    const order = {
      root,
      seed: this.#chance.below(2 ** 31),
      name: `w${this.#writers}`,
      session: this.#chance.next() < 0.9 ? this.#ledger.newest() : undefined,
      large: this.#chance.next() < 0.2,
      bug: this.#bug,
    }
    return startChild(this.#script, order, { note })
  }
}

/**
 * A writer whose Log could not be written acknowledges nothing after that. A refused blob does not show when the Log was
 * last synced; and a sync that runs while the file system is shut down may succeed and still be lost (as with
 * a bare write and fdatasync: 22 of 161, none of 7,207 reported before), hence only this is required of late reports.
 */
function falseReports(reports: readonly ChildReport[]): string[] {
  const refused = reports.filter((one) => one.what === 'refused')
  const odd = refused.filter(({ kind }) => kind !== 'storage_failed')
  const stop = reports.findIndex(
    (one) => one.what === 'refused' && one.doing === 'append' && !/store a blob/.test(one.message),
  )
  const later = stop === -1 ? [] : reports.slice(stop).filter(({ what }) => what === 'events')
  return [
    ...odd.map(({ kind, message }) => `refused as ${kind}: ${message}`),
    ...(later.length === 0 ? [] : [`${later.length} acknowledgements of a disk that was off`]),
  ]
}
