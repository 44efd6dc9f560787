import { lstat, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { liesIn } from '../confined-path.ts'
import type { Mount } from './args.ts'
import { pathFolders } from './env.ts'
import { hiding, realPath } from './hiding.ts'
import { isHawsers, protectedMounts } from './protected-mounts.ts'
import type { Scene } from './scene.ts'

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
  const there = await Promise.all(
    all.map(async (one) => ({ ...one, at: await realPath(one.spelt) })),
  )
  return there.flatMap(({ at, ...one }) => (at === undefined ? [] : [{ ...one, at }]))
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
          const from = await realPath(folder)
          const at = base.at + folder.slice(base.spelt.length)
          return from === undefined ? [] : [{ at, as: 'readable', from }]
        }),
    ),
  )
  const resolver = scene.network ? await realPath('/etc/resolv.conf') : undefined
  const hidden = resolver !== undefined && bases.some(({ at }) => liesIn(resolver, at))
  return [...mounts.flat(), ...(hidden ? [{ at: resolver, as: 'readable' as const }] : [])]
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
      const at = await realPath(path)
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
