import type { Clock } from '../../../host/clock.ts'
import { folderAt, pathOf } from '../../../host/files/disk.ts'
import { asResult, closing, ifThere, type Folder } from '../../../host/files/files.ts'
import { identifyFolder } from '../../../host/files/folder-identity.ts'
import type { Ids } from '../../../host/ids.ts'
import { thisProcess } from '../../../host/process/holder.ts'
import { recordsFolder, type RecordsPlace } from '../../../host/files/records.ts'
import { workspaceRegister } from '../../../host/workspace-register.ts'
import { keepOutOfGit } from '../../../host/workspace.ts'
import { ok, type Result } from '../../../model/errors.ts'
import type { FrameStore } from '../../frames/frame-store.ts'
import type { InstancePlace, PrepareOptions } from '../guest-records.ts'
import { moveRecords } from './move-records.ts'

interface RecordsParts extends PrepareOptions {
  /** `$HAWSER_HOME`. */
  readonly home: Folder
  readonly frames: Pick<FrameStore, 'raw'>
  /** Opens the server's heads of the Logs of an Instance in a workspace; `undefined` if there are none. */
  readonly headsOf: (at: {
    readonly instance: string
    readonly workspace: string
  }) => Promise<Folder | undefined>
  readonly clock: Clock
  readonly ids: Ids
}

/** See `GuestRecords.prepare`: `open` creates nothing in a folder that has no `.hawser`. */
export async function prepareRecords(
  place: InstancePlace,
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
  { workspace, instance }: InstancePlace,
  { home, frames, headsOf, clock, ids }: RecordsParts,
): Promise<Result<void>> {
  const opened: { close(): Promise<void> }[] = []
  try {
    const heads = await home.folder('heads', 'create')
    opened.push(heads)
    const guestHeads = await headsOf({ instance, workspace: pathOf(workspace) })
    if (guestHeads !== undefined) opened.push(guestHeads)
    const named = await frames.raw(instance)
    if (!named.ok) return named
    if (named.value !== undefined) opened.push(named.value)
    const holder = thisProcess('hawser')
    const moving = { own, instance, heads, guestHeads, clock, ids, holder }
    return await moveRecords({ ...moving, frames: named.value })
  } finally {
    for (const one of opened) await one.close()
  }
}
