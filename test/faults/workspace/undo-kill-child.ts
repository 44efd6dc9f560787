import { once } from 'node:events'
import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { emit } from '../../support/host/child-report.ts'
import { value } from '../../support/log/story.ts'
import { openParts } from '../../support/session/harness-parts.ts'

/** A child process that runs a command in a Turn, undoes it or redoes it, on request, so that it can be killed meanwhile. */

const { root, id, act, text } = z
  .object({
    root: z.string(),
    id: SessionId,
    act: z.enum(['turn', 'own', 'undo', 'redo']),
    text: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''))
const { parts } = await openParts(root)
const session = value(await new Harness(parts).open(id))
emit({ what: 'ready' })
await once(process.stdin, 'data')
process.stdin.unref()
if (act === 'turn') value(await value(await session.admit(`Run \`${text}\``)).done)
else if (act === 'own') value(await session.runCommand(text))
else if (act === 'undo') value(await session.undo())
else value(await session.redo())
await session.close()
emit({ what: 'done' })
