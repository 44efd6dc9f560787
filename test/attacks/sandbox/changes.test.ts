import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from './as-user.ts'
import { CHANGES } from './sandbox-changes.ts'

const { isConfined } = await systemSandbox().status()
const LONGEST_MS = 600_000
const Verdict = z.object({ name: z.string(), through: z.string().optional() })

describe.each(USERS)('between preparing a sandbox and its command, as %s', (user) => {
  const verdicts = new Map<string, string | undefined>()

  beforeAll(async () => {
    if (!isConfined) return
    const output = await attackAs(user, new URL('changes-child.ts', import.meta.url))
    for (const line of output.trim().split('\n')) {
      const { name, through } = Verdict.parse(JSON.parse(line))
      verdicts.set(name, through ?? 'nothing got through')
    }
  }, LONGEST_MS)

  test.runIf(isConfined).each(CHANGES.map(({ name }) => name))('%s', (name) => {
    expect(verdicts.get(name)).toBe('nothing got through')
  })
})
