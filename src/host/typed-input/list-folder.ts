import { readdir } from 'node:fs/promises'

/** More are not listed. */
const MOST_NAMES = 10_000

/** The names in a folder, sorted, those of folders with a slash; none if it cannot be read. For completion only. */
export async function listFolder(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
  return names.toSorted().slice(0, MOST_NAMES)
}
