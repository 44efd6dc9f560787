import { createInterface } from 'node:readline'
import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { emit } from '../host/child-report.ts'
import { openParts } from './harness-parts.ts'
import { WAITING } from './live-parts.ts'
import { value } from '../log/story.ts'

/** A process that sends each line of its input as a message to a Session, until an empty line. */

const Order = z.object({ root: z.string(), session: SessionId })

const { root, session: id } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { parts, close } = await openParts(root, WAITING)
const session = value(await new Harness(parts).open(id))
emit({ what: 'opened', session: id })
for await (const line of createInterface(process.stdin)) {
  if (line === '') break
  for (;;) {
    const turn = await session.admit(line)
    if (!turn.ok) {
      if (turn.error.kind !== 'session_busy') throw new Error(turn.error.message)
      await new Promise(setImmediate)
      continue
    }
    emit({ what: 'turn', status: value(await turn.value.done).status })
    break
  }
}
await session.close()
await close()
process.stdin.destroy()
