import * as z from 'zod'
import { SessionId } from '../../../src/model/ids.ts'
import { AskedHarness } from '../../support/session/asked-harness.ts'
import { openParts, withChanges } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'

/** A child process that runs one Turn in `auto` and kills itself at a given moment; it prints the Session's id first. */
const Order = z.object({
  root: z.string(),
  text: z.string(),
  session: SessionId.optional(),
  /** When the command was recorded as watched, when it printed "planted", or when the first file is moved aside. */
  at: z.enum(['watched', 'planted', 'moving']),
})
const { root, text, session: id, at } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { parts } = await openParts(root, {
  person: { ask: async () => ({ allowed: true, scope: 'once' }) },
})
const { store } = parts.log
const put: typeof store.put = (bytes, type) => {
  if (at === 'moving' && type === 'application/octet-stream') die()
  return store.put(bytes, type)
}
const harness = new AskedHarness(withChanges(parts, { log: { store: { ...store, put } } }))
const options = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
const session = value(id === undefined ? await harness.create(options) : await harness.open(id))
process.stdout.write(`${session.id}\n`)
void watch()
value(await value(await session.admit(text)).done)

async function watch(): Promise<void> {
  for await (const seen of session.subscribe()) {
    if (seen.kind === 'line' && seen.line.content.event.type === 'command_watched') {
      if (at === 'watched') die()
    }
    if (seen.kind !== 'ephemeral' || seen.ephemeral.type !== 'tool_progress') continue
    if (at === 'planted' && seen.ephemeral.data.text.includes('planted')) die()
  }
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
