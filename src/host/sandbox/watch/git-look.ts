import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { foldedName } from '../../../model/safety/folded-name.ts'
import {
  configuredLocations,
  isSampleHook,
  locationIn,
} from '../../../model/safety/git-configuration.ts'
import { gitRole, type GitRole } from '../../../model/safety/git-places.ts'
import { liesIn } from '../../files/confined-path.ts'
import { kindOf } from '../../files/confined-read.ts'
import { idOf } from '../../files/walked-folder.ts'
import type { Look } from './folder-index.ts'
import type { ProtectedPlace } from './protected-places.ts'
import { entryNames } from '../../files/look.ts'

/** A path that git reads to decide what it runs. */
export interface GitPlace extends ProtectedPlace {
  readonly role: GitRole
  /** The git directory it belongs to, or the folder of a `.git` file; relative to the root. */
  readonly folder: string
  /** The file or link elsewhere that makes git read it, if neither its name nor the layout of its folder does. */
  readonly by: string | undefined
  /** For configuration and locations: the content, unless it is too large to check. */
  readonly text: string | undefined
  /** For a location: the absolute folder it points to, with links resolved. */
  readonly leadsTo: string | undefined
}

const TEXT_BYTES = 1_048_576

/** Everything git reads in the git directories of a tree, both those found by the scan and those pointed at. */
export function gitPlacesIn(root: string, look: Look): readonly GitPlace[] {
  const places = look.gitFiles.flatMap((path) => gitPlaces(root, path, 'location', parentOf(path)))
  const waiting = look.gitFolders.map((folder) => ({ folder, by: undefined as string | undefined }))
  const known = new Set(look.gitFolders)
  const point = (place: GitPlace) => {
    if (place.leadsTo === undefined || !liesIn(place.leadsTo, root)) return
    const folder = relative(root, place.leadsTo)
    if (known.has(folder)) return
    known.add(folder)
    waiting.push({ folder, by: place.path })
  }
  places.forEach(point)
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    const found = placesInFolder(root, one.folder, one.by)
    found.forEach(point)
    places.push(...found)
  }
  return [...new Map(places.map((place) => [place.path, place])).values()]
}

function placesInFolder(root: string, folder: string, by: string | undefined): GitPlace[] {
  const own = entryNames(join(root, folder)).flatMap((name) => {
    const role = gitRole(name)
    return role === undefined ? [] : gitPlaces(root, within(folder, name), role, folder, by)
  })
  const hooks = own.filter(({ role, kind }) => role === 'hooks' && kind === 'folder')
  const configured = own.flatMap((place) => configuredPlaces(root, place))
  return [
    ...own,
    ...[...hooks, ...configured.filter(({ role, kind }) => role === 'hooks' && kind === 'folder')]
      .flatMap((parent) => entryNames(join(root, parent.path)).map((name) => ({ parent, name })))
      .filter(({ name }) => !isSampleHook(name))
      .flatMap(({ parent, name }) =>
        gitPlaces(root, within(parent.path, name), 'hooks', folder, parent.by),
      ),
    ...configured,
  ]
}

/** Where existing configuration makes git read hooks and further configuration, inside the tree. */
function configuredPlaces(root: string, config: GitPlace): GitPlace[] {
  if (config.role !== 'configuration' || config.text === undefined) return []
  const { hooks, includes } = configuredLocations(config.text)
  const at = join(root, config.folder)
  const inside = (from: string, paths: readonly string[], role: GitRole) =>
    paths
      .map((path) => resolve(from, path))
      .filter((path) => path !== root && liesIn(path, root))
      .flatMap((path) => gitPlaces(root, relative(root, path), role, config.folder, config.path))
  return [...inside(dirname(at), hooks, 'hooks'), ...inside(at, includes, 'configuration')]
}

function gitPlaces(
  root: string,
  path: string,
  role: GitRole,
  folder: string,
  by?: string,
): GitPlace[] {
  const at = join(root, path)
  try {
    const facts = lstatSync(at, { bigint: true, throwIfNoEntry: false })
    if (facts === undefined) return []
    const kind = kindOf(facts)
    const target = kind === 'symlink' ? readlinkSync(at) : undefined
    const text = kind === 'file' && role !== 'hooks' ? shortText(at) : undefined
    const stamp = `${facts.ctimeNs}:${facts.size}`
    const place = { path, kind, id: idOf(facts), target, stamp, role, folder, by, text }
    return [{ ...place, leadsTo: leadsTo(root, { ...place, leadsTo: undefined }) }]
  } catch {
    return []
  }
}

/** Where a `.git` file, a link in its place, or a `commondir` points. A `gitdir` only points back. */
function leadsTo(root: string, { path, role, target, text, folder }: GitPlace): string | undefined {
  const name = foldedName(lastOf(path))
  if (role !== 'location' || name === 'gitdir') return undefined
  const pointer = target ?? locationIn(text ?? '', name === 'commondir' ? 'plain' : 'gitfile')
  return pointer === undefined ? undefined : realFolder(resolve(root, folder, pointer))
}

/** For a missing path, the path as written. */
function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The content of a regular file of at most 1 MiB. Never blocks and follows no link. */
function shortText(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile() || facts.size > TEXT_BYTES) return undefined
    const bytes = Buffer.alloc(facts.size + 1)
    const read = readSync(fd, bytes)
    return read > facts.size ? undefined : bytes.toString('utf8', 0, read)
  } finally {
    closeSync(fd)
  }
}

function within(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function parentOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
