import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { Replay } from '../../../src/model/modes.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { messagesProvider } from '../../../src/providers/messages/stream.ts'
import { Harness } from '../../../src/session/harness.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { DIALECTS } from '../providers/dialects.ts'
import { openParts, withChanges } from '../session/harness-parts.ts'
import { value } from '../log/story.ts'
import { strictServer } from '../providers/strict-server.ts'

/** A Session to record: the files of its workspace and the messages of its user. */
export interface PlannedSession {
  /** The files of the workspace, by path. */
  readonly files: ReadonlyMap<string, Buffer>
  readonly turns: readonly PlannedTurn[]
}

export interface PlannedTurn {
  /** The pause of the user after the previous Turn. */
  readonly after_s: number
  readonly text: string
  /** Paths of the files that are attached. */
  readonly attachments: readonly string[]
}

/**
 * Runs a Session below `root` with the rehearsal model, served over HTTP in the dialect of Messages, and returns its
 * Events. The pauses of the user take no time: the clock only advances by them.
 */
export async function recordedSession(
  root: string,
  { files, turns }: PlannedSession,
  replay: Replay,
): Promise<readonly WholeEvent[]> {
  const clock = new SteppedClock()
  const server = value(await strictServer({ clock }))
  const opened = await openParts(root)
  try {
    const { workspace } = opened
    for (const [path, bytes] of files) await keep(join(workspace, path), bytes)
    const provider = messagesProvider({
      key: CANARY_KEY,
      baseUrl: server.origin,
      idleMs: 60_000,
      clock: systemClock,
    })
    const place = { ...opened.parts.log.place, clock, ids: systemIds(clock) }
    const parts = withChanges(opened.parts, {
      log: { place, secrets: [CANARY_KEY] },
      model: {
        providerOf: async (name) => (name === NAME ? ok(provider) : failed('not_configured', name)),
        dialectOf: async () => ok(DIALECTS.messages),
        dialectNameOf: () => NAME,
        replay,
      },
    })
    const harness = new Harness(parts)
    const session = value(await harness.create({ provider: NAME, model: 'rehearsal' }))
    for (const { after_s, text, attachments: paths } of turns) {
      clock.passed += after_s * 1000
      const attachments = paths.map(
        (path) => ({ from: 'path', path: join(workspace, path) }) as const,
      )
      const admitted = value(await session.admit(text, { attachments }))
      const ended = value(await admitted.done)
      if (ended.status !== 'completed') throw new Error(`${text}: ${JSON.stringify(ended)}`)
    }
    await session.close()
    return session.events
  } finally {
    await server.close()
    await opened.close()
  }
}

const NAME = 'messages'

/** A clock that shows a fixed start and the pauses since. Its timers run in real time. */
class SteppedClock implements Clock {
  passed = Date.parse('2026-01-31T12:00:00.000Z')

  now(): number {
    return this.passed
  }

  monotonicMs(): number {
    return this.passed
  }

  after(ms: number, then: () => void): () => void {
    return systemClock.after(ms, then)
  }
}

async function keep(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, bytes)
}
