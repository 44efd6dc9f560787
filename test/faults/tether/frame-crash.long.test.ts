import { expect, test } from 'vitest'
import { frameCrashes } from './frame-crash-runs.ts'

test.each(['power', 'kill'] as const)(
  'no number of a frame is issued twice and nothing accepted is lost, wherever the end by %s comes',
  async (how) => {
    expect(await frameCrashes(how)).toEqual([])
  },
)
