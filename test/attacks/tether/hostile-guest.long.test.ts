import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { attackAs, USERS } from '../sandbox/as-user.ts'
import { BLOB_ATTACKS } from '../../support/resources/blob-attacks.ts'
import { HOSTILE_GUESTS } from './hostile-guests.ts'
import { MISUSE_OUTCOMES } from './relay-misuse.ts'

const Found = z.object({ found: z.record(z.string(), z.string()), relay: z.unknown() })

const status = await systemSandbox().status()

test.runIf(status.isConfined && status.nests === true).each(USERS)(
  'as %s: what a guest sends, names or calls that no guest does is refused, and nothing of it is used',
  async (user) => {
    const child = new URL('hostile-guest-child.ts', import.meta.url)
    const { found, relay } = Found.parse(JSON.parse(await attackAs(user, child)))
    expect(found).toEqual({
      ...Object.fromEntries(
        HOSTILE_GUESTS.map(({ name, reason }) => [name, `${reason}, 0 frames used`]),
      ),
      'an image that is swapped while it is read': 'never another one',
      'a forged seq': 'in_reply_to msg_id payload session ts turn_id type v',
      ...Object.fromEntries(BLOB_ATTACKS.map(([name]) => [`an image with ${name}`, 'refused'])),
    })
    expect(relay).toEqual({
      seen: MISUSE_OUTCOMES,
      reached: [{ method: 'POST', url: '/v1/messages', isKey: true }],
      isKeySeen: false,
    })
  },
)
