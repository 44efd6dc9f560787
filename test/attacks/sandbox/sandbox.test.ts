import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from './as-user.ts'
import { FILE_ATTACKS } from './sandbox-files.ts'
import { POWER_ATTACKS } from './sandbox-powers.ts'

const ATTACKS = [...POWER_ATTACKS, ...FILE_ATTACKS]
const { isConfined } = await systemSandbox().status()
/** All of them take half a minute on two busy cores. */
const LONGEST_MS = 600_000

const Verdict = z.object({ row: z.int(), name: z.string(), through: z.string().optional() })

describe.each(USERS)('as %s', (user) => {
  const verdicts = new Map<string, string | undefined>()

  beforeAll(async () => {
    if (!isConfined) return
    const output = await attackAs(user, new URL('sandbox-child.ts', import.meta.url))
    for (const line of output.trim().split('\n')) {
      const { name, through } = Verdict.parse(JSON.parse(line))
      verdicts.set(name, through ?? 'nothing got through')
    }
  }, LONGEST_MS)

  test.runIf(isConfined).each(ATTACKS.map(({ row, name }) => [row, name] as const))(
    'row %i: %s',
    (_, name) => {
      expect(verdicts.get(name)).toBe('nothing got through')
    },
  )
})

test('no two attacks have the same name', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})
