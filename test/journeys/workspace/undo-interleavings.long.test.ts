import { expect, test } from 'vitest'
import { runInterleavings } from '../../support/changes/interleavings.ts'

test.each([11, 12, 13, 14, 15, 16])(
  'seed %i: after every act in a random order, files are what a model says, and nothing of the person is lost',
  async (seed) => {
    const done = await runInterleavings(seed, 150)
    expect(done.size).toBeGreaterThan(10)
  },
)
