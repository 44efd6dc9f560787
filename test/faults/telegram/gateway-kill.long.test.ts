import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { runGatewayKills } from './gateway-kill-runs.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()

/** `npm run test:faults -- gateway-kill` kills 200 servers. */
test.runIf(status.isConfined && status.nests === true)(
  'messages of 20 chats are answered in order and run once, while the server is killed ten times',
  async () => {
    const { violations, messages } = await runGatewayKills(await freshFolder(), 10, 3)
    expect(violations).toEqual([])
    expect(messages).toBe(30)
  },
)
