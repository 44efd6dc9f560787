import { once } from 'node:events'
import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { emit } from '../../support/host/child-report.ts'

/** A child process that records or undoes a checkpoint, on request, so that strace can kill it at any of its calls. */

const Order = z.object({
  root: z.string(),
  /** The same Session in a folder for a warm-up, so that only the calls of the step are counted. */
  warmUp: z.string(),
  session: SessionId,
  step: z.enum(['compact', 'summarise', 'undo']),
})
type Order = z.infer<typeof Order>

async function follow(root: string, { session: id, step }: Order): Promise<void> {
  const { parts } = await openParts(root)
  const harness = new Harness(parts)
  const session = value(await harness.open(id))
  if (step === 'compact') value(await session.compact())
  else if (step === 'summarise') value(await session.compact({ summary: 'model' }))
  else value(await session.undoCompaction())
  await session.close()
}

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
await follow(order.warmUp, order)
emit({ what: 'ready' })
await once(process.stdin, 'data')
// Not closed, because that would be one more call to count; unref keeps it from keeping the process alive.
process.stdin.unref()
await follow(order.root, order)
emit({ what: 'done' })
