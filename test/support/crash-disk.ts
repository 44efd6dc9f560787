import { FileFailure, type File, type Folder, type OpenMode } from '../../src/host/files/files.ts'
import { afterCrash, Inode, type Entries } from './crash-inode.ts'
import { random, type Random } from './random.ts'

/** The machine went off. Nothing in the program can catch this for good: every later call throws it again. */
export class PowerCut extends Error {}

/** What goes wrong, and when. Steps count every call that could change the disk, from 1. */
export interface Mishaps {
  /** The power goes at this step; a write at that moment may have happened in part. */
  readonly powerCutAt?: number
  /** The disk is full from this write on, until `spaceAgain`; a write may go out in part first. */
  readonly fullAtWrite?: number
  /** This sync, counted from 1, fails with EIO: what it should have made durable may be gone, and is never tried again. */
  readonly badSyncAt?: number
  /** Writes may stop short without an error, as write(2) may. */
  readonly shortWrites?: boolean
}

/**
 * A disk in memory that keeps what is durable apart from what a running program sees. After a crash, unsynced writes are
 * there, gone or garbage by 512-byte sectors, in any combination, and unsynced renames, removals and truncates may be
 * lost; what was synced is there.
 */
export class CrashDisk {
  readonly root: Inode
  readonly chance: Random
  #mishaps: Mishaps
  #off = false
  steps = 0
  writes = 0
  syncs = 0

  constructor(seed: number, mishaps: Mishaps = {}, root: Inode = Inode.folder()) {
    this.chance = random(seed)
    this.#mishaps = mishaps
    this.root = root
  }

  folder(): Folder {
    return new CrashFolder(this, this.root, '')
  }

  /** The disk as the next boot finds it. */
  afterCrash(seed: number, mishaps: Mishaps = {}): CrashDisk {
    return new CrashDisk(seed, mishaps, afterCrash(this.root, this.chance))
  }

  /** The disk as another process finds it after this one was killed: nothing unsynced is lost. */
  afterKill(seed: number, mishaps: Mishaps = {}): CrashDisk {
    this.root.unlockAll()
    return new CrashDisk(seed, mishaps, this.root)
  }

  /** From now on; counts begin with the next call. */
  befall({ powerCutAt, fullAtWrite, badSyncAt, ...rest }: Mishaps): void {
    this.#mishaps = {
      ...rest,
      ...(powerCutAt === undefined ? {} : { powerCutAt: this.steps + powerCutAt }),
      ...(fullAtWrite === undefined ? {} : { fullAtWrite: this.writes + fullAtWrite }),
      ...(badSyncAt === undefined ? {} : { badSyncAt: this.syncs + badSyncAt }),
    }
  }

  spaceAgain(): void {
    this.#mishaps = { ...this.#mishaps, fullAtWrite: Infinity }
  }

  /** Counts a step; `partly` is what may have happened of it when the power goes. */
  step(partly: () => void = () => {}): void {
    if (this.#off) throw new PowerCut()
    this.steps += 1
    if (this.steps !== this.#mishaps.powerCutAt) return
    partly()
    this.#off = true
    throw new PowerCut()
  }

  /** Reading changes nothing, but a machine that is off does not read either. */
  look(): void {
    if (this.#off) throw new PowerCut()
  }

  write(inode: Inode, bytes: Uint8Array): number {
    const upTo = (most: number) => {
      const count = this.chance.below(most + 1)
      inode.write(bytes.subarray(0, count))
      return count
    }
    this.step(() => upTo(bytes.length))
    this.writes += 1
    if (this.writes >= (this.#mishaps.fullAtWrite ?? Infinity)) {
      // A full disk takes what still fits and says so; only when nothing fits does it fail.
      const count = bytes.length > 1 && this.chance.next() < 0.5 ? upTo(bytes.length - 1) : 0
      if (count > 0) return count
      throw systemError('ENOSPC')
    }
    if (this.#mishaps.shortWrites === true && bytes.length > 1 && this.chance.next() < 0.2) {
      const count = 1 + this.chance.below(bytes.length - 1)
      inode.write(bytes.subarray(0, count))
      return count
    }
    inode.write(bytes)
    return bytes.length
  }

  sync(inode: Inode): void {
    this.step()
    this.syncs += 1
    if (this.syncs === this.#mishaps.badSyncAt) {
      inode.loseUnsynced(this.chance)
      throw systemError('EIO')
    }
    inode.sync()
  }
}

function systemError(code: string): FileFailure {
  return new FileFailure(code, `${code}: on the crash disk`)
}

class CrashFolder implements Folder {
  readonly label: string
  readonly #disk: CrashDisk
  readonly #inode: Inode

  constructor(disk: CrashDisk, inode: Inode, label: string) {
    this.#disk = disk
    this.#inode = inode
    this.label = label
  }

  async folder(name: string, mode: 'open' | 'create'): Promise<Folder> {
    this.#disk.look()
    const there = this.#entries.get(name)
    if (there === undefined && mode === 'open') throw systemError('ENOENT')
    const inode = there ?? Inode.folder()
    if (there === undefined) {
      const link = () => this.#inode.link([[name, inode]])
      this.#disk.step(link)
      link()
    }
    if (mode === 'create') this.#disk.sync(this.#inode)
    return new CrashFolder(this.#disk, inode, `${this.label}/${name}`)
  }

  async open(name: string, mode: OpenMode): Promise<File> {
    this.#disk.look()
    const there = this.#entries.get(name)
    if (there !== undefined && mode === 'create') throw systemError('EEXIST')
    if (there?.entries !== undefined) throw new FileFailure('NOT_REGULAR', name)
    if (there !== undefined) return new CrashFile(this.#disk, there, mode)
    if (mode !== 'create' && mode !== 'lease') throw systemError('ENOENT')
    const made = Inode.file()
    const link = () => this.#inode.link([[name, made]])
    this.#disk.step(link)
    link()
    return new CrashFile(this.#disk, made, mode)
  }

  async rename(from: string, to: string): Promise<void> {
    const inode = this.#entries.get(from)
    if (inode === undefined) throw systemError('ENOENT')
    const move = () =>
      this.#inode.link([
        [from, undefined],
        [to, inode],
      ])
    this.#disk.step(move)
    move()
  }

  async remove(name: string): Promise<void> {
    if (!this.#entries.has(name)) throw systemError('ENOENT')
    const unlink = () => this.#inode.link([[name, undefined]])
    this.#disk.step(unlink)
    unlink()
  }

  async names(): Promise<string[]> {
    this.#disk.look()
    return [...this.#entries.keys()]
  }

  async sync(): Promise<void> {
    this.#disk.sync(this.#inode)
  }

  async watch(name: string, changed: () => void): Promise<{ close(): void }> {
    const inode = this.#entries.get(name)
    if (inode === undefined) throw systemError('ENOENT')
    inode.watchers.add(changed)
    return { close: () => inode.watchers.delete(changed) }
  }

  async close(): Promise<void> {}

  get #entries(): Entries {
    if (this.#inode.entries === undefined) throw systemError('ENOTDIR')
    return this.#inode.entries
  }
}

class CrashFile implements File {
  readonly #disk: CrashDisk
  readonly #open: Inode
  readonly #mode: OpenMode
  #closed = false

  constructor(disk: CrashDisk, inode: Inode, mode: OpenMode) {
    this.#disk = disk
    this.#open = inode
    this.#mode = mode
  }

  async stat() {
    this.#disk.look()
    const { content, links, changedAt } = this.#inode
    return { size: content.length, links, changedAt }
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    this.#disk.look()
    const bytes = this.#inode.content.subarray(position, position + into.length)
    into.set(bytes)
    return bytes.length
  }

  async write(bytes: Uint8Array): Promise<number> {
    return this.#disk.write(this.#written, bytes)
  }

  async writeAt(bytes: Uint8Array, position: number): Promise<void> {
    if (this.#mode !== 'overwrite') throw new Error('writeAt requires the mode overwrite')
    const some = () =>
      this.#inode.write(bytes.subarray(0, this.#disk.chance.below(bytes.length)), position)
    this.#disk.step(some)
    this.#inode.write(bytes, position)
  }

  async truncate(size: number): Promise<void> {
    this.#disk.step(() => this.#written.truncate(size))
    this.#written.truncate(size)
  }

  async datasync(): Promise<void> {
    this.#disk.sync(this.#inode)
  }

  async sync(): Promise<void> {
    this.#disk.sync(this.#inode)
  }

  async touch(): Promise<void> {
    this.#disk.step()
    this.#inode.changedAt = Date.now()
  }

  async tryLock(): Promise<boolean> {
    this.#disk.look()
    return this.#inode.lock(this)
  }

  async close(): Promise<void> {
    this.#inode.unlock(this)
    this.#closed = true
  }

  get #inode(): Inode {
    if (this.#closed) throw new Error('a file was used after it was closed')
    return this.#open
  }

  get #written(): Inode {
    if (this.#mode === 'read') throw new Error('a file was written that was opened to read')
    return this.#inode
  }
}
