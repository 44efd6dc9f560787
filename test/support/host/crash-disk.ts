import {
  FileFailure,
  type File,
  type Folder,
  type OpenMode,
} from '../../../src/host/files/files.ts'
import { afterCrash, Inode, type Entries } from './crash-inode.ts'
import { random, type Random } from './random.ts'

/** The power was cut. The program cannot recover from this: every later call throws it again. */
export class PowerCut extends Error {}

/** Which faults occur, and when. A step is a call that can change the disk; steps are counted from 1. */
export interface DiskFaults {
  /** The power is cut at this step; a write at that step may be partly done. */
  readonly powerCutAt?: number
  /** The disk is full from this write on, until `freeSpace`; a write may first succeed in part. */
  readonly fullAtWrite?: number
  /** This sync, counted from 1, fails with EIO: its data may be lost, and no later sync writes it. */
  readonly badSyncAt?: number
  /** Truncations fail with EIO. */
  readonly badTruncate?: boolean
  /** Writes may be short without an error, like those of write(2). */
  readonly shortWrites?: boolean
}

/**
 * An in-memory disk that separates what is durable from what a running program sees, so that tests can crash it at any
 * step. After a crash, each 512-byte sector of an unsynced write is present, missing or garbage, in any combination, and
 * unsynced renames, removals and truncations may be lost. Synced data is present.
 */
export class CrashDisk {
  readonly root: Inode
  readonly chance: Random
  #mishaps: DiskFaults
  #off = false
  steps = 0
  writes = 0
  syncs = 0

  constructor(seed: number, faults: DiskFaults = {}, root: Inode = Inode.folder()) {
    this.chance = random(seed)
    this.#mishaps = faults
    this.root = root
  }

  folder(): Folder {
    return new CrashFolder(this, this.root, '')
  }

  /** The disk as the next boot finds it. */
  afterCrash(seed: number, faults: DiskFaults = {}): CrashDisk {
    return new CrashDisk(seed, faults, afterCrash(this.root, this.chance))
  }

  /** The disk as another process finds it after this one was killed: nothing unsynced is lost. */
  afterKill(seed: number, faults: DiskFaults = {}): CrashDisk {
    this.root.unlockAll()
    return new CrashDisk(seed, faults, this.root)
  }

  /** Replaces the faults; their counts start with the next call. */
  injectFaults({ powerCutAt, fullAtWrite, badSyncAt, ...rest }: DiskFaults): void {
    this.#mishaps = {
      ...rest,
      ...(powerCutAt === undefined ? {} : { powerCutAt: this.steps + powerCutAt }),
      ...(fullAtWrite === undefined ? {} : { fullAtWrite: this.writes + fullAtWrite }),
      ...(badSyncAt === undefined ? {} : { badSyncAt: this.syncs + badSyncAt }),
    }
  }

  freeSpace(): void {
    this.#mishaps = { ...this.#mishaps, fullAtWrite: Infinity }
  }

  /** Counts a step; `partly` does the part of it that may be done when the power is cut. */
  step(partly: () => void = () => {}): void {
    if (this.#off) throw new PowerCut()
    this.steps += 1
    if (this.steps !== this.#mishaps.powerCutAt) return
    partly()
    this.#off = true
    throw new PowerCut()
  }

  /** Reading is not a step, but it fails after the power was cut. */
  checkPower(): void {
    if (this.#off) throw new PowerCut()
  }

  checkTruncate(): void {
    if (this.#mishaps.badTruncate === true) throw systemError('EIO')
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
      // A full disk writes what still fits and returns its length; it fails only if nothing fits.
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

  /** The fault of a write and its sync, for a store that has no files; counts both. */
  fault(): 'write' | 'sync' | undefined {
    this.writes += 1
    if (this.writes >= (this.#mishaps.fullAtWrite ?? Infinity)) return 'write'
    this.step()
    this.syncs += 1
    return this.syncs === this.#mishaps.badSyncAt ? 'sync' : undefined
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
    this.#disk.checkPower()
    const existing = this.#entries.get(name)
    if (existing === undefined && mode === 'open') throw systemError('ENOENT')
    const inode = existing ?? Inode.folder()
    if (existing === undefined) {
      const link = () => this.#inode.link([[name, inode]])
      this.#disk.step(link)
      link()
    }
    if (mode === 'create') this.#disk.sync(this.#inode)
    return new CrashFolder(this.#disk, inode, `${this.label}/${name}`)
  }

  async open(name: string, mode: OpenMode): Promise<File> {
    this.#disk.checkPower()
    const existing = this.#entries.get(name)
    if (existing !== undefined && mode === 'create') throw systemError('EEXIST')
    if (existing?.entries !== undefined) throw new FileFailure('NOT_REGULAR', name)
    if (existing !== undefined) return new CrashFile(this.#disk, existing, mode)
    if (mode !== 'create' && mode !== 'lease') throw systemError('ENOENT')
    const created = Inode.file()
    const link = () => this.#inode.link([[name, created]])
    this.#disk.step(link)
    link()
    return new CrashFile(this.#disk, created, mode)
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
    this.#disk.checkPower()
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

  hasName(): boolean {
    this.#disk.checkPower()
    return this.#inode.links > 0
  }

  async stat() {
    this.#disk.checkPower()
    const { content, links, changedAt } = this.#inode
    return { size: content.length, links, changedAt, onlyOurs: true }
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    this.#disk.checkPower()
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
    this.#disk.checkTruncate()
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
    this.#disk.checkPower()
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
