import { once } from 'node:events'
import * as z from 'zod'
import { Harness } from '../../../src/session/harness.ts'
import { emit } from '../../support/host/child-report.ts'
import { random } from '../../support/host/random.ts'
import { actAtRandom } from '../../support/session/family-acts.ts'
import { openParts } from '../../support/session/harness-parts.ts'

/** A child process that forks, rewinds, writes to, deletes and sweeps Sessions at random, beside others that do the same. */

const Order = z.object({ root: z.string(), seed: z.number(), acts: z.int() })

const { root, seed, acts } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const chance = random(seed)
const { parts, close } = await openParts(root)
const harness = new Harness(parts)
emit({ what: 'ready' })
await once(process.stdin, 'data')
process.stdin.unref()
for (let n = 0; n < acts; n += 1) {
  const ids = (await harness.list()).map(({ id }) => id)
  if (ids.length === 0) break
  const { name, isDone, offence } = await actAtRandom(
    harness,
    chance.pick(ids),
    chance,
    ids.length < 4,
  )
  emit({ what: 'act', name, isDone })
  if (offence !== undefined) emit({ what: 'offence', about: 'events', text: offence })
}
await close()
emit({ what: 'done' })
