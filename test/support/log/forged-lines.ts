import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { sealLine } from '../../../src/log/line.ts'
import { logName } from '../../../src/log/files/names.ts'
import type { EventId, SessionId, TurnId } from '../../../src/model/ids.ts'
import { linesOf } from './raw-log.ts'

/** A line that no writer of this home wrote. */
export interface Forged {
  readonly type: string
  readonly data: unknown
  readonly turn_id?: TurnId
}

/** The files of a Session below the `root` of a `harnessPlace`. */
export function filesOf(root: string, session: SessionId) {
  const sessions = join(root, 'workspace', '.hawser', 'sessions')
  return {
    log: join(sessions, logName(session)),
    index: join(sessions, `${session}.index`),
    head: join(root, 'home', 'heads', session),
  }
}

/** Appends lines with an intact chain and checksums, which anyone can compute. Returns their ids. */
export async function appendForged(
  root: string,
  session: SessionId,
  forged: readonly Forged[],
): Promise<EventId[]> {
  const ids = systemIds(systemClock)
  const { log } = filesOf(root, session)
  const lines = linesOf(await readFile(log))
  let prev = sha256(lines.at(-1)?.subarray(0, -1) ?? Buffer.alloc(0))
  const made: EventId[] = []
  for (const [at, { type, data, turn_id }] of forged.entries()) {
    const id = ids.event()
    const turn = turn_id === undefined ? {} : { turn_id }
    const ts = '2026-01-31T12:00:00.000Z'
    const unsealed = { id, session_id: session, ts, type, data: JSON.stringify(data), ...turn }
    const { bytes } = sealLine(unsealed, lines.length + at, prev, 0)
    prev = sha256(bytes.subarray(0, -1))
    await appendFile(log, bytes)
    made.push(id)
  }
  return made
}

/** Makes the head cover the whole Log, as the writer does before it acknowledges a change. */
export async function coveringHead(root: string, session: SessionId): Promise<string> {
  const bytes = await readFile(filesOf(root, session).log)
  const lines = linesOf(bytes)
  const hash = sha256(lines.at(-1)?.subarray(0, -1) ?? Buffer.alloc(0))
  return `${JSON.stringify({ seq: lines.length - 1, hash, offset: bytes.length })}\n`
}
