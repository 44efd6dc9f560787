import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { diskFolder, pathOf } from '../../../src/host/files/disk.ts'
import { closing } from '../../../src/host/files/files.ts'
import type { RecordsPlace } from '../../../src/host/files/records.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { LiveHistory } from '../../../src/request/live-history.ts'
import { listSessions } from '../../../src/session/queries/list.ts'
import { FRAME_LOG_SETTINGS } from '../../../src/tether/frames/frame-settings.ts'
import { value } from '../../support/log/story.ts'
import { openPartsAt } from '../../support/session/harness-parts.ts'
import { allFrames, openFrames } from '../../support/tether/frame-log-place.ts'

/** What is on the disk of the one Instance of a server that has stopped. */
export interface InstanceRecords {
  /** The frame log, in its order. */
  readonly stored: readonly Frame[]
  /** Of the Logs of all Sessions. */
  readonly events: readonly WholeEvent[]
}

const Register = z.object({ instances: z.tuple([z.object({ id: z.string() })]) })

/** Reads them; what is wrong with them by themselves is added to `damage`. */
export async function instanceRecords(
  { home, workspace }: { readonly home: string; readonly workspace: string },
  mostSessions: number,
  damage: string[],
): Promise<InstanceRecords> {
  const register = await readFile(join(home, 'instances/register.json'), 'utf8')
  const { id } = Register.parse(JSON.parse(register.slice(register.indexOf('\n')))).instances[0]
  const own = join(home, 'instances', id)
  const stored = await storedFrames(join(own, 'frames'), damage)
  const place = { workspace, instance: id }
  const events = await eventsIn(place, join(own, 'home'), mostSessions, damage)
  return { stored, events }
}

async function storedFrames(path: string, damage: string[]): Promise<Frame[]> {
  return closing(await diskFolder(path), async (folder) => {
    const log = value(await openFrames(folder, { settings: FRAME_LOG_SETTINGS }))
    if (log.damage !== undefined) damage.push(log.damage.error.message)
    if (log.pending().length > 0) damage.push(`${log.pending().length} messages have not ended`)
    const frames = await allFrames(log, 200)
    await log.close()
    return frames
  })
}

/** One intact Session for each conversation. */
async function eventsIn(
  { workspace, instance }: RecordsPlace,
  home: string,
  most: number,
  damage: string[],
): Promise<WholeEvent[]> {
  const { parts, close } = await openPartsAt(pathOf(workspace), home, {}, instance)
  const listed = await listSessions(parts.log.place)
  if (listed.length > most) damage.push(`${listed.length} Sessions`)
  const events: WholeEvent[] = []
  for (const { id } of listed) {
    const { damage: found, torn_bytes, foreign } = value(await verifyLog(parts.log.place, id))
    if (found !== undefined || torn_bytes > 0 || foreign) damage.push(`${id} is not whole`)
    const reader = value(await openReader(parts.log.place, id))
    const history = new LiveHistory(parts.log.store)
    await history.add(value(await reader.lines()).lines)
    events.push(...history.events)
    await reader.close()
  }
  await close()
  return events
}
