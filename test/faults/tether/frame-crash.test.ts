import { expect, test } from 'vitest'
import { frameCrash, frameStorySteps } from './frame-crash-runs.ts'

test.each(['power', 'kill'] as const)(
  'no number of a frame is issued twice and nothing accepted is lost, wherever the end by %s comes',
  async (how) => {
    const steps = await frameStorySteps()
    expect(steps).toBeGreaterThan(80)
    for (let cutAt = 1; cutAt <= steps; cutAt++)
      expect({ cutAt, offences: await frameCrash(cutAt, cutAt, how) }).toEqual({
        cutAt,
        offences: [],
      })
  },
)

test.each(['no_folder_sync', 'acknowledge_before_sync', 'rename_before_sync'] as const)(
  'the planted bug %s is found',
  async (bug) => {
    const steps = await frameStorySteps()
    let found = 0
    for (let seed = 1; seed <= 4 * steps && found === 0; seed++)
      found += (await frameCrash(seed, 1 + (seed % steps), 'power', bug)).length
    expect(found).toBeGreaterThan(0)
  },
)
