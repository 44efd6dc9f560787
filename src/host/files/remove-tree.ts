import { rm } from 'node:fs/promises'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult } from './files.ts'

/** Deletes a folder with everything in it. Links in it are deleted, never followed. Nothing may write to it meanwhile. */
export async function removeTree(path: string): Promise<Result<void>> {
  return asHostResult(`delete ${path}`, async () => {
    await rm(path, { recursive: true, force: true })
    return ok(undefined)
  })
}
