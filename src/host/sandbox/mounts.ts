import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { foldedName, liesIn } from '../confined-path.ts'
import type { ProtectedPlace } from './protected-places.ts'
import type { Mount } from './args.ts'
import { pathFolders } from './env.ts'

/** What a sandbox is laid out around. All paths are absolute. */
export interface Scene {
  /** Where it really is, without links. */
  readonly workspace: string
  readonly writable: 'workspace' | 'nothing'
  /** `$HAWSER_HOME`. */
  readonly hawserHome: string
  /** The workspace's `.hawser` belongs to the program itself. */
  readonly guest: boolean
  readonly network: boolean
  /** What stands at protected paths of the workspace now. */
  readonly places: readonly ProtectedPlace[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Homes of the person we run for. */
  readonly userHomes: readonly string[]
}

/** Where every program would find others' files and sockets. */
const PRIVATE_FOLDERS = ['/tmp', '/var/tmp']
const HIDDEN_FOLDERS = ['/run', '/var/run']

/** Keys and passwords, in a person's home and of the system. */
const SECRETS_AT_HOME = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.netrc',
  '.npmrc',
  '.azure',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.config/gcloud',
  '.config/gh',
  '.docker',
  '.git-credentials',
  '.kube',
  '.pypirc',
  '.Xauthority',
]
const SECRETS_OF_THE_SYSTEM = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/ssl/private',
]

/**
 * What a sandbox shows and hides around a workspace. Only what exists is mounted over: nothing is ever made on the disk.
 * `protected_path` when `.hawser` is a link, which nothing can be mounted over.
 */
export async function mountsOf(scene: Scene): Promise<Result<readonly Mount[]>> {
  if (scene.places.some((place) => isHawsers(place) && place.kind === 'symlink')) {
    return failed('protected_path', 'The .hawser of this workspace is a link.', {}, [
      { action: 'Replace the link by what it points to.' },
    ])
  }
  const [bases, secrets, home] = await Promise.all([
    baseFolders(),
    hiding([
      ...scene.userHomes.flatMap((folder) => SECRETS_AT_HOME.map((name) => join(folder, name))),
      ...SECRETS_OF_THE_SYSTEM,
    ]),
    hiding([scene.hawserHome]),
  ])
  const mounts: Mount[] = [
    ...bases.map(({ at, as }) => ({ at, as })),
    ...secrets,
    ...(await neededFrom(bases, scene)),
    ...home,
    { at: scene.workspace, as: scene.writable === 'workspace' ? 'writable' : 'readable' },
    ...(await protectedMounts(scene)),
  ]
  return ok([...(await socketMounts(mounts, scene.workspace)), ...mounts])
}

interface Base extends Mount {
  /** Both names of it, where one leads to the other. */
  readonly spelt: string
}

async function baseFolders(): Promise<readonly Base[]> {
  const all = [
    ...PRIVATE_FOLDERS.map((spelt) => ({ spelt, as: 'private_folder' as const })),
    ...HIDDEN_FOLDERS.map((spelt) => ({ spelt, as: 'hidden_folder' as const })),
  ]
  const there = await Promise.all(all.map(async (one) => ({ ...one, at: await real(one.spelt) })))
  return there.flatMap(({ at, ...one }) => (at === undefined ? [] : [{ ...one, at }]))
}

async function hiding(paths: readonly string[]): Promise<readonly Mount[]> {
  const mounts = await Promise.all(
    paths.map(async (path): Promise<readonly Mount[]> => {
      const at = await real(path)
      const facts = at === undefined ? undefined : await stat(at).catch(() => undefined)
      if (at === undefined || facts === undefined) return []
      return [{ at, as: facts.isDirectory() ? 'hidden_folder' : 'hidden_file' }]
    }),
  )
  return mounts.flat()
}

/** What programs need of the folders that are hidden from them: folders of `PATH`, and who resolves names. */
async function neededFrom(bases: readonly Base[], scene: Scene): Promise<readonly Mount[]> {
  const folders = pathFolders(scene.env).map((folder) => resolve(folder))
  const mounts = await Promise.all(
    bases.flatMap((base) =>
      folders
        .filter((folder) => folder !== base.spelt && liesIn(folder, base.spelt))
        .filter((folder) => !liesIn(folder, scene.workspace))
        .map(async (folder): Promise<readonly Mount[]> => {
          const from = await real(folder)
          const at = base.at + folder.slice(base.spelt.length)
          return from === undefined ? [] : [{ at, as: 'readable', from }]
        }),
    ),
  )
  const resolver = scene.network ? await real('/etc/resolv.conf') : undefined
  const hidden = resolver !== undefined && bases.some(({ at }) => liesIn(resolver, at))
  return [...mounts.flat(), ...(hidden ? [{ at: resolver, as: 'readable' as const }] : [])]
}

/**
 * Hides `.hawser`, and makes protected places read-only. Every folder on the way to one becomes a mount of its own: a mount
 * cannot be renamed or removed, so nobody moves the folder away and makes a new one.
 */
async function protectedMounts(scene: Scene): Promise<readonly Mount[]> {
  const { workspace, places, guest, writable } = scene
  const hawsers = places.filter(isHawsers).map(({ path }) => join(workspace, path))
  const hidden = guest ? [] : await hiding(hawsers)
  if (writable === 'nothing') return hidden
  const others = places.filter((place) => !isHawsers(place))
  const held = (await Promise.all(others.map((place) => heldPath(workspace, place)))).flat()
  const ways = held
    .flatMap((path) => waysTo(workspace, path))
    .filter((way) => !held.some((path) => liesIn(way, path)))
  return [
    ...ways.map((at): Mount => ({ at, as: 'writable' })),
    ...held.map((at): Mount => ({ at, as: 'readable' })),
    ...hidden,
  ]
}

/** Of a link, what it leads to; outside the workspace all is read-only anyway. */
async function heldPath(workspace: string, { kind, path }: ProtectedPlace): Promise<string[]> {
  const spelt = join(workspace, path)
  const held = kind === 'symlink' ? await real(spelt) : spelt
  return held === undefined || held === workspace || !liesIn(held, workspace) ? [] : [held]
}

/** The folders between a workspace and a path in it. */
function waysTo(workspace: string, path: string): string[] {
  const names = path.slice(workspace.length).split('/').filter(Boolean)
  return names.slice(0, -1).map((_, at) => join(workspace, ...names.slice(0, at + 1)))
}

/**
 * Sockets that somebody listens on now, outside of what is hidden anyway: a read-only file system does not keep a program
 * from connecting to one.
 */
async function socketMounts(
  mounts: readonly Mount[],
  workspace: string,
): Promise<readonly Mount[]> {
  const listed = await readFile('/proc/net/unix', 'utf8').catch(() => '')
  const covered = [...mounts.filter(({ as }) => as !== 'readable').map(({ at }) => at), workspace]
  const sockets = await Promise.all(
    socketPaths(listed).map(async (path): Promise<readonly Mount[]> => {
      const at = await real(path)
      if (at === undefined || covered.some((folder) => liesIn(at, folder))) return []
      const facts = await lstat(at).catch(() => undefined)
      return facts?.isSocket() === true ? [{ at, as: 'hidden_file' }] : []
    }),
  )
  return sockets.flat()
}

/** The paths in a listing of /proc/net/unix; abstract names begin with `@`. Pure. */
export function socketPaths(listed: string): readonly string[] {
  const paths = [...listed.matchAll(/^\S+: (?:\S+ ){5}\s*\d+ (\/.*)$/gm)].map(
    ([, path = '']) => path,
  )
  return [...new Set(paths)]
}

function isHawsers({ path }: ProtectedPlace): boolean {
  return foldedName(path) === '.hawser'
}

async function real(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}
