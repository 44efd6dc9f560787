import { expect, test } from 'vitest'
import * as z from 'zod'
import { freshFolder } from '../support/folder.ts'
import { scriptResult } from '../support/script-result.ts'

const Held = z.array(z.object({ open: z.int(), descriptors: z.int(), bytes: z.int() }))

test('200 Sessions that every client has left hold no file, and their memory is free again', async () => {
  const order = { root: await freshFolder(), sessions: 200, rounds: 3 }
  // The first round loads modules and fills caches.
  const [first, ...later] = await scriptResult('idle-sessions.ts', order, Held)
  if (first === undefined) throw new Error('nothing was measured')
  expect(later).toHaveLength(2)
  for (const { open, descriptors, bytes } of later) {
    expect(open).toBe(0)
    expect(descriptors).toBeLessThanOrEqual(first.descriptors)
    expect(bytes).toBeLessThan(first.bytes * 1.1)
  }
})
