import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { existsSync } from 'node:fs'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'
import { GUEST_ATTACKS } from './guest-attacks.ts'
import { LIFETIME_ATTACKS } from './guest-lifetime.ts'

/** What a guest that has been taken over can do to its sandbox, the server and the machine. */

const ATTACKS = [...GUEST_ATTACKS, ...LIFETIME_ATTACKS]
const { isConfined } = await systemSandbox().status()
const canRun = isConfined && existsSync('/usr/bin/perl')
const LONGEST_MS = 600_000

const Verdict = z.object({ row: z.int(), name: z.string(), through: z.string().optional() })

describe.each(USERS)('as %s', (user) => {
  const verdicts = new Map<string, string>()

  beforeAll(async () => {
    if (!canRun) return
    const output = await attackAs(user, new URL('guest-child.ts', import.meta.url))
    for (const line of output.trim().split('\n')) {
      const { name, through = 'nothing got through' } = Verdict.parse(JSON.parse(line))
      verdicts.set(name, through)
    }
  }, LONGEST_MS)

  test.runIf(canRun).each(ATTACKS.map(({ row, name }) => [row, name] as const))(
    'row %i: %s',
    (_, name) => {
      expect(verdicts.get(name)).toBe('nothing got through')
    },
  )
})

test('no two attacks have the same name', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})
