import { join } from 'node:path'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { shownPath } from '../../files/confined-path.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { credentialMounts } from './credential-mounts.ts'
import { coveringMounts, hiddenMounts } from './hidden-mounts.ts'
import { isHawsers, protectedMounts, waysTo } from './protected-mounts.ts'
import { HIDDEN_FOLDERS, PRIVATE_FOLDERS, SOCKET_PLACES, systemRoot } from './root-folders.ts'
import { MOST_COVERED, MOST_HELD } from '../watch/hawser-folders.ts'
import type { MountScene } from './scene.ts'
import { isIn, readableMounts, withoutRedundant } from './readable-mounts.ts'
import { socketMounts } from './socket-mounts.ts'
import { pathPlaces, toolchainsOf } from './toolchain-folders.ts'

/** The mounts of a sandbox, and the variables that programs need to find toolchains. */
export interface SandboxView {
  readonly mounts: readonly Mount[]
  readonly variables: Readonly<Record<string, string>>
}

/**
 * The mounts around a workspace: system folders, toolchains, `PATH` folders and paths a person allowed, read-only and
 * without credentials and sockets. Nothing else is visible. Only existing paths are mounted over; nothing is created on
 * disk. Fails with `protected_path` when a `.hawser` is a link, which cannot be mounted over. `around` is the result of
 * `surroundings`, if already known.
 */
export async function mountsOf(
  scene: MountScene,
  around?: SandboxView,
): Promise<Result<SandboxView>> {
  const link = scene.places.find((place) => isHawsers(place) && place.kind === 'symlink')
  if (link !== undefined) {
    const path = shownPath(link.path)
    const message = `${path} in this workspace is a symbolic link; it must be a folder.`
    return failed('protected_path', message, { path: link.path }, [
      { action: `Remove the link ${path}, or replace it with the folder it points to.` },
    ])
  }
  const { mounts, variables } = around ?? (await surroundings(scene))
  const covered = hiddenInside(scene, mounts)
  const shown = protectedMounts(scene).filter(
    // A folder on the way to a protected path must not uncover one that is hidden.
    ({ at, as }) => as === 'hidden_folder' || !covered.some((folder) => isIn(at, folder)),
  )
  return ok({ mounts: [...mounts, ...shown], variables })
}

/** The hidden folders of the workspace, and of its git directories, such as `$HAWSER_HOME` or credentials. */
function hiddenInside(
  { workspace, gitDirectories }: MountScene,
  mounts: readonly Mount[],
): readonly string[] {
  const roots = [workspace, ...gitDirectories]
  return mounts
    .filter(
      ({ as, at }) => as === 'hidden_folder' && roots.some((root) => at !== root && isIn(at, root)),
    )
    .map(({ at }) => at)
}

/** Everything except the protected paths of the workspace. */
export async function surroundings(scene: Omit<MountScene, 'places'>): Promise<SandboxView> {
  const { workspace, env, gitDirectories, ownHome } = scene
  const mayShow = narrowEnough(scene)
  const { mounts: system, empty } = systemRoot()
  const toolchains = toolchainsOf(env, scene.userHomes, mayShow)
  const named = shownAt(scene.readable, (path) => isAllowed(path, scene))
  const folders = toolchains.places.map(({ at }) => at)
  const seen = [...folders, ...system.map(({ at }) => at), workspace]
  const programs = pathPlaces(env, scene.userHomes).filter(
    (path) => !seen.some((folder) => isIn(path, folder)),
  )
  const own = shownAt([...folders, ...programs], mayShow)
  const resolver = scene.network ? readableMounts('/etc/resolv.conf') : []
  const kept = ownHome === undefined ? [] : readableMounts(ownHome)
  const keptAt = kept.flatMap(({ as, at }) => (as === 'readable' ? [at] : []))
  const links = [...empty, ...kept].filter(({ as }) => as === 'link')
  const elsewhere = [workspace, ...gitDirectories, ...keptAt]
  const readable = withoutRedundant([...system, ...links, ...own, ...named, ...resolver], elsewhere)
  const shown = readable.flatMap(({ as, at }) => (as === 'readable' ? [at] : []))
  const all = [...shown, ...elsewhere]
  const searched = shown.filter((at) => !system.some((folder) => folder.at === at))
  const others = ofOtherWorkspaces(scene, all)
  const ours = hiddenMounts([scene.hawserHome, ...others.slice(0, MOST_HELD)])
  const covered = coveringMounts(others.slice(MOST_HELD, MOST_COVERED))
  const homes = hiddenMounts(scene.userHomes.filter((home) => home !== '/'))
  const [credentials, sockets] = await Promise.all([
    credentialMounts({
      shownPaths: all,
      homes: scene.userHomes,
      toolchains: toolchains.places,
      readablePaths: named.map(({ at }) => at),
    }),
    socketMounts([...shown, ...gitDirectories], [...searched, ...gitDirectories, ...SOCKET_PLACES]),
  ])
  const isShown = ({ at }: Mount) =>
    // `protectedMounts` handles the workspace's own `.hawser`.
    at !== join(workspace, '.hawser') && all.some((folder) => isIn(at, folder))
  const hidden = [...credentials, ...ours].filter(isShown)
  const mounts: Mount[] = [
    ...sockets,
    ...empty.filter(({ as }) => as !== 'link'),
    ...homes.filter(({ at }) =>
      system.some((folder) => folder.as === 'readable' && isIn(at, folder.at)),
    ),
    ...readable,
    ...(scene.writable === 'workspace' ? heldIn(workspace, hidden) : []),
    ...covered.filter(isShown),
    ...hidden,
    ...elsewhere.map((at): Mount => ({
      at,
      as: scene.writable === 'workspace' ? 'writable' : 'readable',
    })),
  ]
  return { mounts, variables: toolchains.variables }
}

/** The `.hawser` of other workspaces in the folders shown, those nearest to the root first. */
function ofOtherWorkspaces(
  { otherWorkspaces = [] }: Pick<MountScene, 'otherWorkspaces'>,
  shown: readonly string[],
): readonly string[] {
  return otherWorkspaces
    .filter((path) => shown.some((folder) => isIn(path, folder)))
    .toSorted((a, b) => a.split('/').length - b.split('/').length)
    .map((path) => join(path, '.hawser'))
}

/** A folder that contains a home, or that all programs share, is too broad to count as a toolchain or program folder. */
function narrowEnough(scene: Omit<MountScene, 'places'>): (path: string) => boolean {
  const homes = [...scene.userHomes, '/home', '/root']
  const wide = [...homes, ...PRIVATE_FOLDERS, ...HIDDEN_FOLDERS, scene.hawserHome]
  return (path) => isAllowed(path, scene) && !wide.some((folder) => isIn(folder, path))
}

/** Never the sandbox's own /proc and /dev, and never $HAWSER_HOME. */
function isAllowed(path: string, { hawserHome }: Pick<MountScene, 'hawserHome'>): boolean {
  return path !== '/' && ![hawserHome, '/proc', '/dev'].some((folder) => isIn(path, folder))
}

/** Checks both the requested path and its real path. */
function shownAt(paths: readonly string[], may: (path: string) => boolean): readonly Mount[] {
  return paths.filter(may).flatMap((path) => {
    const one = readableMounts(path)
    const real = one.at(-1)
    return real !== undefined && may(real.at) ? one : []
  })
}

/** Workspace folders on the way to hidden paths. A mount cannot be moved away, so the next command finds it in place. */
function heldIn(workspace: string, hidden: readonly Mount[]): readonly Mount[] {
  const paths = hidden.map(({ at }) => at).filter((at) => at !== workspace && isIn(at, workspace))
  const ways = paths.flatMap((path) => waysTo(workspace, path))
  return [...new Set(ways)]
    .filter((way) => !paths.some((path) => isIn(way, path)))
    .map((at) => ({ at, as: 'writable' }))
}
