import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { Packs } from '../../../src/host/snapshots/packs.ts'
import { rowsOf } from '../../../src/host/snapshots/tree.ts'

/** What is wrong in the stores of snapshots below `folder`: damaged objects, and trees that Logs name and that are incomplete. */
export async function storeProblems(folder: string, workspace: string): Promise<string[]> {
  const problems: string[] = []
  // Nothing was stored before the first command.
  for (const name of await readdir(folder).catch(() => [])) {
    const at = join(folder, name)
    if (((await stat(at)).mode & 0o077) !== 0) problems.push(`${name} is open to others`)
    const store = await diskFolder(at)
    const packs = new Packs(store, systemIds(systemClock))
    for (const [pack, ids] of await packs.list())
      for (const id of ids) {
        const bytes = await packs.get(id)
        if (bytes === undefined || createHash('sha256').update(bytes).digest('hex') !== id)
          problems.push(`${pack}: ${id} is damaged`)
      }
    for (const tree of await namedTrees(workspace))
      if (!(await isWhole(packs, tree))) problems.push(`the tree ${tree} is not complete`)
    await store.close()
  }
  return problems
}

async function namedTrees(workspace: string): Promise<ReadonlySet<string>> {
  const logs = join(workspace, '.hawser', 'sessions')
  const found = new Set<string>()
  for (const name of await readdir(logs)) {
    if (!name.endsWith('.ndjson')) continue
    for (const line of (await readFile(join(logs, name), 'utf8')).split('\n'))
      if (/"type":"(?:workspace_snapshot|files_restored)"/.test(line))
        for (const [, id = ''] of line.matchAll(/"(?:before|after)":"([0-9a-f]{64})"/g))
          found.add(id)
  }
  return found
}

async function isWhole(packs: Packs, id: string): Promise<boolean> {
  const object = await packs.get(id)
  const rows = object && rowsOf(object)
  if (rows === undefined) return false
  for (const row of rows) {
    if (row[1] === 'f' && (await packs.get(row[4])) === undefined) return false
    if (row[1] === 'd' && !(await isWhole(packs, row[3]))) return false
  }
  return true
}
