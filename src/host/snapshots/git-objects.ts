import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statfsSync,
  unlinkSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { hasCode } from '../files/walked-folder.ts'
import { nextRound } from '../wait.ts'
import { inParent, type ParentFolder } from './below-root.ts'
import { factsOf } from './read-entry.ts'

/** Copies of at most this size are made where links are not possible. */
const MOST_COPIED = 1024 * 1024 * 1024
const OBJECTS = '.git/objects'
const LOOSE_FOLDER = /^[0-9a-f]{2}$/
const LOOSE_NAME = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/
const PACK_NAME = /^pack-(?:[0-9a-f]{40}|[0-9a-f]{64})\.(?:pack|idx|rev)$/

/**
 * Keeps the objects of the workspace's own repository: as hard links, which survive that a command deletes them, or as copies. One
 * folder for each folder of git's.
 */
export class GitObjects {
  readonly #root: string
  readonly #storePath: string
  /** The change times of the folders when they were last read. */
  readonly #readTimes = new Map<string, number>()
  #copiedBytes: number | undefined

  /** `storePath` is created when it is needed. */
  constructor(root: string, storePath: string) {
    this.#root = root
    this.#storePath = storePath
  }

  /** Returns the paths of objects that are not kept, because they would have to be copied and are too large together. */
  async keep(): Promise<readonly string[]> {
    const lost: string[] = []
    const names = (await inFolder(this.#root, OBJECTS, foldersIn)) ?? []
    for (const name of names) {
      if (!LOOSE_FOLDER.test(name) && name !== 'pack') continue
      const at = `${OBJECTS}/${name}`
      const facts = factsOf(join(this.#root, at))
      if (facts === undefined || this.#readTimes.get(name) === facts.ctimeMs) continue
      await nextRound()
      await inFolder(this.#root, at, async (folder) => {
        for (const file of readdirSync(folder.base))
          if (isObject(name, file) && !this.#keepOne(name, file, folder)) lost.push(`${at}/${file}`)
      })
      // Another change may have the same time.
      if (Date.now() - facts.ctimeMs > TICK_MS) this.#readTimes.set(name, facts.ctimeMs)
    }
    return lost
  }

  #keepOne(name: string, file: string, folder: ParentFolder): boolean {
    const to = join(this.#storePath, name, file)
    if (factsOf(to) !== undefined) return true
    mkdirSync(join(this.#storePath, name), { recursive: true, mode: 0o700 })
    const from = folder.at(file)
    try {
      linkSync(from, to)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return true
      if (!this.#copyOne(from, to)) return false
    }
    // A link is linked itself; nothing but a file is an object.
    if (factsOf(to)?.isFile() !== true) unlinkSync(to)
    return true
  }

  /** Where the file system can, the copy shares the bytes. */
  #copyOne(from: string | Buffer, to: string): boolean {
    const facts = factsOf(from)
    if (facts?.isFile() !== true) return true
    this.#copiedBytes ??= sizeBelow(this.#storePath)
    if (this.#copiedBytes + facts.size > Math.min(MOST_COPIED, freeBytes(this.#storePath) / 2))
      return false
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    this.#copiedBytes += facts.size
    return true
  }

  /**
   * Puts back the objects that are missing in the repository. What was overwritten in place, which a link does not survive, is
   * returned instead.
   */
  async restore(): Promise<readonly string[]> {
    const lost: string[] = []
    for (const name of namesIn(this.#storePath)) {
      for (const file of namesIn(join(this.#storePath, name))) {
        const path = `${OBJECTS}/${name}/${file}`
        const kept = join(this.#storePath, name, file)
        const isThere = await inParent(this.#root, path, 'make', async (folder) => {
          const at = folder.at(file)
          if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return true
          if (!isIntact(name, file, kept)) return false
          // Not a link: the repository may change its files as it likes.
          copyFileSync(kept, at, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
          return true
        })
        if (isThere !== true) lost.push(path)
      }
      await nextRound()
    }
    return lost
  }
}

const TICK_MS = 2_000

function isObject(folder: string, file: string): boolean {
  return folder === 'pack' ? PACK_NAME.test(file) : LOOSE_NAME.test(file)
}

/** Runs `work` in a folder itself; `undefined` if it does not exist. */
function inFolder<T>(
  root: string,
  path: string,
  work: (folder: ParentFolder) => Promise<T>,
): Promise<T | undefined> {
  return inParent(root, `${path}/entry`, 'open', work)
}

async function foldersIn(folder: ParentFolder): Promise<readonly string[]> {
  return readdirSync(folder.base, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Whether an object has the content that its name, or the hash at its end, says. */
function isIntact(folder: string, file: string, path: string): boolean {
  try {
    return folder === 'pack' ? endsWithHash(file, path) : isNamed(`${folder}${file}`, path)
  } catch {
    return false
  }
}

function isNamed(id: string, path: string): boolean {
  return (
    hashFor(id)
      .update(inflateSync(readFileSync(path)))
      .digest('hex') === id
  )
}

const PIECE_BYTES = 4 * 1024 * 1024

function endsWithHash(file: string, path: string): boolean {
  const id = /^pack-([0-9a-f]+)/.exec(file)?.[1] ?? ''
  const hash = hashFor(id)
  const { size } = lstatSync(path)
  const end = size - id.length / 2
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = 0; at < end;) {
      const count = readSync(descriptor, piece, 0, Math.min(PIECE_BYTES, end - at), at)
      if (count === 0) return false
      hash.update(piece.subarray(0, count))
      at += count
    }
    const found = Buffer.alloc(id.length / 2)
    return readSync(descriptor, found, 0, found.length, end) > 0 && hash.digest().equals(found)
  } finally {
    closeSync(descriptor)
  }
}

/** The hash that a repository uses, by the length of its names. */
function hashFor(id: string): Hash {
  return createHash(id.length === 64 ? 'sha256' : 'sha1')
}

function sizeBelow(folder: string): number {
  let sum = 0
  for (const name of namesIn(folder)) {
    const facts: Stats | undefined = factsOf(join(folder, name))
    sum += facts?.isDirectory() === true ? sizeBelow(join(folder, name)) : (facts?.size ?? 0)
  }
  return sum
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
