import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/encoding/hash.ts'
import { bundled } from '../bundled.ts'
import { READ_FILE, SHELL_COMMAND, type Contestant } from './contestant.ts'
import { offlineEnv } from './offline-env.ts'
import { FLOOR_SHA256 } from './pins.ts'
import type { Quarters } from './quarters.ts'

const SOURCE = fileURLToPath(new URL('floor.worker.ts', import.meta.url))

/** The least that a Node program can do: no contestant, but what the others are compared with. */
export async function floor({ home, workspace }: Quarters): Promise<Contestant> {
  const hash = sha256(await readFile(SOURCE))
  if (hash !== FLOOR_SHA256)
    throw new Error(`floor.worker.ts has the hash ${hash}, not the pinned one`)
  const program = await bundled('peers/floor.worker.ts', home)
  return {
    name: 'floor',
    version: hash.slice(0, 8),
    dialect: 'messages',
    calls: {
      read: { name: 'read', arguments: { path: READ_FILE } },
      shell: { name: 'bash', arguments: { command: SHELL_COMMAND } },
    },
    home,
    workspace,
    command: async (baseUrl, resumes) => ({
      args: [process.execPath, program, `${baseUrl}/v1/messages`, join(home, 'log'), `${resumes}`],
      cwd: workspace,
      env: offlineEnv(home, process.execPath),
    }),
  }
}
