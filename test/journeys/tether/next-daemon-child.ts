import process from 'node:process'
import * as z from 'zod'
import { composeRelayAccess } from '../../../src/compose/relay.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { isRemoteProvider } from '../../../src/model/remote-providers.ts'
import { openRelay } from '../../../src/tether/relay/relay.ts'
import { startGuest } from '../../support/tether/guest-program.ts'
import { value } from '../../support/log/story.ts'

/** The server after a restart, in a process of its own: starts a guest in an existing Instance, has it answer, and reports. */
const Orders = z.object({
  root: z.string(),
  provider: z.string().refine(isRemoteProvider),
  baseUrl: z.string(),
  program: z.tuple([z.string(), z.string()]),
  readable: z.array(z.string()),
  spent: z.object({
    calls: z.number(),
    usd: z.number(),
    estimatedUsd: z.number(),
    unpricedCalls: z.number(),
  }),
  prices: z.record(z.string(), z.number()),
  text: z.string(),
})

const { root, provider, baseUrl, program, readable, spent, prices, text } = Orders.parse(
  JSON.parse(process.argv[2] ?? ''),
)
// Not an argument, and not a constant: it must be in no file.
const key = process.env['KEY_OF_THE_TEST'] ?? ''
const settings = {
  providers: { [provider]: { base_url: baseUrl, key } },
  models: { model: { prices } },
}
const access = value(composeRelayAccess(provider, {}, settings))
let total = spent
const { send, ended, host } = value(
  await startGuest({
    root,
    program: { argv: program, readable },
    start: { provider, model: 'model' },
    relay: (socket) =>
      openRelay(socket, {
        access,
        models: ['model'],
        spentBefore: spent,
        onSpend: (spend) => {
          total = spend
        },
        clock: systemClock,
        log: () => {},
      }),
  }),
)
value(send('m3', text))
const { payload } = await ended('m3')
await host.stop()
console.log(JSON.stringify({ payload, spend: total }))
