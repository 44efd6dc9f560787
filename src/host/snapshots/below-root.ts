import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
} from 'node:fs'
import process from 'node:process'
import { hasCode, HAS_PROC } from '../files/walked-folder.ts'
import { systemPath } from './names.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** The folder of a path, open: names in it lead to what is in this folder, whatever happens to its path. */
export interface ParentFolder {
  /** A path to the folder itself. */
  readonly base: string
  /** A path to an entry of it. */
  at(name: string): string | Buffer
  /** The last name of the path. */
  readonly name: string
  readonly descriptor: number
}

/**
 * Runs `work` in the folder of a path below `root`, and follows no link on the way. `undefined` if there is no such folder: it is
 * missing, or something else is in its place. `make` creates missing ones.
 */
export async function inParent<T>(
  root: string,
  path: string,
  how: 'open' | 'make',
  work: (parent: ParentFolder) => Promise<T>,
): Promise<T | undefined> {
  const names = path.split('/')
  if (names.some((name) => ['', '.', '..'].includes(name) || name.includes('\0')))
    throw new Error('expected a path below the root')
  const last = names.pop() ?? ''
  let place = root
  let descriptor = openSync(root, O_RDONLY | O_DIRECTORY)
  try {
    for (const name of names) {
      const base = baseOf(descriptor, place)
      if (how === 'make') makeFolder(systemPath(`${base}/${name}`), descriptor, 0o755)
      const next = openInner(base, name)
      if (next === undefined) return undefined
      closeSync(descriptor)
      descriptor = next
      place = `${place}/${name}`
    }
    const base = baseOf(descriptor, place)
    return await work({ descriptor, base, name: last, at: (name) => systemPath(`${base}/${name}`) })
  } finally {
    closeSync(descriptor)
  }
}

/** Creates a folder in the one that is open, if there is nothing. */
export function makeFolder(at: string | Buffer, parent: number, mode: number): void {
  if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return
  mkdirSync(at, mode)
  giveToOwner(at, parent)
  // Whatever the umask is.
  chmodSync(at, mode)
}

/** What root creates in a folder belongs to the owner of that folder. */
export function giveToOwner(at: string | Buffer, parent: number): void {
  const { uid, gid } = fstatSync(parent)
  if (process.getuid?.() === 0 && uid !== 0) lchownSync(at, uid, gid)
}

function baseOf(descriptor: number, place: string): string {
  return HAS_PROC ? `/proc/self/fd/${descriptor}` : place
}

function openInner(base: string, name: string): number | undefined {
  const at = systemPath(`${base}/${name}`)
  try {
    return openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return undefined
    throw error
  }
}
