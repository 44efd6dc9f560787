import { sha256 } from '../../encoding/hash.ts'
import type { Clock } from '../../host/clock.ts'
import { folderAt, pathOf } from '../../host/files/disk.ts'
import { asResult, closing, ifThere, type Folder } from '../../host/files/files.ts'
import { identifyFolder } from '../../host/files/folder-identity.ts'
import type { Ids } from '../../host/ids.ts'
import { thisProcess } from '../../host/process/holder.ts'
import { recordsFolder, type RecordsPlace } from '../../host/files/records.ts'
import { workspaceRegister } from '../../host/workspace-register.ts'
import { keepOutOfGit } from '../../host/workspace.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { FrameStore } from '../frames/frame-store.ts'
import type { OpenInstanceFolder } from './instance-spend.ts'
import { moveRecords } from './move-records.ts'

export interface RecordsParts {
  /** `$HAWSER_HOME`. */
  readonly home: Folder
  /** Opens the folder of the Instance. */
  readonly folder: OpenInstanceFolder
  /** Opens what is stored of its frames. */
  readonly frames: () => ReturnType<FrameStore['raw']>
  /** The workspace is a folder of the person, so they may look for it. */
  readonly isMapped: boolean
  readonly clock: Clock
  readonly ids: Ids
}

/** The server's heads of the Logs of an Instance, a folder for each workspace. */
export const GUEST_HEADS = 'heads'

export function guestHeadsOf(workspace: string): string {
  return sha256(workspace).slice(0, 32)
}

/**
 * Creates the records of an Instance in a workspace if they are missing, from what an earlier version left among the person's.
 * They may not be created in any other way, and not by two calls at once. `open` creates nothing in a folder that has no
 * `.hawser`.
 */
export async function prepareRecords(
  place: RecordsPlace,
  parts: RecordsParts,
  mode: 'open' | 'create',
): Promise<Result<RecordsPlace>> {
  return asResult('open the records of the Instance', async () => {
    const there = await recordsFolder(place)
    await there?.close()
    if (there !== undefined) return ok(place)
    // Before the folder is created: a `.hawser` without an entry counts as the work of a command.
    if (parts.isMapped) await register(place, parts)
    const root = await folderAt(place.workspace)
    const own = await closing(root, () => ifThere(root.folder('.hawser', mode)))
    if (own === undefined) return ok(place)
    const moved = await closing(own, async () => {
      await keepOutOfGit(own, parts.ids)
      return move(own, place, parts)
    })
    return moved.ok ? ok(place) : moved
  })
}

/** Also a `.hawser` that only Instances use is one of this home. */
async function register({ workspace }: RecordsPlace, { home, ids }: RecordsParts): Promise<void> {
  const folder = typeof workspace === 'string' ? await identifyFolder(workspace) : ok(workspace)
  if (folder.ok) await workspaceRegister(home, ids).add(folder.value)
}

async function move(
  own: Folder,
  { workspace, instance }: RecordsPlace,
  { home, folder, frames, clock, ids }: RecordsParts,
): Promise<Result<void>> {
  const opened: { close(): Promise<void> }[] = []
  const below = async (parent: Folder | undefined, name: string) => {
    const found = parent && (await ifThere(parent.folder(name, 'open')))
    if (found !== undefined) opened.push(found)
    return found
  }
  try {
    const mine = await folder('open')
    if (!mine.ok && mine.error.kind !== 'not_found') return mine
    const instanceFolder = mine.ok ? mine.value : undefined
    if (instanceFolder !== undefined) opened.push(instanceFolder)
    const heads = await home.folder('heads', 'create')
    opened.push(heads)
    const guestHeads = await below(
      await below(instanceFolder, GUEST_HEADS),
      guestHeadsOf(pathOf(workspace)),
    )
    const named = await frames()
    if (!named.ok) return named
    if (named.value !== undefined) opened.push(named.value)
    const holder = thisProcess('hawser')
    const moving = { own, instance, heads, guestHeads, clock, ids, holder }
    return await moveRecords({ ...moving, frames: named.value })
  } finally {
    for (const one of opened) await one.close()
  }
}
