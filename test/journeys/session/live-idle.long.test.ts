import { expect, test } from 'vitest'
import * as z from 'zod'
import { freshFolder } from '../../support/host/folder.ts'
import { scriptResult } from '../../support/host/script-result.ts'

const IDLE_SESSIONS = new URL('../../support/session/idle-sessions.ts', import.meta.url)

const Held = z.array(
  z.object({ open: z.int(), descriptors: z.int(), bytes: z.int(), objects: z.array(z.int()) }),
)

test('200 Sessions that every client has left keep no file open, and their memory is free again', async () => {
  const order = { root: await freshFolder(), sessions: 200, rounds: 3 }
  // The first round loads modules and fills caches, so that memory is compared with what it left.
  const [start, first, ...later] = await scriptResult(IDLE_SESSIONS, order, Held)
  if (start === undefined || first === undefined) throw new Error('nothing was measured')
  expect(later).toHaveLength(2)
  for (const { open, descriptors, objects } of [first, ...later])
    expect([open, descriptors, objects]).toEqual([0, start.descriptors, [0, 0, 0, 0]])
  for (const { bytes } of later) expect(bytes).toBeLessThan(first.bytes * 1.1)
})
