import { join, resolve } from 'node:path'
import { foldedName } from '../../../model/safety/folded-name.ts'
import { liesIn } from '../../files/confined-path.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { hiding, realPath } from './hiding.ts'
import type { ProtectedPlace } from '../watch/protected-places.ts'
import type { MountScene } from './scene.ts'

/**
 * Hides `.hawser`, and makes protected places read-only. Every folder on the way to one becomes a mount of its own: a mount
 * cannot be renamed or removed, so nobody moves the folder away and makes a new one.
 */
export async function protectedMounts(scene: MountScene): Promise<readonly Mount[]> {
  const { workspace, places, guest, writable, gitDirectories } = scene
  const roots: [string, ...string[]] = [workspace, ...gitDirectories]
  const hawsers = places.filter(isHawsers).map(({ path }) => join(workspace, path))
  const hidden = guest ? [] : await hiding(hawsers)
  if (writable === 'nothing') return hidden
  const others = places.filter((place) => !isHawsers(place))
  const held = (await Promise.all(others.map((place) => heldPath(roots, place)))).flat()
  const ways = held
    .flatMap((path) =>
      roots.filter((root) => liesIn(path, root)).flatMap((root) => waysTo(root, path)),
    )
    .filter((way) => !held.some((path) => liesIn(way, path)))
  return [
    ...ways.map((at): Mount => ({ at, as: 'writable' })),
    ...held.map((at): Mount => ({ at, as: 'readable' })),
    ...hidden,
  ]
}

/** Of a link, what it leads to; outside the workspace and its git directories all is read-only anyway. */
async function heldPath(
  roots: readonly [workspace: string, ...gitDirectories: string[]],
  { kind, path, git }: MountScene['places'][number],
): Promise<string[]> {
  // What such a link leads to is a git directory, of which only some files are held.
  if (kind === 'symlink' && git?.role === 'location') return []
  const spelt = resolve(roots[0], path)
  const held = kind === 'symlink' ? await realPath(spelt) : spelt
  if (held === undefined || roots.includes(held)) return []
  return roots.some((root) => liesIn(held, root)) ? [held] : []
}

/** The folders between a workspace and a path in it. */
export function waysTo(workspace: string, path: string): string[] {
  const names = path.slice(workspace.length).split('/').filter(Boolean)
  return names.slice(0, -1).map((_, at) => join(workspace, ...names.slice(0, at + 1)))
}

export function isHawsers({ path }: ProtectedPlace): boolean {
  return foldedName(path) === '.hawser'
}
