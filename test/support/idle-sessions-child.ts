import { readdir } from 'node:fs/promises'
import * as z from 'zod'
import { Harness } from '../../src/session/harness.ts'
import type { Session } from '../../src/session/live/session.ts'
import { emit } from '../faults/child-report.ts'
import { liveBytes } from './child-memory.ts'
import { openParts } from './harness-parts.ts'
import { ASKING, WAITING } from './live-parts.ts'
import { value } from './story.ts'

/** A process that opens many Sessions, each with a Turn and a stream, leaves them, and reports what it still holds. */

const Order = z.object({ root: z.string(), sessions: z.int(), rounds: z.int() })

const { root, sessions, rounds } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { parts, close } = await openParts(root, WAITING)
const harness = new Harness(parts)
let started = await holding()
for (let round = 0; round < rounds; round += 1) {
  await openAndLeave()
  const now = await holding()
  // The first round fills caches and loads modules.
  if (round === 0) started = now
  emit({ what: 'memory', before: started.bytes, peak: harness.openSessions, after: now.bytes })
  if (now.descriptors > started.descriptors)
    emit({ what: 'unproven', text: `${now.descriptors - started.descriptors} files are open` })
}
await close()
emit({ what: 'done' })

async function openAndLeave(): Promise<void> {
  const clients: Session[] = []
  const streams: Promise<void>[] = []
  for (let at = 0; at < sessions; at += 1) {
    const client = value(await harness.create(ASKING, { answers: true }))
    const other = value(await harness.open(client.id))
    streams.push(drained(client), drained(other))
    value(await value(await client.admit(`Write "${at}" to ${at}.txt`)).done)
    clients.push(client, other)
  }
  if (harness.openSessions !== sessions) throw new Error(`${harness.openSessions} are open`)
  await Promise.all(clients.map((one, at) => (at % 4 < 2 ? one.close() : one.detach())))
  await Promise.all(streams)
}

async function drained(session: Session): Promise<void> {
  for await (const update of session.stream({ after_seq: -1 })) {
    if (update.kind !== 'notice' || update.notice.type !== 'permission_requested') continue
    // Both streams see the question, and one of them answers first.
    void harness.answer(update.notice.data.request_id, { choice: 1 })
  }
}

async function holding() {
  const bytes = await liveBytes()
  return { bytes, descriptors: (await readdir('/proc/self/fd')).length }
}
