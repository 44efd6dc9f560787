import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { value } from '../../support/log/story.ts'
import { emit, emitEvents } from '../../support/host/child-report.ts'
import { MESSAGE, noteAnswer, noteKill, openSteps } from './key-kill-scene.ts'

/** A child process that admits the message with its key, and kills itself at the step number `killAt`, if that is given. */

const Order = z.object({
  root: z.string(),
  by: z.int(),
  /** The Session to continue; without one, a new Session is created and keeps its lock for the message. */
  session: SessionId.optional(),
  killAt: z.int().optional(),
})

const { root, by, session: id, killAt } = Order.parse(JSON.parse(process.argv[2] ?? ''))
let open = false
let count = 0
const harness = new Harness(await openSteps(root, by, step))
const session = value(await opened())
emit({ what: 'opened', session: session.id })
open = true
const subscription = session.subscribe()
const watching = (async () => {
  for await (const seen of subscription) {
    if (seen.kind !== 'line') continue
    emitEvents(session.id, [seen.line])
    step('line')
  }
})()
const admitted = value(await session.admit(MESSAGE.text, { messageKey: MESSAGE.key }))
step('admitted')
const { turn, done, repeated = false } = admitted
const ended = value(await done)
step('done')
await session.close()
await watching
step('closed')
noteAnswer(root, { by, turn, repeated, ended })
emit({ what: 'done' })

/** No code of this process runs after the awaited step. */
function step(name: string): void {
  if (!open || ++count !== killAt) return
  noteKill(root, name)
  process.kill(process.pid, 'SIGKILL')
}

async function opened() {
  const options = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  return id === undefined ? harness.create(options, { toAdmit: true }) : harness.open(id)
}
