import { join } from 'node:path'
import { entryNames } from '../../files/look.ts'

/**
 * Returns the paths below a folder that exist. Lists each folder on the way once instead of testing every path, because
 * most entries of a long table exist on no machine.
 */
export function presentPaths(folder: string, paths: readonly string[]): ReadonlySet<string> {
  return new Set(
    presentIn(
      folder,
      paths.map((path) => ({ path, rest: path.split('/') })),
    ),
  )
}

interface PathSearch {
  readonly path: string
  /** The part of the path still to be found. */
  readonly rest: readonly string[]
}

function presentIn(folder: string, searches: readonly PathSearch[]): readonly string[] {
  const names = new Set(entryNames(folder))
  const deeper = new Map<string, PathSearch[]>()
  const present: string[] = []
  for (const { path, rest } of searches) {
    const [name = '', ...below] = rest
    if (!names.has(name)) continue
    if (below.length === 0) present.push(path)
    else deeper.set(name, [...(deeper.get(name) ?? []), { path, rest: below }])
  }
  const found = [...deeper].flatMap(([name, group]) => presentIn(join(folder, name), group))
  return [...present, ...found]
}
