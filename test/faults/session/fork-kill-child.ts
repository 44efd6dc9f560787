import { once } from 'node:events'
import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { emit } from '../../support/host/child-report.ts'
import { value } from '../../support/log/story.ts'
import { openParts } from '../../support/session/harness-parts.ts'

/** A child process that forks, rewinds, deletes or sweeps, on request, so that strace can kill it at any of its calls. */

const Order = z.object({
  root: z.string(),
  /** The same workspace in another folder for a warm-up, so that only the calls of the step are counted. */
  warmUp: z.string(),
  session: SessionId,
  step: z.enum(['fork', 'rewind', 'delete', 'gc']),
})
type Order = z.infer<typeof Order>

async function follow(root: string, { session: id, step }: Order): Promise<void> {
  const { parts } = await openParts(root)
  const harness = new Harness(parts)
  if (step === 'fork') value(await harness.fork(id))
  else if (step === 'delete') value(await harness.delete(id))
  else if (step === 'gc') value(await harness.gc({ dryRun: false }))
  else {
    const session = value(await harness.open(id))
    value(await session.rewind({ turn: 2, files: true, summary: true }))
    await session.close()
  }
}

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
await follow(order.warmUp, order)
emit({ what: 'ready' })
await once(process.stdin, 'data')
// Not closed, because that would be one more call to count; unref keeps it from keeping the process alive.
process.stdin.unref()
await follow(order.root, order)
emit({ what: 'done' })
