import { join, resolve } from 'node:path'
import { liesIn } from '../../files/confined-path.ts'
import { realPathOf } from '../../files/look.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { coveringMounts, hiddenMounts } from './hidden-mounts.ts'
import { isHawserPath } from '../watch/hawser-folders.ts'
import type { ProtectedPlace } from '../watch/protected-places.ts'
import type { MountScene } from './scene.ts'

/**
 * Hides every `.hawser` and makes protected paths read-only. Every folder on the way to one becomes a mount too: a mount
 * cannot be renamed or removed, so no program can move the folder away and create a new one. A guest keeps the `.hawser` at
 * the root.
 */
export function protectedMounts(scene: MountScene): readonly Mount[] {
  const { workspace, places, coveredPaths = [], records, writable, gitDirectories } = scene
  const roots: [string, ...string[]] = [workspace, ...gitDirectories]
  const hawsers = places.filter(isHawsers).map(({ path }) => resolve(workspace, path))
  // Mounted later than what hides `.hawser`, at the same place.
  const hidden = [
    ...coveringMounts(coveredPaths.map((path) => resolve(workspace, path))),
    ...hiddenMounts(hawsers),
    ...recordsMount(workspace, records),
  ]
  if (writable === 'nothing') return hidden
  const others = places.filter((place) => !isHawsers(place))
  const held = others.flatMap((place) => heldPath(roots, place))
  const ways = [...held, ...hawsers]
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

/** What a guest sees in place of the person's `.hawser`. */
function recordsMount(workspace: string, records: string | undefined): readonly Mount[] {
  return records === undefined
    ? []
    : [{ at: join(workspace, '.hawser'), as: 'writable', from: records }]
}

/** For a link, its target. Outside the workspace and its git directories everything is read-only anyway. */
function heldPath(
  roots: readonly [workspace: string, ...gitDirectories: string[]],
  { kind, path, git }: MountScene['places'][number],
): string[] {
  // The target of such a link is a git directory, of which only some files are protected.
  if (kind === 'symlink' && git?.role === 'location') return []
  const literal = resolve(roots[0], path)
  const held = kind === 'symlink' ? realPathOf(literal) : literal
  if (held === undefined || roots.includes(held)) return []
  return roots.some((root) => liesIn(held, root)) ? [held] : []
}

/** The folders between a workspace and a path inside it. */
export function waysTo(workspace: string, path: string): string[] {
  const names = path.slice(workspace.length).split('/').filter(Boolean)
  return names.slice(0, -1).map((_, at) => join(workspace, ...names.slice(0, at + 1)))
}

export function isHawsers({ path }: ProtectedPlace): boolean {
  return isHawserPath(path)
}
