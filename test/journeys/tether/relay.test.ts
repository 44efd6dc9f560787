// An agent without a key understands what the relay refuses.
import { expect, test } from 'vitest'
import { beginSession } from '../../../src/session/workspace/begin.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import {
  guestWorkspace,
  MODEL,
  relayedSession,
  turn,
} from '../../support/tether/relayed-session.ts'

test.each(VENDOR_DIALECTS)(
  'what the relay refuses in %s ends the Turn with its reason',
  async (dialect) => {
    const refused = await relayedSession(dialect, { models: ['another'] })
    expect(await turn(refused.session)).toMatchObject({
      status: 'failed',
      error: {
        kind: 'not_configured',
        message: 'The relay refused model "model"; allowed: another.',
      },
    })
    const limited = await relayedSession(dialect, { ceilingUsd: 0 })
    expect(await turn(limited.session)).toMatchObject({
      status: 'failed',
      error: {
        kind: 'usage_limit',
        // Neither the name of the provider nor a status: it did not say this.
        message: 'This instance has spent $0.0000; its spending limit is $0.0000.',
        next_actions: [
          {
            action: expect.stringContaining('create another Instance'),
            command: 'hawser instance create NAME --ceiling USD',
          },
        ],
      },
    })
    for (const { vendor, lines } of [refused, limited]) {
      expect([vendor.requests, lines.length]).toEqual([[], 1])
    }
  },
)

test('another provider than that of the relay is refused', async () => {
  const fetch = () => Promise.reject(new Error('not called'))
  const workspace = await guestWorkspace({ provider: 'anthropic', fetch })
  const choice = { provider: 'openai', model: MODEL }
  expect(await beginSession(workspace, choice, { env: {} })).toMatchObject({
    error: {
      kind: 'not_configured',
      message: 'This agent can use only the provider anthropic, not openai.',
    },
  })
})
