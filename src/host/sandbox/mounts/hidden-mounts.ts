import { factsBehind, realPathOf } from '../../files/look.ts'
import type { Mount } from '../bubblewrap/args.ts'

/** Mounts that hide whatever exists at these paths. */
export function hiddenMounts(paths: readonly string[]): readonly Mount[] {
  return paths.flatMap((path): readonly Mount[] => {
    const at = realPathOf(path)
    const facts = at === undefined ? undefined : factsBehind(at)
    if (at === undefined || facts === undefined) return []
    return [{ at, as: facts.isDirectory() ? 'hidden_folder' : 'hidden_file' }]
  })
}

/** Mounts that cover folders without a bind, so that many of them take little time. What is written there is lost. */
export function coveringMounts(paths: readonly string[]): readonly Mount[] {
  return hiddenMounts(paths).map(({ at, as }) => ({
    at,
    as: as === 'hidden_folder' ? 'private_folder' : as,
  }))
}
