import * as z from 'zod'
import { Harness } from '../../../src/session/harness.ts'
import { emit } from '../host/child-report.ts'
import { askingMessage, askingParts, prepare } from './asking-story.ts'
import { openParts } from './harness-parts.ts'
import { ASKING } from './live-parts.ts'
import { value } from '../log/story.ts'
import { questionOf } from './watching.ts'

/** A process that asks a question, reports it, and waits until it is killed. */

const Order = z.object({
  root: z.string(),
  kind: z.enum(['tool call', 'upload', 'hydration', 'view']),
})

const { root, kind } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { parts } = await openParts(root, askingParts())
const session = value(await new Harness(parts).create(ASKING, { answers: true }))
await prepare(session, kind)
const { text, options } = askingMessage(kind)
const turn = value(await session.admit(text, options))
await questionOf(session)
emit({ what: 'opened', session: session.id })
process.stdin.resume()
await turn.done
