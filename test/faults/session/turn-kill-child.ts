import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../../support/log/story.ts'
import { emit, emitEvents } from '../../support/host/child-report.ts'
import { actionsIn, Moment, openScene } from './turn-kill-scene.ts'

/** A child process that runs one Turn, reports every durable line it sees, and kills itself at a given moment. */

const Order = z.object({
  root: z.string(),
  by: z.int(),
  text: z.string(),
  /** The Session to continue; without one, a new Session is created. */
  session: SessionId.optional(),
  moment: Moment,
  twice: z.boolean(),
  /** The message has this key, and its Turn continues if nothing was shown; with `careless`, whatever was shown. */
  key: z.string().optional(),
  careless: z.boolean().default(false),
})

const {
  root,
  by,
  text,
  session: id,
  moment,
  twice,
  key,
  careless,
} = Order.parse(JSON.parse(process.argv[2] ?? ''))
let open = false
let count = 0
const { parts } = await openScene(root, { by, reached, twice })
const session = value(await opened(new Harness(parts)))
emit({ what: 'opened', session: session.id })
open = true
reached('open')
const watching = watch(session)
const actions = await actionsIn(root)
const continues = () => careless || actions.every(({ what }) => what !== 'shown')
const keyed = key === undefined ? {} : { messageKey: key, continues }
value(await value(await session.admit(text, keyed)).done)
await session.close()
await watching
emit({ what: 'done' })

/** No code of this process runs after the awaited moment. */
function reached(at: Moment['at']): void {
  if (open && at === moment.at && ++count === moment.n) process.kill(process.pid, 'SIGKILL')
}

async function opened(harness: Harness) {
  const options = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  return id === undefined ? harness.create(options) : harness.open(id)
}

async function watch(watched: Session): Promise<void> {
  for await (const seen of watched.subscribe()) {
    if (seen.kind !== 'line') continue
    emitEvents(watched.id, [seen.line])
    reached('line')
  }
}
