import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from './files.ts'

/** A temporary folder. The caller must remove it. */
export interface ScratchFolder {
  /** Absolute, with links resolved. */
  readonly path: string
  /** Writes a file and creates its folders. `name` is a trusted relative path such as `notes/a.txt`. */
  readonly write: (name: string, text: string) => Promise<Result<void>>
  readonly remove: () => Promise<void>
}

export async function scratchFolder(): Promise<Result<ScratchFolder>> {
  return asHostResult('create a temporary folder', async () => {
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
