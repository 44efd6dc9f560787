import * as z from 'zod'
import { Harness } from '../../../src/session/harness.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { emit } from '../../support/host/child-report.ts'
import { FIRST, skillChanges } from './skill-kill-scene.ts'

/** A child process that runs one Turn with a Skill, and kills itself when the line `after` is durable, or while it is written. */
const { root, after, early } = z
  .object({ root: z.string(), after: z.int(), early: z.boolean() })
  .parse(JSON.parse(process.argv[2] ?? ''))
const { parts } = await openParts(root, skillChanges())
const options = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
const session = value(await new Harness(parts).create(options))
emit({ what: 'opened', session: session.id })
const subscription = session.subscribe()
const watching = (async () => {
  for await (const seen of subscription) {
    if (seen.kind !== 'line' || seen.line.seq < after) continue
    // Early: what is under way has not been recorded yet.
    if (early) process.kill(process.pid, 'SIGKILL')
    setImmediate(() => process.kill(process.pid, 'SIGKILL'))
  }
})()
value(await value(await session.admit(...FIRST)).done)
await session.close()
await watching
emit({ what: 'done' })
