import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { systemProgram } from '../../process/system-program.ts'

const FIND_MS = 10_000
const MOST_BYTES = 16 * 1024 * 1024

/**
 * The paths that `find` prints, each followed by a NUL. A separate process walks the tree, because hundreds of thousands of
 * entries would block this one. Skips folders it may not enter, and everything left after ten seconds.
 */
export async function foundPaths(
  folders: readonly string[],
  test: readonly string[],
): Promise<readonly string[]> {
  const find = await systemProgram('find')
  if (find === undefined || folders.length === 0) return []
  const options = { env: {}, timeout: FIND_MS, maxBuffer: MOST_BYTES }
  const printed = await promisify(execFile)(find, [...folders, ...test], options).then(
    ({ stdout }) => stdout,
    (error: unknown) =>
      error instanceof Error && 'stdout' in error && typeof error.stdout === 'string'
        ? error.stdout
        : '',
  )
  return printed.split('\0').filter((path) => path !== '')
}
