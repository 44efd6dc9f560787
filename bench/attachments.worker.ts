// One measurement of attachments.bench.ts: a Turn that attaches files, through a provider at a URL over HTTP or a socket, or in this process; or the
// floor, which does the indispensable part of it in plain Node.
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { systemClock } from '../src/host/clock.ts'
import { ok } from '../src/model/errors.ts'
import { chatProvider } from '../src/providers/chat/stream.ts'
import { messagesProvider } from '../src/providers/messages/stream.ts'
import { responsesProvider } from '../src/providers/responses/stream.ts'
import { Harness } from '../src/session/harness.ts'
import type { Session } from '../src/session/session.ts'
import { openParts } from '../test/support/session/harness-parts.ts'
import { value } from '../test/support/log/story.ts'
import { timed } from './figure.ts'
import { logAmounts } from './log-growth.ts'
import { peakDuring } from './memory.ts'
import { readingModel } from './reading-model.ts'
import { timedModel } from './timed-model.ts'

const PROVIDERS = { messages: messagesProvider, responses: responsesProvider, chat: chatProvider }

const [mode = '', root = '', url = '', calls = '', notes = '', ...paths] = process.argv.slice(2)
console.log(JSON.stringify(await (mode === 'floor' ? floor() : turn())))

/** The time from admission until the first request is composed and its content is durable. */
async function turn(): Promise<Record<string, number>> {
  const model = modelOf()
  const { workspace, parts, close } = await openParts(root, {
    model: { providerOf: async () => ok(model) },
  })
  await writeFile(join(workspace, notes), 'The tide turns at six.\n')
  const session = value(await new Harness(parts).create({ provider: mode, model: 'bench' }))
  const before = await logAmounts(root, session)
  let ms = 0
  const memory = await peakDuring(async () => {
    const started = performance.now()
    model.onRequest = async (trip: number) => {
      if (trip === 0) ms = performance.now() - started
    }
    await attach(session)
  })
  checkShown(session)
  const { log_bytes } = await logAmounts(root, session)
  await close()
  return { ms, log_bytes: log_bytes - before.log_bytes, ...memory }
}

function modelOf() {
  if (mode === 'in-process') return readingModel(notes, Number(calls))
  const options = { key: 'key-of-the-bench', idleMs: 60_000, clock: systemClock, baseUrl: url }
  // Its requests are not measured.
  if (mode === 'websocket') {
    return { ...responsesProvider({ ...options, transport: mode }), onRequest: async () => {} }
  }
  if (mode !== 'messages' && mode !== 'responses' && mode !== 'chat') {
    throw new Error(`there is no dialect ${mode}`)
  }
  return timedModel(PROVIDERS[mode](options))
}

async function attach(session: Session): Promise<void> {
  const attachments = paths.map((path) => ({ from: 'path', path }) as const)
  const { done } = value(await session.admit('What do these show?', { attachments }))
  const ended = value(await done)
  if (ended.status !== 'completed') {
    throw new Error(`the Turn was ${ended.status}: ${JSON.stringify(ended.error)}`)
  }
}

/** A Turn that projects fewer bytes, or projects them less often, would do less work. */
function checkShown({ events }: Session): void {
  const shown = events.flatMap((event) =>
    event.type === 'provider_request' ? [event.data.projected?.length ?? 0] : [],
  )
  if (shown.length === Number(calls) + 1 && shown.every((count) => count === paths.length)) return
  const refused = events.flatMap((event) =>
    event.type === 'user_message' ? (event.data.attachment_errors ?? []) : [],
  )
  throw new Error(`not everything was projected: ${JSON.stringify({ shown, refused })}`)
}

async function floor(): Promise<Record<string, number>> {
  await mkdir(root, { recursive: true })
  const ms = await timed(async () => {
    for (const path of paths) await stored(path)
  })
  return { ms }
}

/** Reads, hashes, writes, syncs and renames the files, syncs the folder, and encodes to base64. */
async function stored(path: string): Promise<string> {
  const bytes = await readFile(path)
  const name = createHash('sha256').update(bytes).digest('hex')
  const temporary = join(root, basename(path))
  const file = await open(temporary, 'wx')
  await file.write(bytes)
  await file.sync()
  await file.close()
  await rename(temporary, join(root, name))
  const folder = await open(root)
  await folder.sync()
  await folder.close()
  return bytes.toString('base64')
}
