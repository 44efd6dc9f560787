import * as z from 'zod'
import { Harness } from '../../../src/session/harness.ts'
import type { SessionUpdate } from '../../../src/session/watch/session-stream.ts'
import { openParts, withChanges } from './harness-parts.ts'
import { liveBytes } from '../host/live-bytes.ts'
import { ASKING, WAITING } from './live-parts.ts'
import { value } from '../log/story.ts'
import { talking } from './talking-provider.ts'

/** A process in which readers do not read while much happens in a Session. Prints the memory, and what a reader got then. */

const Order = z.object({
  root: z.string(),
  /** Of the Turns that pass while nothing is read. */
  turns: z.int(),
  readers: z.int(),
  /** Characters of each message. */
  message: z.int(),
  /** Characters of each delta. */
  delta: z.int(),
  deltas: z.int(),
})

const { root, turns, readers, message, delta, deltas } = Order.parse(
  JSON.parse(process.argv[2] ?? ''),
)
const changes = withChanges(WAITING, talking('t'.repeat(delta), deltas))
const { parts, close } = await openParts(root, changes)
const harness = new Harness(parts)
const session = value(await harness.create(ASKING))
await pass(4)
const all = Array.from({ length: readers }, () => session.stream({ after_seq: -1 }))
// Each has begun to read, and then stops.
await Promise.all(all.map((reader) => reader.next()))
const before = await liveBytes()
let peak = before
let passed = 0
for (let done = 0; done < turns; done += 4) {
  await pass(4)
  passed += 4 * (message + 2 * delta * deltas)
  peak = Math.max(peak, await liveBytes())
}
const last = session.nextSeq - 1
const orders = await Promise.all(all.map(isInOrder))
const after = await liveBytes()
await session.close()
await close()
process.stdout.write(JSON.stringify({ before, peak, after, passed, last, orders }))

/** The checkpoint lets the Session itself forget what passed. */
async function pass(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    value(await value(await session.admit('x'.repeat(message))).done)
  }
  const { compactable } = value(await session.compact())
  if (!compactable) throw new Error('there is no checkpoint')
}

/** Whether a reader that was given number 0 gets all other Events once, in order. */
async function isInOrder(reader: AsyncGenerator<SessionUpdate, void>): Promise<boolean> {
  for (let next = 1; next <= last;) {
    const { value: update } = await reader.next()
    if (update === undefined) return false
    if (update.kind === 'ephemeral') continue
    if (update.kind !== 'event' || update.raw.seq !== next) return false
    next += 1
  }
  await reader.return()
  return true
}
