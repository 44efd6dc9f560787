import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { closing } from '../../../src/host/files/files.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import type { ChildReport } from '../../support/host/child-report.ts'
import { allFrames, openFrames } from '../../support/tether/frame-log-place.ts'
import { FrameJournal } from '../../support/tether/frame-story.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { startChild } from '../support/child.ts'
import { KILLED } from './frame-kill-settings.ts'

export interface FrameKills {
  readonly violations: readonly string[]
  readonly durable: number
  readonly seen: number
  readonly repaired: number
}

/** Processes that append to one frame log and poll it are killed at random moments. */
export async function runFrameKills(
  parent: string,
  kills: number,
  seed: number,
): Promise<FrameKills> {
  const chance = random(seed)
  const root = await mkdtemp(join(parent, 'frame-kill-'))
  const scripts = await mkdtemp(join(parent, 'frame-script-'))
  const script = await bundleScript(new URL('frame-kill-child.ts', import.meta.url), scripts)
  const journal = new FrameJournal()
  const note = (report: ChildReport) => {
    if (report.what === 'frame') journal.note(report)
    if (report.what === 'offence') journal.offences.push(report.text)
  }
  let repaired = 0
  for (let kill = 0; kill < kills && journal.offences.length === 0; kill++) {
    journal.begin()
    const order = { root, seed: chance.below(2 ** 31), name: `w${kill}` }
    const child = startChild(script, order, { note })
    await child.waitFor(({ what }) => what === 'ready')
    // Some are killed while they open the log, most while they write.
    await sleep(chance.next() < 0.2 ? chance.below(20) : chance.below(250))
    const { signal, complaint } = await child.kill()
    if (signal !== 'SIGKILL') journal.offences.push(`the child ended by itself: ${complaint}`)
    if (await judged(root, journal)) repaired += 1
  }
  const { offences, durable, seen } = journal
  await rm(scripts, { recursive: true })
  if (offences.length === 0) await rm(root, { recursive: true })
  const violations = offences.map((text) => `${root}: ${text}`)
  return { violations, durable: durable.size, seen: seen.size, repaired }
}

/** Whether a torn tail was cut. */
async function judged(root: string, journal: FrameJournal): Promise<boolean> {
  return closing(await diskFolder(root), async (folder) => {
    const log = value(await openFrames(folder, { settings: KILLED }))
    if (log.damage !== undefined) journal.offences.push(log.damage.error.message)
    journal.judge(await allFrames(log, 200), log.pending(), log.firstAvailable)
    await log.close()
    return log.repair !== undefined
  })
}
