import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../src/encoding/hash.ts'
import { sealLine } from '../../src/log/line.ts'
import { acquireLog, createLog } from '../../src/log/open.ts'
import type { EventDraft } from '../../src/model/events/event.ts'
import { EventId, TurnId, type SessionId } from '../../src/model/ids.ts'
import { sessionFold } from '../../src/session/live/state.ts'
import { damagedOnPurpose } from './damaged-on-purpose.ts'
import { freshFolder } from './folder.ts'
import { openParts } from './harness-parts.ts'
import { value } from './story.ts'

/** A folder with an empty workspace in it, for commands. */
export async function commandPlace(): Promise<{
  readonly root: string
  readonly workspace: string
}> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  return { root, workspace }
}

/** Where the Log of a Session lies below `root`. */
export function logPath(root: string, session: SessionId): string {
  return join(root, 'workspace', '.hawser', 'sessions', `${session}.ndjson`)
}

/** Changes the bytes of a Log as no writer of ours would. */
export async function spoil(
  root: string,
  session: SessionId,
  change: (text: string) => string,
): Promise<void> {
  await damagedOnPurpose(root, 'log', 'The bytes of a Log are changed.')
  const path = logPath(root, session)
  await writeFile(path, change(await readFile(path, 'utf8')))
}

/** A Session of ours with these Events. Without `session` it is a new one, which they begin. */
export async function writtenLog(
  root: string,
  drafts: readonly EventDraft[],
  session?: SessionId,
): Promise<SessionId> {
  await damagedOnPurpose(root, 'events', 'A Log holds Events that no Turn led to.')
  const { parts, close } = await openParts(root)
  const { place, store } = parts.log
  const writing = {
    fold: sessionFold,
    keep: (bytes: Buffer, type: string) => store.put([bytes], type),
  }
  const id = session ?? place.ids.session()
  const writer = value(
    session === undefined
      ? await createLog(place, id, drafts, writing)
      : await acquireLog(place, id, writing),
  )
  if (session !== undefined) value(await writer.append(drafts))
  await writer.release()
  await close()
  return id
}

const EVENT = EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12')
const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

/** An Event of whatever type and shape. */
export interface AnyEvent {
  readonly type: string
  readonly data: object
}

/** A Log that came from elsewhere: whole and chained, of a Session that no head here vouches for. */
export async function foreignLog(
  root: string,
  session: SessionId,
  events: readonly AnyEvent[],
): Promise<void> {
  await damagedOnPurpose(root, 'events', 'A Log holds Events that no Turn led to.')
  const { close } = await openParts(root)
  await close()
  let prev: string | null = null
  const lines: Buffer[] = []
  for (const [seq, { type, data }] of events.entries()) {
    const told = { id: EVENT, session_id: session, turn_id: TURN, ts: '2026-01-31T12:00:00.000Z' }
    const { bytes } = sealLine({ ...told, type, data: JSON.stringify(data) }, seq, prev, 0)
    prev = sha256(bytes.subarray(0, -1))
    lines.push(bytes)
  }
  await writeFile(logPath(root, session), Buffer.concat(lines), { mode: 0o600 })
}
