import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { FileFailure } from '../../files/files.ts'
import { systemProgram } from '../../process/system-program.ts'

const FIND_MS = 60_000
const MOST_BYTES = 16 * 1024 * 1024

/**
 * The paths that `find` prints, each followed by a NUL. A separate process walks the tree, because hundreds of thousands of
 * entries would block this one. Skips folders it may not enter. Fails without `find`, and if the walk does not end in time: what
 * it did not reach would not be hidden.
 */
export async function foundPaths(
  folders: readonly string[],
  test: readonly string[],
  program = systemProgram('find'),
): Promise<readonly string[]> {
  if (folders.length === 0) return []
  const find = await program
  if (find === undefined) throw new FileFailure('NO_FIND', 'find is not installed')
  const options = { env: {}, timeout: FIND_MS, maxBuffer: MOST_BYTES }
  const printed = await promisify(execFile)(find, [...folders, ...test], options).then(
    ({ stdout }) => stdout,
    (error: unknown) => {
      if (!(error instanceof Error && 'stdout' in error && typeof error.stdout === 'string'))
        return ''
      // The exit code of `find` only tells that it could not enter a folder.
      if ('code' in error && typeof error.code === 'number') return error.stdout
      throw new FileFailure('ETIMEDOUT', `${find} did not search all of ${folders.join(' ')}`)
    },
  )
  return printed.split('\0').filter((path) => path !== '')
}
