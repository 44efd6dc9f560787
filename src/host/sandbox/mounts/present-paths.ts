import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Which of many paths below a folder exist. Looks into each folder on the way once instead of asking for every path: most
 * names of a long table are on no machine.
 */
export async function presentPaths(
  folder: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(
    await presentIn(
      folder,
      paths.map((path) => ({ path, rest: path.split('/') })),
    ),
  )
}

interface Wanted {
  readonly path: string
  /** What of it is not found yet. */
  readonly rest: readonly string[]
}

async function presentIn(folder: string, wanted: readonly Wanted[]): Promise<readonly string[]> {
  const names = new Set(await readdir(folder).catch(() => []))
  const deeper = new Map<string, Wanted[]>()
  const present: string[] = []
  for (const { path, rest } of wanted) {
    const [name = '', ...below] = rest
    if (!names.has(name)) continue
    if (below.length === 0) present.push(path)
    else deeper.set(name, [...(deeper.get(name) ?? []), { path, rest: below }])
  }
  const found = await Promise.all(
    [...deeper].map(([name, group]) => presentIn(join(folder, name), group)),
  )
  return [...present, ...found.flat()]
}
