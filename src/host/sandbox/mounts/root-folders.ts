import { entryNames, factsAt } from '../../files/look.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { readableMounts, withoutRedundant } from './readable-mounts.ts'

/** A system folder that every sandbox shows, read-only. Folders not in this table are absent inside. */
interface RootFolder {
  readonly path: string
  readonly why: string
}

const ROOT_FOLDERS: readonly RootFolder[] = [
  { path: '/usr', why: 'programs, libraries, headers, documentation' },
  { path: '/bin', why: 'programs; a link into /usr on most systems' },
  { path: '/sbin', why: 'programs; a link into /usr on most systems' },
  { path: '/lib', why: 'libraries and the dynamic loader; a link into /usr on most systems' },
  { path: '/lib32', why: 'libraries' },
  { path: '/lib64', why: 'the dynamic loader' },
  { path: '/libx32', why: 'libraries' },
  { path: '/libexec', why: 'programs' },
  {
    path: '/usr/local',
    why: 'programs installed by hand; a link into /var on image-based systems',
  },
  { path: '/etc', why: 'names of users and services, alternatives, certificates, locale' },
  { path: '/etc/ssl/certs', why: 'certificates; a link into /var on some systems' },
  { path: '/etc/pki', why: 'certificates' },
  { path: '/etc/localtime', why: 'the time zone' },
  { path: '/opt', why: 'programs installed separately from the system' },
  { path: '/nix/store', why: 'programs and libraries of Nix' },
  { path: '/nix/var/nix/profiles', why: 'targets of Nix profiles' },
  { path: '/gnu/store', why: 'programs and libraries of Guix' },
  { path: '/var/guix/profiles', why: 'targets of Guix profiles' },
  { path: '/snap', why: 'programs of Snap' },
  { path: '/run/current-system/sw', why: 'the programs of NixOS' },
  { path: '/var/lib/dpkg', why: 'which packages are installed: dpkg-query, build scripts' },
  { path: '/var/lib/rpm', why: 'which packages are installed' },
  { path: '/var/lib/pacman/local', why: 'which packages are installed' },
  { path: '/lib/apk', why: 'which packages are installed' },
  { path: '/var/lib/texmf', why: 'formats that TeX cannot start without' },
  { path: '/var/lib/ghc', why: 'Haskell packages' },
  { path: '/var/lib/gems', why: 'Ruby packages' },
  { path: '/var/lib/sgml-base', why: 'SGML and XML catalogues' },
  { path: '/var/lib/xml-core', why: 'SGML and XML catalogues' },
  { path: '/var/lib/ca-certificates', why: 'certificates' },
  { path: '/var/cache/fontconfig', why: 'fonts: without it each program reads all of them again' },
  { path: '/sys/devices/system/cpu', why: 'the number of processors' },
  { path: '/sys/devices/system/node', why: 'memory of each processor: NUMA-aware programs' },
  { path: '/sys/kernel/mm/transparent_hugepage', why: 'memory allocators read it' },
]

/** System folders in which people and services put sockets beside programs. */
export const SOCKET_PLACES = ['/etc', '/opt', '/usr/local', '/snap']

/** Shared temporary folders; the sandbox has its own, empty ones. */
export const PRIVATE_FOLDERS = ['/tmp', '/var/tmp']
export const HIDDEN_FOLDERS = ['/run', '/var/run']

/** The system part of every sandbox. */
export interface SystemRoot {
  readonly mounts: readonly Mount[]
  /** Empty folders and links to them. */
  readonly empty: readonly Mount[]
}

let known: SystemRoot | undefined

/**
 * The entries of the tables that exist here, with every link in the root folder. Cached: the system does not change while
 * this process runs.
 */
export function systemRoot(): SystemRoot {
  known ??= find()
  return known
}

function find(): SystemRoot {
  const links = entryNames('/')
    .map((name) => `/${name}`)
    .filter((path) => factsAt(path)?.isSymbolicLink() === true)
  const shown = ROOT_FOLDERS.flatMap(({ path }) => readableMounts(path))
  const empty = [
    ...PRIVATE_FOLDERS.flatMap((path) => emptyFolder(path, 'private_folder')),
    ...HIDDEN_FOLDERS.flatMap((path) => emptyFolder(path, 'hidden_folder')),
  ]
  // For a link that the table does not name, only the link itself: its target may be a home.
  const onlyLinks = links.flatMap(readableMounts).filter(({ as }) => as === 'link')
  return { mounts: withoutRedundant([...onlyLinks, ...shown], []), empty }
}

function emptyFolder(path: string, as: 'private_folder' | 'hidden_folder'): readonly Mount[] {
  return readableMounts(path).map((mount) => (mount.as === 'readable' ? { ...mount, as } : mount))
}
