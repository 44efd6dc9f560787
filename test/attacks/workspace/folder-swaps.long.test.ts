import { expect, test } from 'vitest'
import * as z from 'zod'
import { attackAs, USERS } from '../sandbox/as-user.ts'

const SwapRun = z.object({
  tried: z.int(),
  wrong: z.array(z.string()),
  naive: z.record(z.string(), z.int()),
  uid: z.int(),
})

const CHILD = new URL('folder-swaps-child.ts', import.meta.url)

test.each(USERS)(
  'nothing that remembers a folder uses another one at its path, as %s',
  async (user) => {
    const { tried, wrong, naive, uid } = SwapRun.parse(JSON.parse(await attackAs(user, CHILD)))
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(600)
    // Resolving the path at each use follows every swap that leads to another folder.
    const reached = ['link to another', 'renamed', 'copy of another folder', 'created again']
    for (const kind of reached)
      expect(Object.entries(naive).find(([name]) => name.includes(kind))?.[1]).toBe(9)
    expect(uid === 0).toBe(user === 'root')
  },
)
