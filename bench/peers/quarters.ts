import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { READ_FILE } from './contestant.ts'

/** The home and the workspace of one contestant, which no other one uses. */
export interface Quarters {
  readonly home: string
  readonly workspace: string
}

const FILES = 100
const READ_BYTES = 300

/** All workspaces are alike: 100 files, one of which is read. */
export async function quartersFor(name: string, folder: string): Promise<Quarters> {
  const [home, workspace] = [join(folder, name, 'home'), join(folder, name, 'workspace')]
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(workspace)
  const text = 'The tide turns at six.\n'.repeat(READ_BYTES / 20).slice(0, READ_BYTES)
  await writeFile(join(workspace, READ_FILE), text)
  for (let at = 1; at < FILES; at += 1) await writeFile(join(workspace, `file-${at}`), '')
  return { home, workspace }
}
