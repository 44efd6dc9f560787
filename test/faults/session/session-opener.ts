import { createInterface } from 'node:readline'
import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import type { LogWriter } from '../../../src/log/append.ts'
import { acquireLog } from '../../../src/log/open.ts'
import { textFold, type TextState } from '../../support/log/text-fold.ts'
import { openPlace } from '../support/place.ts'
import { emit, emitRefusal } from '../../support/host/child-report.ts'

/** A child process that opens a Session on request, and holds it until it receives a release order. */

const Order = z.object({ root: z.string(), session: SessionId })
const Word = z.discriminatedUnion('do', [
  /** `at` is a wall-clock time, so that several start together. */
  z.object({ do: z.literal('take'), at: z.number() }),
  z.object({ do: z.literal('release') }),
])

const { root, session } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { place, keep } = await openPlace(root)
let writer: LogWriter<TextState> | undefined

async function take(at: number): Promise<void> {
  // Spins, because a timer would be a millisecond or more late.
  while (Date.now() < at);
  const opened = await acquireLog(place, session, { fold: textFold, keep })
  if (!opened.ok) return emitRefusal('open', opened.error)
  writer = opened.value
  emit({ what: 'opened', session })
}

// The lock is loaded on first use, and the loading time would decide the first race.
const probe = await place.folders.sessions.open(`.practice-${process.pid}`, 'lease')
await probe.tryLock()
await probe.close()
await place.folders.sessions.remove(`.practice-${process.pid}`)

emit({ what: 'ready' })
for await (const line of createInterface({ input: process.stdin })) {
  const word = Word.parse(JSON.parse(line))
  if (word.do === 'take') await take(word.at)
  else {
    await writer?.release()
    writer = undefined
    emit({ what: 'done' })
  }
}
