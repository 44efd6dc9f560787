import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { runFrameKills } from './frame-kill-runs.ts'

/** `npm run test:faults -- frame-kill` kills 200 processes. */
test('no frame is lost, repeated or numbered backwards, however often its process is killed', async () => {
  const { violations, durable, seen } = await runFrameKills(await freshFolder(), 12, 5)
  expect(violations).toEqual([])
  expect(durable).toBeGreaterThan(0)
  expect(seen).toBeGreaterThan(durable)
})
