import type { Folder } from '../../../src/host/files/files.ts'
import { CrashDisk, PowerCut } from '../../support/host/crash-disk.ts'
import { FrameJournal, runFrameStory } from '../../support/tether/frame-story.ts'
import { withBug, type PlantedBug } from '../../support/host/planted-bugs.ts'
import { random } from '../../support/host/random.ts'
import { Refused } from '../../support/log/story.ts'

/** The number of steps of the story without a fault. */
export async function frameStorySteps(): Promise<number> {
  const disk = new CrashDisk(1)
  const journal = new FrameJournal()
  await runFrameStory(disk.folder(), journal, 's')
  if (journal.offences.length > 0) throw new Error(journal.offences.join('; '))
  return disk.steps
}

/**
 * The power is cut, or the process killed, at step `cutAt`; a second process is cut off at a random step, also while it
 * opens the log; a third one finds everything that was acknowledged, and continues.
 */
export async function frameCrash(
  seed: number,
  cutAt: number,
  how: 'power' | 'kill',
  bug?: PlantedBug,
): Promise<readonly string[]> {
  const chance = random(seed)
  const seen = (folder: Folder) => (bug === undefined ? folder : withBug(folder, bug))
  const journal = new FrameJournal()
  const first = new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true })
  await untilCut(() => runFrameStory(seen(first.folder()), journal, 'first'))
  const again = { powerCutAt: 1 + chance.below(40), shortWrites: true }
  const second = how === 'power' ? first.afterCrash(seed, again) : first.afterKill(seed, again)
  await untilCut(() => runFrameStory(seen(second.folder()), journal, 'second'))
  const third = second.afterCrash(seed)
  await untilCut(() => runFrameStory(seen(third.folder()), journal, 'third', 1))
  return journal.offences
}

/** What is wrong after an end at every step from `first`, `by` steps apart. */
export async function frameCrashes(
  how: 'power' | 'kill',
  { first = 1, by = 1 }: { readonly first?: number; readonly by?: number } = {},
): Promise<string[]> {
  const steps = await frameStorySteps()
  if (steps <= 80) throw new Error(`the story has only ${steps} steps`)
  const found: string[] = []
  for (let cutAt = first; cutAt <= steps; cutAt += by)
    for (const offence of await frameCrash(cutAt, cutAt, how))
      found.push(`at step ${cutAt}: ${offence}`)
  return found
}

async function untilCut(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    // A program with a planted bug may also be refused a request.
    if (!(error instanceof PowerCut || error instanceof Refused)) throw error
  }
}
