import { realpath, stat } from 'node:fs/promises'
import type { Mount } from '../bubblewrap/args.ts'

/** Mounts that hide whatever exists at these paths. */
export async function hiddenMounts(paths: readonly string[]): Promise<readonly Mount[]> {
  const mounts = await Promise.all(
    paths.map(async (path): Promise<readonly Mount[]> => {
      const at = await realPath(path)
      const facts = at === undefined ? undefined : await stat(at).catch(() => undefined)
      if (at === undefined || facts === undefined) return []
      return [{ at, as: facts.isDirectory() ? 'hidden_folder' : 'hidden_file' }]
    }),
  )
  return mounts.flat()
}

/** Mounts that cover folders without a bind, so that many of them take little time. What is written there is lost. */
export async function coveringMounts(paths: readonly string[]): Promise<readonly Mount[]> {
  const hidden = await hiddenMounts(paths)
  return hidden.map(({ at, as }) => ({ at, as: as === 'hidden_folder' ? 'private_folder' : as }))
}

export async function realPath(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}
