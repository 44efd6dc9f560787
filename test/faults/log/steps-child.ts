import { once } from 'node:events'
import * as z from 'zod'
import { fileFailure } from '../../../src/host/files/files.ts'
import { failed } from '../../../src/model/errors.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { SessionId, type BlobKey } from '../../../src/model/ids.ts'
import type { LogWriter } from '../../../src/log/append.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { Refused, sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import { textFold, type TextState } from '../../support/log/text-fold.ts'
import { openPlace, type FaultPlace } from '../support/place.ts'
import { emit, emitEvents, emitRefusal } from '../../support/host/child-report.ts'

/**
 * A child process that performs the same few steps each time, on request, so that strace can count its system calls.
 * It uses everything that is loaded on first use before it reports ready, so that only the calls of the steps
 * are counted.
 */

const Order = z.object({
  root: z.string(),
  /** An empty folder for this warm-up. */
  warmUp: z.string(),
  steps: z.enum(['begin', 'continue', 'one by one']),
  session: SessionId.optional(),
})
type Order = z.infer<typeof Order>

class Steps {
  readonly #storage: FaultPlace
  readonly #turn
  #count = 0

  constructor(storage: FaultPlace) {
    this.#storage = storage
    this.#turn = storage.place.ids.turn()
  }

  async begin(): Promise<SessionId> {
    const { place, keep } = this.#storage
    const session = place.ids.session()
    emit({ what: 'begins', session })
    const writer = value(
      await createLog(place, session, [sessionStarted], { fold: textFold, keep }),
    )
    const { seq, prev } = writer.cursor
    emit({ what: 'events', session, lines: [[seq - 1, prev ?? '']] })
    await this.#append(writer, [this.#message(900)])
    await writer.release()
    return session
  }

  /** Open, one append of three Events, one put and the append that refers to it, the same put again, release. */
  async continueSession(session: SessionId): Promise<void> {
    const writer = await this.#open(session)
    if (writer === undefined) return
    await this.#append(writer, [this.#message(300), this.#message(5000), this.#message(40)])
    const bytes = Buffer.alloc(20_000, 'kept ')
    const key = await this.#put(bytes)
    if (key !== undefined) await this.#append(writer, [this.#result(key), turnEnded(this.#turn)])
    await this.#put(bytes)
    await writer.release()
  }

  /** Thirty appends, with a put at every third and the end of a Turn at every fifth. */
  async oneByOne(session: SessionId): Promise<void> {
    const writer = await this.#open(session)
    if (writer === undefined) return
    for (let i = 1; i <= 30; i++) {
      if (i % 3 === 0) await this.#put(Buffer.alloc(3000, `kept ${i} `))
      await this.#append(writer, [i % 5 === 0 ? turnEnded(this.#turn) : this.#message(200 + i)])
    }
    await writer.release()
  }

  async #open(session: SessionId): Promise<LogWriter<TextState> | undefined> {
    const { place, keep } = this.#storage
    const opened = await acquireLog(place, session, { fold: textFold, keep })
    if (opened.ok) return opened.value
    emitRefusal('open', opened.error)
    return undefined
  }

  async #append(writer: LogWriter<TextState>, drafts: readonly EventDraft[]): Promise<void> {
    const appended = await writer.append(drafts)
    if (appended.ok) emitEvents(writer.session, appended.value)
    else emitRefusal('append', appended.error)
  }

  async #put(bytes: Buffer): Promise<BlobKey | undefined> {
    const put = await this.#storage.store.put([bytes], 'text/plain')
    if (put.ok) emit({ what: 'blob', key: put.value })
    else emitRefusal('put', put.error)
    return put.ok ? put.value : undefined
  }

  #text(length: number): string {
    this.#count += 1
    return `s.${this.#count}:`.padEnd(length, '.')
  }

  #message(length: number): EventDraft {
    const data = { text: this.#text(length), prompt_mode: 'string' } as const
    return { type: 'user_message', turn_id: this.#turn, data }
  }

  #result(after: BlobKey): EventDraft {
    const output = this.#text(60)
    const data = { call_id: 'c1', name: 'write', outcome: 'ok', output, duration_ms: 1 } as const
    return { type: 'tool_result', turn_id: this.#turn, data: { ...data, after_blob: after } }
  }
}

async function runWarmUp({ warmUp }: Order): Promise<void> {
  const storage = await openPlace(warmUp)
  const steps = new Steps(storage)
  await steps.continueSession(await steps.begin())
  await storage.close()
}

async function follow({ root, steps: which, session }: Order): Promise<void> {
  const steps = new Steps(await openPlace(root))
  if (which === 'begin' || session === undefined) await steps.begin()
  else if (which === 'continue') await steps.continueSession(session)
  else await steps.oneByOne(session)
}

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
await runWarmUp(order)
emit({ what: 'ready' })
await once(process.stdin, 'data')
// Not closed, because that would be one more call to count; unref keeps it from keeping the process alive.
process.stdin.unref()
try {
  await follow(order)
} catch (error) {
  // A place or a Log could not be created: it is reported, and nothing else was promised.
  const refusal =
    error instanceof Refused
      ? failed('storage_failed', error.message).error
      : fileFailure(error, 'open the place')
  emitRefusal('open', refusal)
}
emit({ what: 'done' })
