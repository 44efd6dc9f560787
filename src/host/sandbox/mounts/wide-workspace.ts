import { realPathOf } from '../../files/look.ts'
import { isIn } from './readable-mounts.ts'
import { userHomes } from './user-homes.ts'

/** What the sandbox cannot prevent in this workspace because of its location. */
export function workspaceGaps(workspace: string): readonly string[] {
  const real = realPathOf(workspace) ?? workspace
  const homes = [...userHomes(), '/home', '/root'].filter((home) => isIn(home, real))
  if (homes.length === 0) return []
  const where = real === '/' ? 'is the whole file system' : `contains ${homes[0]}`
  return [
    `The workspace ${where}: commands can read and write everything there except known credential files, and can connect to Unix sockets there.`,
  ]
}
