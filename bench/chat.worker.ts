// A chat in this terminal with a model that streams without end, or the writer of a long Session for it.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import { systemClock } from '../src/host/clock.ts'
import { diskFolder } from '../src/host/files/disk.ts'
import { systemIds } from '../src/host/ids.ts'
import { systemStreams } from '../src/host/streams.ts'
import { inputDrafts } from '../src/host/typed-input/drafts.ts'
import { inputHistory } from '../src/host/typed-input/history.ts'
import { createLog } from '../src/log/open.ts'
import { ok } from '../src/model/errors.ts'
import type { EventDraft } from '../src/model/events/event.ts'
import { SessionId } from '../src/model/ids.ts'
import { runChat } from '../src/presenters/cli/chat/chat.ts'
import { terminalSignals } from '../src/presenters/cli/screen/terminal-signals.ts'
import type { Provider } from '../src/providers/provider.ts'
import { rehearsalProvider } from '../src/providers/rehearsal/stream.ts'
import { Harness } from '../src/session/harness.ts'
import { sessionFold } from '../src/session/live/state.ts'
import { sessionStarted, turnEnded, value } from '../test/support/log/story.ts'
import { openParts } from '../test/support/session/harness-parts.ts'

const Order = z.object({
  root: z.string(),
  session: SessionId.optional(),
  /** Writes a Session of this many Turns instead, and prints its id. */
  turns: z.number().optional(),
})

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
const provider = endless(rehearsalProvider({ chunk: 4, delayMs: 0 }))
const { parts, close } = await openParts(order.root, {
  model: { providerOf: async () => ok(provider) },
})
if (order.turns === undefined) await chat()
else await writeTurns(order.turns)
await close()

async function chat(): Promise<void> {
  const harness = new Harness(parts)
  const opened =
    order.session === undefined
      ? await harness.create({ provider: 'rehearsal', model: 'rehearsal' }, { answers: true })
      : await harness.open(order.session, { answers: true })
  // Drafts are stored while a person types, as in the program.
  const input = join(order.root, 'input')
  await mkdir(input, { recursive: true, mode: 0o700 })
  const place = {
    home: await diskFolder(input),
    ids: systemIds(systemClock),
    clock: systemClock,
    workspace: order.root,
  }
  const typedInput = {
    history: inputHistory(place),
    drafts: inputDrafts(place),
    redact: (text: string) => text,
  }
  process.exitCode = await runChat({
    typedInput,
    streams: systemStreams(),
    clock: systemClock,
    colour: true,
    signals: terminalSignals(process.env),
    session: value(opened),
    actions: { sessions: () => harness.list(), open: (id) => harness.open(id) },
  })
}

/** 200 pieces of four characters a second, until it is interrupted. */
function endless({ dialect, encode, buildBody }: Provider): Provider {
  return {
    dialect,
    encode,
    buildBody,
    async *stream(_body, signal) {
      for (let piece = 0; !signal.aborted; piece += 1) {
        yield { type: 'text_delta', text: piece % 60 === 59 ? '.\n\n' : 'ship' }
        await new Promise((resolve) => {
          setTimeout(resolve, 5)
        })
      }
    },
  }
}

async function writeTurns(turns: number): Promise<void> {
  const { place, store } = parts.log
  const session = place.ids.session()
  const keep = (bytes: Buffer, type: Parameters<typeof store.put>[1]) => store.put([bytes], type)
  const writer = value(
    await createLog(place, session, [sessionStarted], { fold: sessionFold, keep }),
  )
  for (let turn = 0; turn < turns; turn += 100)
    value(await writer.append(Array.from({ length: 100 }, turnDrafts).flat()))
  await writer.release()
  console.log(session)
}

function turnDrafts(): EventDraft[] {
  const turn_id = parts.log.place.ids.turn()
  return [
    { type: 'turn_started', turn_id, data: { source: { presenter: 'cli' } } },
    { type: 'user_message', turn_id, data: { text: 'What happened?', prompt_mode: 'string' } },
    {
      type: 'assistant_message',
      turn_id,
      data: { text: 'The ship left the harbour. '.repeat(12) },
    },
    turnEnded(turn_id),
  ]
}
