import { tmpdir } from 'node:os'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runFault } from '../support/figure.ts'
import { runGatewayKills } from './gateway-kill-runs.ts'

const FULL = 200
const QUICK = 4

await runFault(
  'kill -9 under 20 chats of Telegram',
  async () => {
    const status = await systemSandbox().status()
    return status.isConfined && status.nests === true
      ? undefined
      : 'nested sandboxes do not work here'
  },
  async ({ seed, full }) => {
    const n = full ? FULL : QUICK
    const { violations, messages, doubled, interrupted } = await runGatewayKills(tmpdir(), n, seed)
    const more = { messages, doubled, interrupted }
    return [{ test: 'kill -9 of the server, with 20 chats of Telegram', n, violations, more }]
  },
)
