import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { asFileFailure, asHostResult, FileFailure } from './files.ts'

/**
 * The one path of a folder that every spelling of it leads to. `invalid_args` for a relative path, `not_found` for a
 * missing folder, `not_regular_file` for anything else. Only names the folder: opening it checks it again.
 */
export async function realFolder(path: string): Promise<Result<string>> {
  if (!isAbsolute(path) || path.includes('\0')) {
    return failed('invalid_args', 'The path of a folder must be absolute.')
  }
  return asHostResult('find the folder', async () => {
    const real = await asFileFailure(realpath(path)).catch((error: unknown) => {
      // A name that is too long does not exist either.
      if (error instanceof FileFailure && error.code === 'ENAMETOOLONG') return undefined
      throw error
    })
    if (real === undefined) return failed('not_found', 'The folder does not exist.')
    if ((await stat(real)).isDirectory()) return ok(real)
    return failed('not_regular_file', 'The path does not lead to a folder.')
  })
}

/** What identifies a folder, whatever path leads to it, also through a mount. `undefined` if there is no folder. */
export async function folderIdentity(path: string): Promise<Result<string | undefined>> {
  return asHostResult(`look at ${path}`, async () => {
    const facts = await asFileFailure(stat(path, { bigint: true })).catch((error: unknown) => {
      if (error instanceof FileFailure && NOWHERE.has(error.code)) return undefined
      throw error
    })
    return ok(facts?.isDirectory() === true ? `${facts.dev}:${facts.ino}` : undefined)
  })
}

const NOWHERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])
