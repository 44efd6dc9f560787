import { join } from 'node:path'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { credentialMounts } from './credential-mounts.ts'
import { hiding } from './hiding.ts'
import { isHawsers, protectedMounts, waysTo } from './protected-mounts.ts'
import { HIDDEN_FOLDERS, PRIVATE_FOLDERS, SOCKET_PLACES, systemRoot } from './root-folders.ts'
import type { MountScene } from './scene.ts'
import { isIn, showing, withoutRepeats } from './showing.ts'
import { socketMounts } from './socket-mounts.ts'
import { pathPlaces, toolchainsOf } from './toolchain-folders.ts'

/** What a sandbox shows, and the variables by which programs find it. */
export interface SandboxView {
  readonly mounts: readonly Mount[]
  readonly variables: Readonly<Record<string, string>>
}

/**
 * What a sandbox shows around a workspace: folders of the system, toolchains, folders of `PATH` and what a person allowed,
 * read-only and without credentials and sockets; all else is not there. Only what exists is mounted over: nothing is ever
 * made on the disk. `protected_path` when `.hawser` is a link, which nothing can be mounted over. `around` is what
 * `surroundings` found, where that is known already.
 */
export async function mountsOf(
  scene: MountScene,
  around?: SandboxView,
): Promise<Result<SandboxView>> {
  if (scene.places.some((place) => isHawsers(place) && place.kind === 'symlink')) {
    return failed('protected_path', 'The .hawser of this workspace is a link.', {}, [
      { action: 'Replace the link by what it points to.' },
    ])
  }
  const { mounts, variables } = around ?? (await surroundings(scene))
  return ok({ mounts: [...mounts, ...(await protectedMounts(scene))], variables })
}

/** The view without what is protected in the workspace. */
export async function surroundings(scene: Omit<MountScene, 'places'>): Promise<SandboxView> {
  const { workspace, env, gitDirectories } = scene
  const mayShow = narrowEnough(scene)
  const [{ shown: system, empty }, toolchains, named] = await Promise.all([
    systemRoot(),
    toolchainsOf(env, scene.userHomes, mayShow),
    shownAt(scene.readable, (path) => isAllowed(path, scene)),
  ])
  const folders = toolchains.places.map(({ at }) => at)
  const seen = [...folders, ...system.map(({ at }) => at), workspace]
  const programs = pathPlaces(env, scene.userHomes).filter(
    (path) => !seen.some((folder) => isIn(path, folder)),
  )
  const own = await shownAt([...folders, ...programs], mayShow)
  const resolver = scene.network ? await showing('/etc/resolv.conf') : []
  const elsewhere = [workspace, ...gitDirectories]
  const readable = withoutRepeats(
    [...system, ...empty.filter(({ as }) => as === 'link'), ...own, ...named, ...resolver],
    elsewhere,
  )
  const shown = readable.flatMap(({ as, at }) => (as === 'readable' ? [at] : []))
  const all = [...shown, ...elsewhere]
  const searched = shown.filter((at) => !system.some((folder) => folder.at === at))
  const [credentials, ours, homes, sockets] = await Promise.all([
    credentialMounts({
      shown: all,
      homes: scene.userHomes,
      toolchains: toolchains.places,
      named: named.map(({ at }) => at),
    }),
    hiding([scene.hawserHome]),
    hiding(scene.userHomes.filter((home) => home !== '/')),
    socketMounts([...shown, ...gitDirectories], [...searched, ...gitDirectories, ...SOCKET_PLACES]),
  ])
  const hidden = [...credentials, ...ours].filter(
    // What is Hawser's in a workspace is for `protectedMounts`.
    ({ at }) => at !== join(workspace, '.hawser') && all.some((folder) => isIn(at, folder)),
  )
  const mounts: Mount[] = [
    ...sockets,
    ...empty.filter(({ as }) => as !== 'link'),
    ...homes.filter(({ at }) =>
      system.some((folder) => folder.as === 'readable' && isIn(at, folder.at)),
    ),
    ...readable,
    ...(scene.writable === 'workspace' ? heldIn(workspace, hidden) : []),
    ...hidden,
    ...elsewhere.map((at): Mount => ({
      at,
      as: scene.writable === 'workspace' ? 'writable' : 'readable',
    })),
  ]
  return { mounts, variables: toolchains.variables }
}

/** A folder that holds a home, or what every program shares, is too wide to be a toolchain or a folder of programs. */
function narrowEnough(scene: Omit<MountScene, 'places'>): (path: string) => boolean {
  const homes = [...scene.userHomes, '/home', '/root']
  const wide = [...homes, ...PRIVATE_FOLDERS, ...HIDDEN_FOLDERS, scene.hawserHome]
  return (path) => isAllowed(path, scene) && !wide.some((folder) => isIn(folder, path))
}

/** Never the folders that a sandbox has of its own, and never the home of Hawser. */
function isAllowed(path: string, { hawserHome }: Pick<MountScene, 'hawserHome'>): boolean {
  return path !== '/' && ![hawserHome, '/proc', '/dev'].some((folder) => isIn(path, folder))
}

/** Judged by what is asked for and by where it really is. */
async function shownAt(
  paths: readonly string[],
  may: (path: string) => boolean,
): Promise<readonly Mount[]> {
  const mounts = await Promise.all(paths.filter(may).map(showing))
  return mounts.flatMap((one) => {
    const real = one.at(-1)
    return real !== undefined && may(real.at) ? one : []
  })
}

/** Folders of the workspace on the way to what is hidden: a mount cannot be moved away, so the next command finds it there. */
function heldIn(workspace: string, hidden: readonly Mount[]): readonly Mount[] {
  const paths = hidden.map(({ at }) => at).filter((at) => at !== workspace && isIn(at, workspace))
  const ways = paths.flatMap((path) => waysTo(workspace, path))
  return [...new Set(ways)]
    .filter((way) => !paths.some((path) => isIn(way, path)))
    .map((at) => ({ at, as: 'writable' }))
}
