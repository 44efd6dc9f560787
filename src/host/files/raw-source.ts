import { failed, type Failed } from '../../model/errors.ts'
import {
  closing,
  FileFailure,
  fileFailure,
  ifPossible,
  isMissing,
  readSpan,
  removeTemporaries,
  type File,
  type Folder,
} from './files.ts'

/**
 * Everything that a store has, as raw bytes, for the sweep: it looks for names of blobs and parses nothing, so what is damaged,
 * torn or written by a newer version counts too.
 */
export interface RawSource {
  /** For messages. */
  readonly label: string
  /**
   * Visits every piece of storage by its name, also those that appear or get another name meanwhile. What is deleted meanwhile is
   * not an error. Returns why one cannot be read: then others may not have been visited.
   */
  each(
    visit: (name: string, bytes: AsyncIterable<Buffer>) => Promise<void>,
  ): Promise<Failed | undefined>
  /** Removes what writes left that were interrupted before `olderThan`. May throw a `FileFailure`. */
  tidy(olderThan: number): Promise<void>
}

/** A source that is read for a while. */
export interface OpenRawSource extends RawSource {
  close(): Promise<void>
}

/** All files below a folder, whatever their names. `close` closes the folder. */
export function folderSource(folder: Folder): OpenRawSource {
  return {
    label: folder.label,
    each: (visit) => eachFile(folder, visit),
    tidy: async (olderThan) => void (await removeTemporaries(folder, olderThan)),
    close: () => ifPossible(folder.close()),
  }
}

type Visit = Parameters<RawSource['each']>[0]

async function eachFile(folder: Folder, visit: Visit): Promise<Failed | undefined> {
  const seen = new Set<string>()
  for (let names = await folder.names(); names.length > 0;) {
    for (const name of names) {
      seen.add(name)
      const unread = await visitEntry(folder, name, visit).catch((error: unknown) => {
        return isMissing(error) ? undefined : unreadFile(`${folder.label}/${name}`, error)
      })
      if (unread !== undefined) return unread
    }
    names = (await folder.names()).filter((name) => !seen.has(name))
  }
  return undefined
}

async function visitEntry(folder: Folder, name: string, visit: Visit): Promise<Failed | undefined> {
  const file = await folder.open(name, 'read').catch((error: unknown) => {
    if (error instanceof FileFailure && error.code === 'NOT_REGULAR') return undefined
    throw error
  })
  if (file === undefined) {
    const below = await folder.folder(name, 'open')
    return closing(below, () => eachFile(below, visit))
  }
  await closing(file, () => visit(name, pieces(file)))
  return undefined
}

const PIECE_BYTES = 256 * 1024

/** All bytes of a file, in order. */
export async function* pieces(file: File): AsyncGenerator<Buffer> {
  for (let at = 0; ; at += PIECE_BYTES) {
    const piece = await readSpan(file, at, PIECE_BYTES)
    if (piece.length > 0) yield piece
    if (piece.length < PIECE_BYTES) return
  }
}

function unreadFile(path: string, error: unknown): Failed {
  const { kind, message, details } = fileFailure(error, `read ${path}, which may refer to blobs`)
  return failed(kind, message, { ...details, file: path })
}
