import { lstat, readFile, realpath } from 'node:fs/promises'
import type { Mount } from '../bubblewrap/args.ts'
import { foundPaths } from './found-paths.ts'
import { isIn } from './showing.ts'

/**
 * Mounts that hide the sockets in what is shown: a read-only file system does not keep a program from connecting to one. The
 * system lists sockets by the path they were bound by. When one is no longer there, or was bound by a relative path, it can
 * be anywhere: then `searched` is searched for sockets, once for each set of such names.
 */
export async function socketMounts(
  shown: readonly string[],
  searched: readonly string[],
): Promise<readonly Mount[]> {
  const names = socketNames(await readFile('/proc/net/unix', 'utf8').catch(() => ''))
  const places = await Promise.all(names.map(({ name }) => placeOf(name)))
  const lost = names.flatMap(({ id }, at) => (places[at] === 'elsewhere' ? [id] : []))
  const found = await searchFor(lost, searched)
  const listed = places.flatMap((place) => (typeof place === 'object' ? [place.at] : []))
  return [...new Set([...listed, ...found])]
    .filter((at) => shown.some((folder) => isIn(at, folder)))
    .map((at) => ({ at, as: 'hidden_file' }))
}

export interface NamedSocket {
  /** The number of the socket, and its name: what a search was made for. */
  readonly id: string
  readonly name: string
}

/**
 * The sockets with a path in a listing of /proc/net/unix that a program could connect to: those that listen, and datagram
 * sockets. A connection that was accepted has the name of its listener, which may be gone. Abstract names begin with `@`. Pure.
 */
export function socketNames(listed: string): readonly NamedSocket[] {
  const line = /^\S+: \S+ \S+ ([0-9A-F]+) ([0-9A-F]+) \S+\s+(\d+) ([^@\n].*)$/gm
  const named = [...listed.matchAll(line)].flatMap(([, flags = '', type = '', number, name = '']) =>
    (Number.parseInt(flags, 16) & LISTENS) !== 0 || Number.parseInt(type, 16) === DATAGRAM
      ? [{ id: `${number} ${name}`, name }]
      : [],
  )
  return [...new Map(named.map((socket) => [socket.id, socket])).values()]
}

/** `__SO_ACCEPTCON` and `SOCK_DGRAM`. */
const LISTENS = 0x10000
const DATAGRAM = 2

/** `unknown` where we may not look: then no program of ours may either. */
async function placeOf(name: string): Promise<{ readonly at: string } | 'elsewhere' | 'unknown'> {
  if (!name.startsWith('/')) return 'elsewhere'
  try {
    const at = await realpath(name)
    return (await lstat(at)).isSocket() ? { at } : 'elsewhere'
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EACCES' ? 'unknown' : 'elsewhere'
  }
}

interface Search {
  readonly lost: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
  readonly sockets: Promise<readonly string[]>
}

let last: Search | undefined

async function searchFor(
  lost: readonly string[],
  folders: readonly string[],
): Promise<readonly string[]> {
  const before = last
  const isKnown =
    before !== undefined &&
    lost.every((id) => before.lost.has(id)) &&
    folders.every((folder) => before.folders.has(folder))
  if (lost.length > 0 && !isKnown) {
    const sockets = foundPaths(folders, ['-type', 's', '-print0'])
    last = { lost: new Set(lost), folders: new Set(folders), sockets }
  }
  const found = await Promise.all(
    ((await last?.sockets) ?? []).map(async (path) => {
      const facts = await lstat(path).catch(() => undefined)
      return facts?.isSocket() === true ? [path] : []
    }),
  )
  return found.flat()
}
