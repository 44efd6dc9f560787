import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { recordsPath } from '../../../src/host/files/records.ts'

/** Creates the records of an Instance in a workspace, as the server does for a guest, and returns their path. */
export async function makeRecords(workspace: string, instance = 'inst_1'): Promise<string> {
  const path = recordsPath({ workspace, instance })
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** The records of the only Instance in a workspace. */
export async function onlyRecords(workspace: string): Promise<string> {
  const folder = join(workspace, '.hawser/instances')
  const names = await readdir(folder).catch(() => [])
  const [only, ...more] = names.filter((name) => /^inst?_/.test(name))
  if (only === undefined || more.length > 0) throw new Error(`not one Instance in ${workspace}`)
  return join(folder, only)
}
