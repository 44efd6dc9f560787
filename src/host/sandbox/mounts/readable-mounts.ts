import { dirname, join } from 'node:path'
import type { Mount } from '../bubblewrap/args.ts'
import { pathNames } from '../../files/confined-path.ts'
import { factsAt, linkTarget, realPathOf } from '../../files/look.ts'

/** The kernel's limit on symbolic links in a path. */
const MOST_LINKS = 40

/**
 * Mounts that make a path resolve to the same thing inside as outside: every link on the way, then the folder or file
 * itself, read-only. Empty when the path does not exist or is neither file nor folder: sockets and devices are never shown.
 */
export function readableMounts(path: string): readonly Mount[] {
  const real = realPathOf(path)
  if (real === undefined) return []
  const facts = factsAt(real)
  if (facts?.isDirectory() !== true && facts?.isFile() !== true) return []
  const links = real === path ? [] : linksOnTheWay(path)
  return [...links, { at: real, as: 'readable' }]
}

function linksOnTheWay(path: string): readonly Mount[] {
  const links: Mount[] = []
  const rest = pathNames(path)
  let at = '/'
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, name)
    const target = linkTarget(next)
    if (target === undefined) {
      at = next
      continue
    }
    if (links.length === MOST_LINKS) return []
    links.push({ at: next, as: 'link', from: target })
    if (target.startsWith('/')) at = '/'
    rest.unshift(...pathNames(target))
  }
  return links
}

/** Drops mounts inside a shown folder or one of `elsewhere`: they are visible anyway, and a link there is the real one. */
export function withoutRedundant(
  mounts: readonly Mount[],
  elsewhere: readonly string[],
): readonly Mount[] {
  const shown = mounts.flatMap(({ as, at }) => (as === 'readable' ? [at] : []))
  const unique = [...new Map(mounts.map((mount) => [mount.at, mount])).values()]
  return unique.filter(
    ({ at }) =>
      !elsewhere.some((folder) => isIn(at, folder)) &&
      !shown.some((folder) => folder !== at && isIn(at, folder)),
  )
}

/** Expects resolved paths: no links, no dots. */
export function isIn(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}
