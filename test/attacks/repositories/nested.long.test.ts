import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { foldedName, isHawserName } from '../../../src/model/safety/folded-name.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'
import { ALIASES, OPERATIONS, SPELLINGS } from './nested-cases.ts'

const { isConfined } = await systemSandbox().status()
const LONGEST_MS = 600_000

const Run = z.object({ tried: z.int(), wrong: z.array(z.string()) })
const Runs = z.object({
  existing: Run,
  links: Run,
  during: Run,
  others: Run,
  after: Run,
  tools: Run,
  limit: Run,
  moved: Run,
  naiveExisting: Run,
  naiveDuring: Run,
  naive: z.array(z.string()),
})

describe.runIf(isConfined).each(USERS)('as %s', (user) => {
  let runs: z.infer<typeof Runs> | undefined

  beforeAll(async () => {
    const output = await attackAs(user, new URL('nested-child.ts', import.meta.url))
    runs = Runs.parse(JSON.parse(output))
  }, LONGEST_MS)

  test.each([
    ['existing', 'no operation of a command reads or changes a `.hawser`', 245],
    ['links', 'no command runs if one is a link', 126],
    ['during', 'one that a command creates is moved away and named', 432],
    ['others', 'one that another process creates meanwhile stays', 12],
    ['after', 'one that a killed command created is found', 49],
    ['tools', 'tools refuse every path to one', 960],
    ['limit', 'beyond the limit those of this home are hidden, and changes are named', 16],
    ['moved', 'one that can be moved stays hidden, and what takes its place is moved away', 62],
  ] as const)('%s: %s', (part, _, tried) => {
    expect(runs?.[part]).toEqual({ tried, wrong: [] })
  })

  test('a sandbox that hides only the root fails in every operation that its kernel allows', () => {
    expect(runs?.naive).toEqual(Object.keys(OPERATIONS))
    expect(runs?.naiveExisting.wrong.length).toBeGreaterThan(100)
    expect(runs?.naiveDuring.wrong.length).toBe(runs?.naiveDuring.tried)
  })
})

test('every spelling is one that some file system treats as `.hawser`', () => {
  expect(SPELLINGS.map(foldedName)).toEqual(SPELLINGS.map(() => '.hawser'))
  const others = [
    'hawser',
    'hawser~',
    'hawser~a',
    '.hawser~1',
    'x.hawser',
    '.hawsers',
    'hawser~1.txt',
  ]
  expect([...SPELLINGS, ...ALIASES, ...others].filter(isHawserName)).toEqual([
    ...SPELLINGS,
    ...ALIASES,
  ])
})
