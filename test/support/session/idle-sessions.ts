import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { queryObjects } from 'node:v8'
import * as z from 'zod'
import { Harness } from '../../../src/session/harness.ts'
import { LiveSession } from '../../../src/session/live/live-session.ts'
import { Session } from '../../../src/session/session.ts'
import { SessionLog } from '../../../src/session/live/session-log.ts'
import { Subscription } from '../../../src/session/watch/subscribe.ts'
import { openParts } from './harness-parts.ts'
import { liveBytes } from '../host/live-bytes.ts'
import { ASKING, WAITING } from './live-parts.ts'
import { value } from '../log/story.ts'

/** A process that opens many Sessions, each with a Turn and two clients that watch, leaves them, and prints what it holds. */

/** Objects that belong to one Session. */
const OF_SESSIONS = [LiveSession, Session, SessionLog, Subscription]

const Order = z.object({ root: z.string(), sessions: z.int(), rounds: z.int() })

const { root, sessions, rounds } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { parts, close } = await openParts(root, WAITING)
const harness = new Harness(parts)
// Node keeps the descriptor with which it first watches a folder.
watch(root).close()
const held = [await holding()]
for (let round = 0; round < rounds; round += 1) {
  await openAndLeave()
  held.push(await holding())
}
await close()
process.stdout.write(JSON.stringify(held))

async function openAndLeave(): Promise<void> {
  const clients: Session[] = []
  const streams: Promise<void>[] = []
  for (let at = 0; at < sessions; at += 1) {
    const client = value(await harness.create(ASKING, { answers: true }))
    const other = value(await harness.open(client.id))
    streams.push(answering(client), answering(other))
    value(await value(await client.admit(`Write "${at}" to ${at}.txt`)).done)
    clients.push(client, other)
  }
  const open = [harness.openSessions, queryObjects(LiveSession)]
  if (open.some((count) => count !== sessions)) throw new Error(`open: ${open.join(', ')}`)
  await Promise.all(clients.map((one, at) => (at % 4 < 2 ? one.close() : one.detach())))
  await Promise.all(streams)
}

/** Both streams see a question, and one of them answers first. */
async function answering(session: Session): Promise<void> {
  for await (const update of session.stream({ after_seq: -1 })) {
    if (update.kind !== 'ephemeral' || update.ephemeral.type !== 'permission_requested') continue
    await session.answer(update.ephemeral.data.request_id, { choice: 1 })
  }
}

async function holding() {
  const descriptors = (await readdir('/proc/self/fd')).length
  const bytes = await liveBytes()
  const objects = OF_SESSIONS.map((one) => queryObjects(one))
  return { open: harness.openSessions, descriptors, bytes, objects }
}
