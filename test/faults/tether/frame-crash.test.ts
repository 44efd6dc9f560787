import { expect, test } from 'vitest'
import { frameCrash, frameCrashes, frameStorySteps } from './frame-crash-runs.ts'

// Every step once, by the one end or the other. The long test has both at every step.
test.each([
  ['power', 1],
  ['kill', 2],
] as const)(
  'no number of a frame is issued twice and nothing accepted is lost, wherever the end by %s comes',
  async (how, first) => {
    expect(await frameCrashes(how, { first, by: 2 })).toEqual([])
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
