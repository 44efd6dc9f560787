import { expect, test } from 'vitest'
import { runInterleavings } from '../../support/changes/interleavings.ts'

test.each([1, 2])(
  'seed %i: after every act in a random order, files are what a model says, and nothing of the person is lost',
  async (seed) => {
    const done = await runInterleavings(seed, 40)
    expect(done.size).toBeGreaterThan(8)
  },
)
