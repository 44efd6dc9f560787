import { createHash } from 'node:crypto'
import { closing, FileFailure, ifThere, replaceFile, type Folder } from './files/files.ts'
import { jsonOf, wholeFile } from './files/json-file.ts'
import type { Ids } from './ids.ts'

const FOLDER = 'cache'
const MOST_BYTES = 16 * 1024 * 1024
const HASH_LENGTH = 64

/**
 * Reads a file of `$HAWSER_HOME/cache`: the value that was written, or `undefined` if it is missing, damaged or unreadable.
 * The first line is a hash of the rest. It finds damage; it does not keep anyone from writing another value.
 */
export async function readCacheFile(home: Folder, name: string): Promise<unknown> {
  try {
    const folder = await ifThere(home.folder(FOLDER, 'open'))
    const bytes = folder && (await closing(folder, () => wholeFile(folder, name, MOST_BYTES)))
    if (bytes === undefined) return undefined
    const text = bytes.subarray(HASH_LENGTH + 1)
    return bytes.toString('latin1', 0, HASH_LENGTH) === hashOf(text) ? jsonOf(text) : undefined
  } catch (error) {
    if (error instanceof FileFailure) return undefined
    throw error
  }
}

/** Replaces a file of `$HAWSER_HOME/cache`. What cannot be written is computed again next time. */
export async function writeCacheFile(
  home: Folder,
  name: string,
  value: unknown,
  ids: Ids,
): Promise<void> {
  const text = Buffer.from(JSON.stringify(value))
  const bytes = Buffer.concat([Buffer.from(`${hashOf(text)}\n`), text])
  try {
    const folder = await home.folder(FOLDER, 'create')
    await closing(folder, () => replaceFile(folder, name, bytes, ids.temporary()))
  } catch (error) {
    if (!(error instanceof FileFailure)) throw error
  }
}

function hashOf(text: Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}
