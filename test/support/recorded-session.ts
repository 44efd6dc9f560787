import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock, type Clock } from '../../src/host/clock.ts'
import { systemIds } from '../../src/host/ids.ts'
import type { Replay } from '../../src/model/modes.ts'
import { failed, ok } from '../../src/model/errors.ts'
import type { WholeEvent } from '../../src/model/events/event.ts'
import { messagesProvider } from '../../src/providers/messages/stream.ts'
import { Harness } from '../../src/session/harness.ts'
import { CANARY_KEY } from './canary.ts'
import { DIALECTS } from './dialects.ts'
import { openParts, withChanges } from './harness-parts.ts'
import { value } from './story.ts'
import { strictServer } from './strict-server.ts'

/** What a person does in a Session. */
export interface PlannedSession {
  /** What lies in the workspace: the bytes of each file by its path. */
  readonly files: ReadonlyMap<string, Buffer>
  readonly turns: readonly PlannedTurn[]
}

export interface PlannedTurn {
  /** How long the person takes after the Turn before it. */
  readonly after_s: number
  readonly says: string
  /** Paths of files that are given with it. */
  readonly gives: readonly string[]
}

/**
 * Has a Session below the folder `root` with the rehearsal model, which is served on a socket of this machine in the dialect
 * of Messages, and gives its Events. Only the pauses of the person are passed over: its clock stands still, and is put forward.
 */
export async function recordedSession(
  root: string,
  { files, turns }: PlannedSession,
  replay: Replay,
): Promise<readonly WholeEvent[]> {
  const clock = new PausesOnly()
  const served = value(await strictServer({ clock }))
  const opened = await openParts(root)
  try {
    const { workspace } = opened
    for (const [path, bytes] of files) await keep(join(workspace, path), bytes)
    const provider = messagesProvider({
      key: CANARY_KEY,
      baseUrl: served.origin,
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
    for (const { after_s, says, gives } of turns) {
      clock.passed += after_s * 1000
      const attachments = gives.map(
        (path) => ({ from: 'path', path: join(workspace, path) }) as const,
      )
      const admitted = value(await session.admit(says, { attachments }))
      const { ended } = value(await admitted.done)
      if (ended.status !== 'completed') throw new Error(`${says}: ${JSON.stringify(ended)}`)
    }
    await session.close()
    return session.events
  } finally {
    await served.close()
    await opened.close()
  }
}

const NAME = 'messages'

/** Noon of a day, and the pauses since. Timers go by the clock on the wall. */
class PausesOnly implements Clock {
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
