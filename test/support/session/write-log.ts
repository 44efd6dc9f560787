import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../../src/encoding/hash.ts'
import { sealLine } from '../../../src/log/line.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { EventId, TurnId, type SessionId } from '../../../src/model/ids.ts'
import { sessionFold } from '../../../src/session/live/state.ts'
import { registerDamage } from '../log/registered-damage.ts'
import { freshFolder } from '../host/folder.ts'
import { openParts } from './harness-parts.ts'
import { value } from '../log/story.ts'

/** A folder with an empty workspace, for tests of commands. */
export async function commandPlace(): Promise<{
  readonly root: string
  readonly workspace: string
}> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  return { root, workspace }
}

/** The path of a Session's Log below `root`. */
export function logPath(root: string, session: SessionId): string {
  return join(root, 'workspace', '.hawser', 'sessions', `${session}.ndjson`)
}

/** Changes the bytes of a Log, bypassing the writer. */
export async function corruptLog(
  root: string,
  session: SessionId,
  change: (text: string) => string,
): Promise<void> {
  await registerDamage(root, 'log', 'The bytes of a Log are changed.')
  const path = logPath(root, session)
  await writeFile(path, change(await readFile(path, 'utf8')))
}

/** Appends Events to a Session, or creates one with these Events if `session` is absent; returns its id. */
export async function writeLog(
  root: string,
  drafts: readonly EventDraft[],
  session?: SessionId,
): Promise<SessionId> {
  await registerDamage(root, 'events', 'A Log contains Events that no Turn produced.')
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

/** An Event of any type and shape. */
export interface AnyEvent {
  readonly type: string
  readonly data: object
}

/** Writes a foreign Log: intact and chained, but without a head. */
export async function writeForeignLog(
  root: string,
  session: SessionId,
  events: readonly AnyEvent[],
): Promise<void> {
  await registerDamage(root, 'events', 'A Log contains Events that no Turn produced.')
  const { close } = await openParts(root)
  await close()
  let prev: string | null = null
  const lines: Buffer[] = []
  for (const [seq, { type, data }] of events.entries()) {
    const envelope = {
      id: EVENT,
      session_id: session,
      turn_id: TURN,
      ts: '2026-01-31T12:00:00.000Z',
    }
    const { bytes } = sealLine({ ...envelope, type, data: JSON.stringify(data) }, seq, prev, 0)
    prev = sha256(bytes.subarray(0, -1))
    lines.push(bytes)
  }
  await writeFile(logPath(root, session), Buffer.concat(lines), { mode: 0o600 })
}
