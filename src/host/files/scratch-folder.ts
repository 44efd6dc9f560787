import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from './files.ts'

/** A folder of our own for things that nobody keeps. Remove it. */
export interface ScratchFolder {
  /** Absolute, every link resolved. */
  readonly path: string
  /** Writes a file, and makes the folders it lies in. `name` is ours, as in `notes/a.txt`. */
  readonly write: (name: string, text: string) => Promise<Result<void>>
  readonly remove: () => Promise<void>
}

export async function scratchFolder(): Promise<Result<ScratchFolder>> {
  return asHostResult('make a folder for what nobody keeps', async () => {
    const path = await realpath(await mkdtemp(join(tmpdir(), 'hawser-scratch-')))
    const write = (name: string, text: string) =>
      asHostResult(`write ${name}`, async () => {
        await mkdir(dirname(join(path, name)), { recursive: true })
        await writeFile(join(path, name), text)
        return ok(undefined)
      })
    return ok({ path, write, remove: () => rm(path, { recursive: true, force: true }) })
  })
}
