import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'

const MountRun = z.object({
  results: z.array(
    z.object({
      moment: z.enum(['mount', 'run', 'next', 'unconfined', 'git mount', 'git run', 'git next']),
      name: z.string().optional(),
      component: z.string(),
      kind: z.string(),
      touched: z.boolean(),
      own: z.boolean().optional(),
    }),
  ),
  naive: z.boolean(),
  uid: z.int(),
})

const { isConfined } = await systemSandbox().status()
const CHILD = new URL('mount-swaps-child.ts', import.meta.url)

test.runIf(isConfined).each(USERS)(
  'a command runs in the checked folder or not at all, whenever its workspace is swapped, as %s',
  async (user) => {
    const { results, naive, uid } = MountRun.parse(JSON.parse(await attackAs(user, CHILD)))
    expect(results.filter(({ touched }) => touched)).toEqual([])
    // A folder that does not point back to the worktree is not mounted, and the command runs without it.
    const expected = (moment: string) => (moment === 'git next' ? 'ran 0' : 'outside_workspace')
    expect(results.filter(({ kind, moment }) => kind !== expected(moment))).toEqual([])
    expect(results.filter(({ moment }) => moment.startsWith('git')).length).toBeGreaterThan(44)
    expect(results.filter(({ own }) => own === true)).toHaveLength(2)
    expect(results.length).toBeGreaterThan(17)
    // Without the check after the mount, the command changes the other folder.
    expect(naive).toBe(true)
    expect(uid === 0).toBe(user === 'root')
  },
)
