import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runFault, type Figure } from '../support/figure.ts'

const Outcome = z.object({
  ended: z.string(),
  changed: z.array(z.string()),
  left: z.array(z.string()),
  growthMb: z.number(),
})
const MOST_GROWTH_MB = 200
const CONTROL = 'a planted change and leftover'

await runFault(
  'a guest that was taken over',
  async () => {
    const status = await systemSandbox().status()
    const canRun = status.isConfined && status.nests === true && existsSync('/usr/bin/perl')
    return canRun ? undefined : 'needs nested sandboxes and perl'
  },
  async ({ full }) => {
    const root = await mkdtemp(join(tmpdir(), 'hawser-taken-'))
    process.env['HAWSER_TEST_ROOT'] = root
    try {
      const { attackAs, USERS } = await import('../../attacks/sandbox/as-user.ts')
      const child = new URL('../../attacks/tether/taken-guest-child.ts', import.meta.url)
      const figures: Figure[] = []
      for (const user of USERS) {
        const output = await attackAs(user, child, full ? 'full' : 'small')
        figures.push(...judged(user, z.record(z.string(), Outcome).parse(JSON.parse(output))))
      }
      return figures
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  },
)

function judged(user: string, all: Readonly<Record<string, z.infer<typeof Outcome>>>): Figure[] {
  const { [CONTROL]: planted, ...found } = all
  const violations = Object.entries(found).flatMap(([name, { changed, left, growthMb }]) => [
    ...changed.map((path) => `${name}: changed ${path}`),
    ...left.map((what) => `${name}: left ${what}`),
    ...(growthMb > MOST_GROWTH_MB ? [`${name}: the server grew by ${growthMb} MB`] : []),
  ])
  const isFound = planted !== undefined && planted.changed.length > 0 && planted.left.length > 0
  const growth = Math.max(...Object.values(found).map(({ growthMb }) => growthMb))
  return [
    {
      test: `a guest that was taken over, as ${user}`,
      n: Object.keys(found).length,
      violations,
      more: { growth_mb: growth, bound_mb: MOST_GROWTH_MB },
    },
    { test: `${CONTROL} is caught, as ${user}`, n: 1, violations: isFound ? [] : ['not caught'] },
  ]
}
