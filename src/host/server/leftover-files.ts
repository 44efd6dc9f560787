import { asResult, closing, ifThere, removeTemporaries, type Folder } from '../files/files.ts'
import { ok, type Result } from '../../model/errors.ts'

const INSTANCES = 'instances'
/** A writer renames its temporary file within milliseconds, but a paused one may take as long as its pause. */
export const LEFTOVER_MS = 24 * 60 * 60 * 1000

/**
 * Removes temporary files that killed processes left in `$HAWSER_HOME` before `olderThan`: those of the person, of the server,
 * and of guests, who may have put anything into their homes. Returns how many.
 */
export async function removeLeftovers(home: Folder, olderThan: number): Promise<Result<number>> {
  return asResult('remove temporary files', async () => {
    let removed = await removedIn(home, olderThan)
    for (const name of ['heads', 'cache']) removed += await removedBelow(home, name, olderThan)
    const instances = await ifThere(home.folder(INSTANCES, 'open'))
    if (instances === undefined) return ok(removed)
    return closing(instances, async () => {
      removed += await removedIn(instances, olderThan)
      for (const id of await instances.names())
        removed += await ofInstance(instances, id, olderThan)
      return ok(removed)
    })
  })
}

async function ofInstance(instances: Folder, id: string, olderThan: number): Promise<number> {
  return within(instances, id, async (own) => {
    let removed = await removedIn(own, olderThan)
    removed += await within(own, 'heads', async (heads) => {
      let ofHeads = 0
      for (const name of await heads.names()) ofHeads += await removedBelow(heads, name, olderThan)
      return ofHeads
    })
    removed += await within(own, 'home', async (guest) => {
      let ofGuest = await removedIn(guest, olderThan)
      for (const name of ['heads', 'cache']) ofGuest += await removedBelow(guest, name, olderThan)
      return ofGuest
    })
    return removed
  })
}

function removedBelow(parent: Folder, name: string, olderThan: number): Promise<number> {
  return within(parent, name, (folder) => removedIn(folder, olderThan))
}

function removedIn(folder: Folder, olderThan: number): Promise<number> {
  return countRemovals(() => removeTemporaries(folder, olderThan))
}

/** 0 if it is not a folder: a guest may have put a link there, which is not followed. */
function within(
  parent: Folder,
  name: string,
  work: (folder: Folder) => Promise<number>,
): Promise<number> {
  return countRemovals(async () => closing(await parent.folder(name, 'open'), work))
}

/** One place that cannot be read keeps no other from being tidied. */
async function countRemovals(work: () => Promise<number>): Promise<number> {
  const done = await asResult('remove temporary files', async () => ok(await work()))
  return done.ok ? done.value : 0
}
