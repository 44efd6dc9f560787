import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'

const SwapRun = z.object({
  results: z.array(
    z.object({
      moment: z.enum(['control', 'mount', 'start', 'unconfined', 'run']),
      name: z.string().optional(),
      component: z.string(),
      kind: z.string(),
      marks: z.int(),
      own: z.int().optional(),
    }),
  ),
  naive: z.array(z.int()),
  uid: z.int(),
})

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true
const SELF = 'a link to the folder itself'
const CHILD = new URL('guest-swaps-child.ts', import.meta.url)

test.runIf(canNest).each(USERS)(
  'a guest runs in the checked folders or not at all, whenever they are swapped, as %s',
  async (user) => {
    const { results, naive, uid } = SwapRun.parse(JSON.parse(await attackAs(user, CHILD)))
    const at = (moment: string) => results.filter((one) => one.moment === moment)
    expect(at('control')).toMatchObject([{ kind: 'ran 0', marks: 3 }])
    const early = [...at('start'), ...at('unconfined')]
    expect(early.filter(({ kind }) => kind !== 'outside_workspace')).toEqual([])
    // What is mounted through a link to the checked folder is that folder.
    const isOther = ({ name }: { name?: string | undefined }) => name !== SELF
    const others = [...early, ...at('mount').filter(isOther)]
    expect(others.filter(({ marks }) => marks > 0)).toEqual([])
    // A link in the place of `.hawser` stops bubblewrap itself, before anything runs.
    const stopped = ({ component, kind }: { component: string; kind: string }) =>
      kind === 'outside_workspace' || (component === 'a/b/.hawser' && kind === 'ran 1')
    expect(others.filter((one) => !stopped(one))).toEqual([])
    expect(at('mount').length).toBeGreaterThanOrEqual(48)
    // What runs stays in the folder that it was started in.
    expect(at('run')).toMatchObject([
      { kind: 'ran 0', marks: 0, own: 2 },
      { kind: 'ran 0', marks: 0, own: 2 },
    ])
    // Without the check after the mount, each of the folders is followed.
    expect(naive.every((marks) => marks > 0)).toBe(true)
    expect(uid === 0).toBe(user === 'root')
  },
)
