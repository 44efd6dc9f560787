import type { Folder } from '../../../src/host/files/files.ts'
import { CrashDisk, PowerCut } from '../../support/host/crash-disk.ts'
import { withBug, type PlantedBug } from '../../support/host/planted-bugs.ts'
import { random } from '../../support/host/random.ts'
import { judgeStory } from '../../support/log/story-check.ts'
import { newJournal, Refused, runStory } from '../../support/log/story.ts'

/** The number of steps of the story without a fault; each of them is a point to crash at. */
export async function storySteps(): Promise<number> {
  const disk = new CrashDisk(1)
  await runStory(disk.folder(), newJournal())
  return disk.steps
}

/** The power is cut at step `cutAt`; then the disk is checked. */
export async function crashOnce(seed: number, cutAt: number): Promise<string[]> {
  const disk = new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true })
  const journal = newJournal()
  await untilPowerCut(() => runStory(disk.folder(), journal))
  return judgeStory(disk.afterCrash(seed).folder(), journal)
}

/** The program is killed at step `cutAt` while the machine keeps running: unsynced bytes stay readable. */
export async function killOnce(seed: number, cutAt: number): Promise<string[]> {
  const disk = new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true })
  const journal = newJournal()
  await untilPowerCut(() => runStory(disk.folder(), journal))
  return judgeStory(disk.afterKill(seed).folder(), journal)
}

/** The power is cut at any step, and again at any step of the recovery, for a program with `bug`. */
export async function crashTwice(seed: number, steps: number, bug?: PlantedBug): Promise<string[]> {
  const chance = random(seed)
  const seen = (folder: Folder) => (bug === undefined ? folder : withBug(folder, bug))
  const journal = newJournal()
  const first = new CrashDisk(seed, { powerCutAt: 1 + chance.below(steps), shortWrites: true })
  await untilPowerCut(() => runStory(seen(first.folder()), journal))
  const cutAgain = { powerCutAt: 1 + chance.below(40), shortWrites: true }
  const second = first.afterCrash(seed, cutAgain)
  const offences = (await untilPowerCut(() => judgeStory(seen(second.folder()), journal))) ?? []
  return [...offences, ...(await judgeStory(seen(second.afterCrash(seed).folder()), journal))]
}

/** The program is killed at step `cutAt`; another one continues from there, and then the power is cut. */
export async function killThenCrash(seed: number, cutAt: number): Promise<string[]> {
  const chance = random(seed)
  const journal = newJournal()
  const first = new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true })
  await untilPowerCut(() => runStory(first.folder(), journal))
  const second = first.afterKill(seed, { powerCutAt: 1 + chance.below(60), shortWrites: true })
  const offences = (await untilPowerCut(() => judgeStory(second.folder(), journal))) ?? []
  return [...offences, ...(await judgeStory(second.afterCrash(seed).folder(), journal))]
}

async function untilPowerCut<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    // A program with a planted bug may also be refused a request before the power is cut.
    if (error instanceof PowerCut || error instanceof Refused) return undefined
    throw error
  }
}
