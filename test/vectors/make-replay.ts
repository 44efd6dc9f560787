// Records the traces for comparing replay policies: `node --import tsx test/vectors/make-replay.ts`. Each is a Session
// with the rehearsal model, over a socket in the dialect of Messages, with everything kept in the window.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordedSession } from '../support/pressure/recorded-session.ts'
import { traceOf } from '../support/pressure/recorded-trace.ts'
import type { ReplayTrace } from '../support/pressure/replay-trace.ts'
import { replaySessions } from './replay-sessions.ts'

const folder = new URL('replay/', import.meta.url)
await mkdir(folder, { recursive: true })
const root = await mkdtemp(join(tmpdir(), 'hawser-replay-'))
try {
  for (const { name, what, ...session } of replaySessions()) {
    const events = await recordedSession(join(root, name), session, 'window')
    await writeFile(new URL(`${name}.json`, folder), written(traceOf(events, what)))
  }
} finally {
  await rm(root, { recursive: true, force: true })
}

/** One line per Turn. */
function written({ what, turns }: ReplayTrace): string {
  const lines = turns.map((turn) => `    ${JSON.stringify(turn)}`)
  return `{\n  "what": ${JSON.stringify(what)},\n  "turns": [\n${lines.join(',\n')}\n  ]\n}\n`
}
