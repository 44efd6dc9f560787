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

export async function realPath(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}
