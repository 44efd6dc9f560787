import type { Random } from './random.ts'

const SECTOR_BYTES = 512

export type Entries = Map<string, Inode>
/** Names and their new inodes, or `undefined` if removed; one change is atomic. */
type LinkChange = readonly (readonly [string, Inode | undefined])[]
type ContentChange =
  | { readonly at: number; readonly bytes: Buffer }
  | { readonly truncateTo: number }

/** A file or folder of the crash disk: what programs see, what is durable, and the changes between the two, in order. */
export class Inode {
  content: Buffer = Buffer.alloc(0)
  entries: Entries | undefined
  links = 0
  changedAt = Date.now()
  readonly watchers = new Set<() => void>()
  #durableContent: Buffer = Buffer.alloc(0)
  #durableEntries: Entries = new Map()
  #contentChanges: ContentChange[] = []
  #linkChanges: LinkChange[] = []
  #lockedBy: object | undefined

  static file(durable: Buffer = Buffer.alloc(0)): Inode {
    const inode = new Inode()
    inode.content = durable
    inode.#durableContent = durable
    return inode
  }

  static folder(durable: Entries = new Map()): Inode {
    const inode = new Inode()
    inode.entries = new Map(durable)
    inode.#durableEntries = durable
    for (const child of durable.values()) child.links = 1
    return inode
  }

  /** Writes at the end by default. */
  write(bytes: Uint8Array, at = this.content.length): void {
    this.#change({ at, bytes: Buffer.from(bytes) })
  }

  truncate(size: number): void {
    this.#change({ truncateTo: size })
  }

  link(change: LinkChange): void {
    this.#linkChanges.push(change)
    if (this.entries === undefined) return
    for (const [name, inode] of change) {
      const before = this.entries.get(name)
      if (before !== undefined) before.links = 0
      if (inode !== undefined) inode.links = 1
    }
    applyLinks(this.entries, change)
  }

  /** Makes the changes since the last sync durable, without those that an earlier, failed sync lost. */
  sync(): void {
    for (const change of this.#contentChanges)
      this.#durableContent = applied(this.#durableContent, change)
    for (const change of this.#linkChanges) applyLinks(this.#durableEntries, change)
    this.#contentChanges = []
    this.#linkChanges = []
  }

  /** A failed sync: some changes reach the disk; the others can still be read, but no later sync writes them. */
  loseUnsynced(chance: Random): void {
    const survived = this.survivor(chance)
    this.#durableContent = survived.content
    this.#durableEntries = survived.entries ?? new Map()
    this.#contentChanges = []
    this.#linkChanges = []
  }

  lock(by: object): boolean {
    this.#lockedBy ??= by
    return this.#lockedBy === by
  }

  unlock(by: object): void {
    if (this.#lockedBy === by) this.#lockedBy = undefined
  }

  unlockAll(): void {
    this.#lockedBy = undefined
    for (const child of this.entries?.values() ?? []) child.unlockAll()
  }

  /** What remains of this inode after a crash, without what is below it. */
  survivor(chance: Random): { content: Buffer; entries: Entries | undefined } {
    let content = this.#durableContent
    for (const change of chosen(this.#contentChanges, chance)) {
      content = survivingContent(content, change, chance)
    }
    if (this.entries === undefined) return { content, entries: undefined }
    const entries = new Map(this.#durableEntries)
    for (const change of chosen(this.#linkChanges, chance)) applyLinks(entries, change)
    return { content, entries }
  }

  #change(change: ContentChange): void {
    this.#contentChanges.push(change)
    this.content = applied(this.content, change)
    this.changedAt = Date.now()
    for (const changed of this.watchers) changed()
  }
}

/** A copy of everything below `root` as the next boot finds it. */
export function afterCrash(root: Inode, chance: Random): Inode {
  const seen = new Map<Inode, Inode>()
  const boot = (inode: Inode): Inode => {
    const already = seen.get(inode)
    if (already !== undefined) return already
    const { content, entries } = inode.survivor(chance)
    const created =
      entries === undefined
        ? Inode.file(content)
        : Inode.folder(new Map([...entries].map(([name, child]) => [name, boot(child)])))
    seen.set(inode, created)
    return created
  }
  return boot(root)
}

/** All, none, the first few, or any of the changes. */
function chosen<T>(changes: readonly T[], chance: Random): readonly T[] {
  const way = chance.pick(['all', 'none', 'first', 'any', 'any'] as const)
  if (way === 'all') return changes
  if (way === 'none') return []
  if (way === 'first') return changes.slice(0, chance.below(changes.length + 1))
  return changes.filter(() => chance.next() < 0.5)
}

/**
 * The content with the part of the change that survives: each sector is present, missing or garbage. Only appended bytes
 * become garbage: an overwritten sector has its old or its new content.
 */
function survivingContent(content: Buffer, change: ContentChange, chance: Random): Buffer {
  if ('truncateTo' in change) return applied(content, change)
  if (chance.next() < 0.4) return applied(content, change)
  let result = content
  for (let from = 0; from < change.bytes.length;) {
    const room = SECTOR_BYTES - ((change.at + from) % SECTOR_BYTES)
    const sector = change.bytes.subarray(from, from + room)
    const roll = chance.next()
    const at = change.at + from
    const fresh = Math.max(0, Math.min(sector.length, at + sector.length - content.length))
    const torn = Buffer.concat([sector.subarray(0, sector.length - fresh), garbage(fresh, chance)])
    const bytes = roll < 0.6 ? sector : roll < 0.8 ? undefined : torn
    if (bytes !== undefined) result = applied(result, { at, bytes })
    from += sector.length
  }
  return result
}

function garbage(length: number, chance: Random): Buffer {
  return chance.next() < 0.5 ? Buffer.alloc(length) : chance.bytes(length)
}

function applied(content: Buffer, change: ContentChange): Buffer {
  if ('truncateTo' in change) {
    const kept = content.subarray(0, change.truncateTo)
    return Buffer.concat([kept, Buffer.alloc(change.truncateTo - kept.length)])
  }
  const end = change.at + change.bytes.length
  const result = Buffer.alloc(Math.max(content.length, end))
  content.copy(result)
  change.bytes.copy(result, change.at)
  return result
}

function applyLinks(entries: Entries, change: LinkChange): void {
  for (const [name, inode] of change) {
    if (inode === undefined) entries.delete(name)
    else entries.set(name, inode)
  }
}
