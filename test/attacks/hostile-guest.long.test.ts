import { expect, test } from 'vitest'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from './as-user.ts'
import { HOSTILE_GUESTS } from './hostile-guests.ts'

const status = await systemSandbox().status()

test.runIf(status.confined && status.nests === true).each(USERS)(
  'as %s: a guest that sends what no guest sends is stopped with a reason, and nothing of it is used',
  async (user) => {
    const child = new URL('hostile-guest-child.ts', import.meta.url)
    const found: unknown = JSON.parse(await attackAs(user, child))
    expect(found).toEqual(
      Object.fromEntries(
        HOSTILE_GUESTS.map(({ name, reason }) => [name, `${reason}, 0 frames used`]),
      ),
    )
  },
)
