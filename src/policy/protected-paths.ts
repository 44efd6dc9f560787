import { GIT_REASONS, gitRoleOfPath } from '../model/safety/git-places.ts'
import { protectedName } from '../model/safety/protected-paths.ts'

/** Why writing this path asks in every mode, whatever its case or spelling. */
export function protectedBy(path: string): string | undefined {
  const role = gitRoleOfPath(path)
  if (role !== undefined) return GIT_REASONS[role]
  const entry = protectedName(path)
  return entry?.rule === 'asks' ? entry.reason : undefined
}
