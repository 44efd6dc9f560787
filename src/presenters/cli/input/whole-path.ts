import { isAbsolute, join } from 'node:path'
import { userHome } from '../../../host/machine.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { CliWorld } from '../world/world.ts'

/** Makes a typed path absolute, from the current folder, or from the home folder after `~/`. */
export function wholePath({ cwd }: Pick<CliWorld, 'cwd'>, path: string): Result<string> {
  if (isAbsolute(path)) return ok(path)
  try {
    return ok(pathFrom(cwd(), path))
  } catch {
    return failed('not_found', 'The current folder no longer exists.', {}, [
      { action: 'Pass the absolute path of the file.' },
    ])
  }
}

/** The same, from any absolute folder. */
export function pathFrom(base: string, path: string): string {
  if (isAbsolute(path)) return path
  const home = path.startsWith('~/') ? userHome() : undefined
  return home === undefined ? join(base, path) : join(home, path.slice('~/'.length))
}
