import { closeSync, constants, lstatSync, mkdirSync, openSync } from 'node:fs'
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
      const next = openInner(baseOf(descriptor, place), name, how)
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

function baseOf(descriptor: number, place: string): string {
  return HAS_PROC ? `/proc/self/fd/${descriptor}` : place
}

function openInner(base: string, name: string, how: 'open' | 'make'): number | undefined {
  const at = systemPath(`${base}/${name}`)
  if (how === 'make' && lstatSync(at, { throwIfNoEntry: false }) === undefined) mkdirSync(at, 0o755)
  try {
    return openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return undefined
    throw error
  }
}
