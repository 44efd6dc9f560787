import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'
import { FORGED_LOGS } from './taken-guests.ts'

const Outcome = z.object({
  ended: z.string(),
  changed: z.array(z.string()),
  left: z.array(z.string()),
  growthMb: z.number(),
})

/** What the server may hold for a guest that floods it. */
const MOST_GROWTH_MB = 200

const status = await systemSandbox().status()
const canRun = status.isConfined && status.nests === true && existsSync('/usr/bin/perl')

test.runIf(canRun).each(USERS)(
  'as %s: a guest that was taken over changes nothing outside its own folder, and nothing of it remains',
  async (user) => {
    const child = new URL('taken-guest-child.ts', import.meta.url)
    const all = z.record(z.string(), Outcome).parse(JSON.parse(await attackAs(user, child)))
    const { 'a planted change and leftover': planted, ...found } = all
    expect(planted?.changed).toEqual([expect.stringContaining('person/.bashrc: ')])
    expect(planted?.left.length).toBeGreaterThan(10)
    const summary = Object.entries(found).map(([name, { ended, changed, left }]) => [
      name,
      { ended, changed, left },
    ])
    const clean = (ended: string) => ({ ended, changed: [], left: [] })
    expect(Object.fromEntries(summary)).toEqual({
      'change the files of others': clean('answered'),
      ...Object.fromEntries(FORGED_LOGS.map(({ name, ends }) => [name, clean(ends)])),
      floods: clean('stopped'),
      'stubborn processes': clean('stopped'),
    })
    const growths = Object.values(found).map(({ growthMb }) => growthMb)
    expect(Math.max(...growths)).toBeLessThan(MOST_GROWTH_MB)
  },
)
