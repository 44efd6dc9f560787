import { lstatSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { factsAt, realPathOf } from '../../files/look.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { foundPaths } from './found-paths.ts'
import { isIn } from './readable-mounts.ts'
import { mayHold, mountedDevices, socketDevices, type Device } from './socket-devices.ts'

/**
 * Mounts that hide sockets in shown folders: a read-only file system does not prevent a program from connecting. The system
 * lists sockets by the path they were bound to. A socket that is no longer at its path, or was bound to a relative path,
 * can be anywhere on its device; then those of `searched` that are on this device are searched for sockets, each folder once per
 * set of such sockets.
 */
export async function socketMounts(
  shown: readonly string[],
  searched: readonly string[],
): Promise<readonly Mount[]> {
  const names = socketNames(await readFile('/proc/net/unix', 'utf8').catch(() => ''))
  const places = names.map(({ name }) => boundAt(name))
  const lost = names.filter((_, at) => places[at] === 'elsewhere')
  const found = await searchFor(lost, searched)
  const listed = places.flatMap((place) => (typeof place === 'object' ? [place.at] : []))
  return [...new Set([...listed, ...found])]
    .filter((at) => shown.some((folder) => isIn(at, folder)))
    .map((at) => ({ at, as: 'hidden_file' }))
}

export interface NamedSocket {
  /** The socket's inode number and name, which identify a search. */
  readonly id: string
  /** The inode number of the socket, which is not that of its file. */
  readonly number: string
  readonly name: string
}

/**
 * The sockets with a path in /proc/net/unix that a program could connect to: listening and datagram sockets. An accepted
 * connection carries the name of its listener, which may be gone. Abstract names start with `@`. Pure.
 */
export function socketNames(listed: string): readonly NamedSocket[] {
  const line = /^\S+: \S+ \S+ ([0-9A-F]+) ([0-9A-F]+) \S+\s+(\d+) ([^@\n].*)$/gm
  const named = [...listed.matchAll(line)].flatMap(
    ([, flags = '', type = '', number = '', name = '']) =>
      (Number.parseInt(flags, 16) & LISTENS) !== 0 || Number.parseInt(type, 16) === DATAGRAM
        ? [{ id: `${number} ${name}`, number, name }]
        : [],
  )
  return [...new Map(named.map((socket) => [socket.id, socket])).values()]
}

/** `__SO_ACCEPTCON` and `SOCK_DGRAM`. */
const LISTENS = 0x10000
const DATAGRAM = 2

/** `unknown` if this process may not look there: then a confined program may not either. */
function boundAt(name: string): { readonly at: string } | 'elsewhere' | 'unknown' {
  if (!name.startsWith('/')) return 'elsewhere'
  try {
    const at = realpathSync.native(name)
    return lstatSync(at).isSocket() ? { at } : 'elsewhere'
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EACCES' ? 'unknown' : 'elsewhere'
  }
}

interface Search {
  readonly lostSockets: ReadonlySet<string>
  /** The devices of their files; `undefined` if that of one is unknown. */
  readonly devices: Promise<ReadonlySet<Device> | undefined>
  /** What was found in each folder that was searched. */
  readonly sockets: Map<string, Promise<readonly string[]>>
}

/** More folders than one process shows in its sandboxes. */
const MOST_FOLDERS = 1_000

let last: Search | undefined

/** Searches only folders that were not searched for these sockets before: a toolchain can have 100,000 files. */
async function searchFor(
  lost: readonly NamedSocket[],
  folders: readonly string[],
): Promise<readonly string[]> {
  if (lost.length === 0) return []
  const { sockets, devices } = searchOf(lost)
  const possible = await foldersWith(await devices, folders)
  const missing = possible.filter((folder) => !sockets.has(folder))
  if (missing.length > 0) {
    const search = foundPaths(missing, ['-type', 's', '-print0'])
    // Otherwise no later command could search them again.
    search.catch(() => missing.forEach((folder) => sockets.delete(folder)))
    for (const folder of missing) sockets.set(folder, search)
  }
  const searches = await Promise.all(new Set(sockets.values()))
  return [...new Set(searches.flat())].filter((path) => factsAt(path)?.isSocket() === true)
}

/** The search for these sockets: the last one, unless there is a new one among them. */
function searchOf(lost: readonly NamedSocket[]): Search {
  const isKnown = last !== undefined && lost.every(({ id }) => last?.lostSockets.has(id))
  if (last !== undefined && isKnown && last.sockets.size <= MOST_FOLDERS) return last
  last = {
    lostSockets: new Set(lost.map(({ id }) => id)),
    devices: devicesOf(lost),
    sockets: new Map(),
  }
  return last
}

async function devicesOf(lost: readonly NamedSocket[]): Promise<ReadonlySet<Device> | undefined> {
  const known = await socketDevices()
  const found = lost.flatMap(({ number }) => known.get(number) ?? [])
  return found.length === lost.length ? new Set(found) : undefined
}

/** The folders that can contain a file of one of the devices. Mounts are read each time: one may have been added. */
async function foldersWith(
  devices: ReadonlySet<Device> | undefined,
  folders: readonly string[],
): Promise<readonly string[]> {
  const mounts = devices === undefined ? undefined : await mountedDevices()
  if (devices === undefined || mounts === undefined) return folders
  const real = folders.map((folder) => realPathOf(folder) ?? folder)
  return folders.filter((_, at) => mayHold(real[at] ?? '/', devices, mounts))
}
