import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { hasCode } from '../files/walked-folder.ts'
import { nextRound } from '../wait.ts'
import { giveToOwner, inParent, type ParentFolder } from './below-root.ts'
import { isIntact, isObject } from './object-check.ts'
import { factsOf } from './read-entry.ts'

/** Copies of at most this size are made where links are not possible. */
const MOST_COPIED = 1024 * 1024 * 1024
const OBJECTS = '.git/objects'
const LOOSE_FOLDER = /^[0-9a-f]{2}$/

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
  /** When some of what is kept was last deleted. */
  #sweptAt: number | undefined

  /** `storePath` is created when it is needed. */
  constructor(root: string, storePath: string) {
    this.#root = root
    this.#storePath = storePath
  }

  /** Returns the paths of objects that are not kept, because they would have to be copied and are too large together. */
  async keep(): Promise<readonly string[]> {
    const lost: string[] = []
    const sweptAt = factsOf(join(this.#storePath, SWEPT))?.ctimeMs
    if (sweptAt !== this.#sweptAt) this.#readTimes.clear()
    this.#sweptAt = sweptAt
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

  #copyOne(from: string | Buffer, to: string): boolean {
    rmSync(`${to}.tmp`, { force: true })
    const facts = factsOf(from)
    if (facts?.isFile() !== true) return true
    this.#copiedBytes ??= sizeBelow(this.#storePath)
    if (this.#copiedBytes + facts.size > Math.min(MOST_COPIED, freeBytes(this.#storePath) / 2))
      return false
    copyWhole(from, `${to}.tmp`, to)
    this.#copiedBytes += facts.size
    return true
  }

  /**
   * Deletes what is kept: everything if no snapshot `isMentioned`, otherwise objects that the repository has not had for long, since
   * a sweep missed them first. Returns the number of bytes.
   */
  async sweep({ isMentioned, now, dryRun }: ObjectSweep): Promise<number> {
    const missing = readMissing(this.#storePath)
    const stillMissing: Record<string, number> = {}
    let freed = 0
    for (const name of namesIn(this.#storePath)) {
      for (const file of namesIn(join(this.#storePath, name))) {
        const path = `${name}/${file}`
        const since = missing[path] ?? now
        const isGone = !isMentioned || !(await this.#hasObject(path, file))
        if (!isGone) continue
        if (isMentioned && now - since <= LONGEST_MISSING_MS) {
          stillMissing[path] = since
          continue
        }
        const kept = join(this.#storePath, name, file)
        const facts = factsOf(kept)
        freed += facts === undefined || facts.nlink > 1 ? 0 : facts.size
        if (!dryRun) unlinkSync(kept)
      }
      await nextRound()
    }
    if (!dryRun) writeMissing(this.#storePath, stillMissing)
    return freed
  }

  async #hasObject(path: string, file: string): Promise<boolean> {
    const found = await inParent(this.#root, `${OBJECTS}/${path}`, 'open', async (folder) => {
      return lstatSync(folder.at(file), { throwIfNoEntry: false }) !== undefined
    })
    return found === true
  }

  /**
   * Puts back the objects that are missing in the repository. What was overwritten in place, which a link does not survive, is
   * returned instead.
   */
  async restore(): Promise<readonly string[]> {
    const lost: string[] = []
    for (const name of namesIn(this.#storePath)) {
      const files = namesIn(join(this.#storePath, name))
      if (files.length === 0) continue
      const at = `${OBJECTS}/${name}`
      const left = await inFolder(
        this.#root,
        at,
        (folder) => this.#put(name, files, folder),
        'make',
      )
      lost.push(...(left ?? files).map((file) => `${at}/${file}`))
      await nextRound()
    }
    return lost
  }

  /** Returns the names of those that cannot be put back. */
  async #put(
    name: string,
    files: readonly string[],
    folder: ParentFolder,
  ): Promise<readonly string[]> {
    const lost: string[] = []
    for (const file of files) {
      const at = folder.at(file)
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) continue
      const kept = join(this.#storePath, name, file)
      if (!(await isIntact(name, file, kept))) lost.push(file)
      // Not a link: the repository may change its files as it likes. Git itself removes temporary files with that name.
      else copyWhole(kept, folder.at(`tmp_obj_${randomUUID()}`), at, folder)
    }
    if (lost.length < files.length) fsyncSync(folder.descriptor)
    return lost
  }
}

/** Never leaves a part of a file under the name. Where the file system can, the copy shares the bytes. */
function copyWhole(
  from: string | Buffer,
  temporary: string | Buffer,
  to: string | Buffer,
  owner?: Pick<ParentFolder, 'descriptor'>,
): void {
  try {
    copyFileSync(from, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    const descriptor = openSync(temporary, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    if (owner !== undefined) giveToOwner(temporary, owner.descriptor)
    renameSync(temporary, to)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

const TICK_MS = 2_000

export interface ObjectSweep {
  readonly isMentioned: boolean
  /** By the wall clock. */
  readonly now: number
  readonly dryRun: boolean
}

/** An object that git packed or pruned is in the way for this long. */
const LONGEST_MISSING_MS = 30 * 24 * 60 * 60 * 1000

/** Which objects the repository does not have any more, and when a sweep noticed first. Its time says when one was deleted. */
const SWEPT = 'missing.json'
const Missing = z.record(z.string(), z.number())

function readMissing(folder: string): Readonly<Record<string, number>> {
  try {
    return Missing.parse(JSON.parse(readFileSync(join(folder, SWEPT), 'utf8')))
  } catch {
    return {}
  }
}

/** Derived: without it, the time of what is missing begins again. */
function writeMissing(folder: string, missing: Readonly<Record<string, number>>): void {
  if (factsOf(folder) === undefined) return
  writeFileSync(join(folder, `${SWEPT}.tmp`), JSON.stringify(missing), { mode: 0o600 })
  renameSync(join(folder, `${SWEPT}.tmp`), join(folder, SWEPT))
}

/** Runs `work` in a folder itself; `undefined` if it does not exist. */
function inFolder<T>(
  root: string,
  path: string,
  work: (folder: ParentFolder) => Promise<T>,
  how: 'open' | 'make' = 'open',
): Promise<T | undefined> {
  return inParent(root, `${path}/entry`, how, work)
}

async function foldersIn(folder: ParentFolder): Promise<readonly string[]> {
  return readdirSync(folder.base, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}

/** Without what a kill left. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !name.endsWith('.tmp'))
  } catch {
    return []
  }
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
