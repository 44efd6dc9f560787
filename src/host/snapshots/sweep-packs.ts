import { closing, ifThere, type Folder } from '../files/files.ts'
import type { Packs } from './packs.ts'
import { rowsOf } from './tree.ts'

export interface SweepOrder {
  /** Which of these ids something mentions. */
  readonly mentionsOf: (ids: ReadonlySet<string>) => Promise<ReadonlySet<string>>
  /** Packs that were written after this time stay: their snapshot may be about to be recorded. */
  readonly olderThan: number
  /** By the wall clock. */
  readonly now: number
  readonly dryRun: boolean
}

/**
 * Deletes the packs that have nothing of a snapshot that is mentioned. A pack is kept whole for one object of it. Returns how
 * many bytes that are, and whether a snapshot is left.
 */
export async function sweepPacks(
  packs: Packs,
  folder: Folder,
  { mentionsOf, olderThan, dryRun }: SweepOrder,
): Promise<{ readonly bytes: number; readonly isMentioned: boolean }> {
  const all = await packs.list()
  const ids = new Set([...all.values()].flat())
  const reached = await reachedFrom(packs, await mentionsOf(ids))
  let freed = 0
  let left = all.size
  for (const [name, own] of all) {
    if (own.some((id) => reached.has(id))) continue
    const file = await ifThere(folder.open(name, 'read'))
    if (file === undefined) continue
    const { size, changedAt } = await closing(file, () => file.stat())
    if (changedAt > olderThan) continue
    freed += size
    left -= 1
    if (!dryRun) await ifThere(folder.remove(name))
  }
  if (!dryRun && freed > 0) await folder.sync()
  return { bytes: freed, isMentioned: left > 0 }
}

async function reachedFrom(
  packs: Packs,
  mentioned: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const reached = new Set<string>()
  const waiting = [...mentioned]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id)) continue
    reached.add(id)
    const object = await packs.get(id)
    for (const row of (object && rowsOf(object)) ?? []) {
      if (row[1] === 'f') reached.add(row[4])
      if (row[1] === 'd') waiting.push(row[3])
    }
  }
  return reached
}
