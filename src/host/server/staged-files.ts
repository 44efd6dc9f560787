import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { Clock } from '../clock.ts'
import {
  asResult,
  closing,
  FileFailure,
  ifPossible,
  ifThere,
  writeAll,
  type File,
  type Folder,
} from '../files/files.ts'

/** Uploads that wait to be attached, in `$HAWSER_HOME/staged`. */
export interface StagedFiles {
  /**
   * Writes a stream to a file with this name, piece by piece, and returns its absolute path once it is durable.
   * `too_large` above `limit` bytes; nothing is left then. `budget_exceeded` if too much is staged. Errors of the stream
   * propagate after the file is removed. The name must be one segment.
   */
  add(name: string, bytes: AsyncIterable<Uint8Array>, limit: number): Promise<Result<StagedFile>>
  /** Removes files that were added more than 7 days ago, except those at a path in `kept`. Returns how many. */
  removeExpired(kept?: ReadonlySet<string>): Promise<Result<number>>
  close(): Promise<void>
}

export interface StagedFile {
  readonly path: string
  readonly size: number
}

const DAYS_KEPT = 7
const DAY_MS = 24 * 60 * 60 * 1000

/** Of all staged files together. */
const MOST_BYTES = 1024 * 1024 * 1024

/** Files of the same name are in different slots: the name of a file is the name that a model sees. */
const MOST_SLOTS = 1000

/** Opens the folder, and creates it if missing. Throws a `FileFailure`. */
export async function stagedFiles(
  home: Folder,
  clock: Pick<Clock, 'now'>,
  mostBytes = MOST_BYTES,
): Promise<StagedFiles> {
  const root = await home.folder('staged', 'create')
  let staged = await totalOf(root)
  /** Counts bytes before they are written, so that uploads at the same time cannot exceed the limit together. */
  const reserve = (bytes: number) => {
    staged += bytes
    return staged <= mostBytes
  }
  return {
    add: (name, bytes, limit) =>
      asResult('store the upload', async () => {
        const slot = await freeSlot(root, name)
        if (slot === undefined) return full(mostBytes)
        return closing(slot.folder, async () => {
          let size = 0
          const written = await writeStaged(slot, name, bytes, ({ length }) => {
            size += length
            if (!reserve(length)) return full(mostBytes)
            return size > limit ? uploadTooLarge(limit) : ok(undefined)
          }).finally(() => {
            if (!slot.isWhole) reserve(-size)
          })
          if (!written.ok) return written
          await slot.folder.sync()
          return ok({ path: `${slot.folder.label}/${name}`, size })
        })
      }),
    removeExpired: (kept = new Set()) =>
      asResult('remove expired uploads', async () => {
        const removed = await removeOlder(root, clock.now() - DAYS_KEPT * DAY_MS, kept)
        staged = await totalOf(root)
        return ok(removed)
      }),
    close: () => root.close(),
  }
}

interface Slot {
  readonly folder: Folder
  readonly file: File
  /** All bytes are on the disk. */
  isWhole: boolean
}

/** Creates the file in the first slot without that name. */
async function freeSlot(root: Folder, name: string): Promise<Slot | undefined> {
  for (let number = 0; number < MOST_SLOTS; number++) {
    const folder = await root.folder(String(number), 'create')
    try {
      return { folder, file: await folder.open(name, 'create'), isWhole: false }
    } catch (error) {
      await folder.close()
      if (!(error instanceof FileFailure && error.code === 'EEXIST')) throw error
    }
  }
  return undefined
}

/** Writes, syncs and closes the file, as far as `allow` permits. On any failure the file is removed. */
async function writeStaged(
  slot: Slot,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  allow: (piece: Uint8Array) => Result<void>,
): Promise<Result<void>> {
  const { folder, file } = slot
  try {
    for await (const piece of bytes) {
      const allowed = allow(piece)
      if (!allowed.ok) return allowed
      await writeAll(file, piece)
    }
    await file.sync()
    await file.close()
    slot.isWhole = true
    return ok(undefined)
  } finally {
    if (!slot.isWhole) {
      await ifPossible(file.close())
      await ifPossible(folder.remove(name))
    }
  }
}

async function removeOlder(
  root: Folder,
  olderThan: number,
  kept: ReadonlySet<string>,
): Promise<number> {
  let removed = 0
  for await (const { folder, name, changedAt } of filesIn(root)) {
    if (changedAt > olderThan || kept.has(`${folder.label}/${name}`)) continue
    await ifThere(folder.remove(name))
    removed += 1
  }
  return removed
}

async function totalOf(root: Folder): Promise<number> {
  let total = 0
  for await (const { size } of filesIn(root)) total += size
  return total
}

async function* filesIn(root: Folder) {
  for (const slot of await root.names()) {
    if (!/^\d{1,3}$/.test(slot)) continue
    const folder = await ifThere(root.folder(slot, 'open'))
    if (folder === undefined) continue
    try {
      for (const name of await folder.names()) {
        const file = await ifThere(folder.open(name, 'read'))
        if (file === undefined) continue
        yield { folder, name, ...(await closing(file, () => file.stat())) }
      }
    } finally {
      await folder.close()
    }
  }
}

function uploadTooLarge(limit: number): Failed {
  return failed('too_large', `The upload exceeds ${limit} bytes.`, { limit })
}

function full(limit: number): Failed {
  return failed('budget_exceeded', `Uploads that are not attached yet exceed ${limit} bytes.`, {
    limit,
  })
}
