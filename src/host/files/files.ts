import {
  failed,
  withCause,
  type ErrorKind,
  type HawserError,
  type Result,
} from '../../model/errors.ts'

/**
 * The durable files under a Log and a blob store. Two implementations: the disk, and a file system that crashes on purpose
 * (test/support). Everything is opened from an open folder by a name of one segment, no link is ever followed, and opened
 * files are checked by their descriptor.
 *
 * Every method may throw a `FileFailure` and nothing else; `fileFailure` turns it into a value.
 */
export interface Folder {
  /** The folder's path for messages; never opened. */
  readonly label: string
  /** Opens a folder in this one. It must be ours and not writable by others; `create` creates it with mode 0700 first. */
  folder(name: string, mode: 'open' | 'create'): Promise<Folder>
  /** Opens a regular file in this folder (created with mode 0600). See `OpenMode`. */
  open(name: string, mode: OpenMode): Promise<File>
  /** Atomic; replaces `to`. Not durable before `sync`. */
  rename(from: string, to: string): Promise<void>
  /** Not durable before `sync`. */
  remove(name: string): Promise<void>
  /** The names of all entries, in no particular order. */
  names(): Promise<string[]>
  /** Makes creations, renames and removals in this folder durable. */
  sync(): Promise<void>
  /** Calls `changed` after each change of the file; several changes may cause one call. */
  watch(name: string, changed: () => void): Promise<{ close(): void }>
  close(): Promise<void>
}

export interface File {
  stat(): Promise<FileFacts>
  /** Whether it still has a name, asked without waiting: for a check immediately before a write. */
  hasName(): boolean
  /** Reads into `into` from `position`; returns the number of bytes, 0 at the end. May return fewer than requested. */
  read(into: Uint8Array, position: number): Promise<number>
  /** Appends and returns the number of bytes written: FEWER than requested is not an error. Use `writeAll`. */
  write(bytes: Uint8Array): Promise<number>
  /** Overwrites existing bytes, all of them, without changing the size. Requires the mode `overwrite`. */
  writeAt(bytes: Uint8Array, position: number): Promise<void>
  truncate(size: number): Promise<void>
  /** Makes content and size durable. After it throws, the state of earlier writes is unknown: never call it again. */
  datasync(): Promise<void>
  /** Like `datasync`, including all metadata; for a file that is renamed afterwards. */
  sync(): Promise<void>
  /** Sets the modification time to now, by the clock that `stat` reads. */
  touch(): Promise<void>
  /** Takes an exclusive lock on this open file, or returns false immediately. Ends with `close` and with the process. */
  tryLock(): Promise<boolean>
  close(): Promise<void>
}

/**
 * `read` requires the file; `append` requires it and can read too; `create` requires that it is absent; `lease` creates it
 * when absent; `overwrite` requires it and allows `writeAt`.
 */
export type OpenMode = 'read' | 'append' | 'create' | 'lease' | 'overwrite'

export interface FileFacts {
  readonly size: number
  /** 0 when the file was deleted while open. */
  readonly links: number
  readonly changedAt: number
  /** It belongs to this user, and no other user can read or write it. */
  readonly onlyOurs: boolean
}

/** The only error that a `Folder` or a `File` throws: an errno code of the system, or one of our codes. */
export class FileFailure extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'FileFailure'
    this.code = code
  }
}

/** Writes every byte: a short write does not throw, so the count is checked. */
export async function writeAll(file: File, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += await file.write(done === 0 ? bytes : bytes.subarray(done))
  }
}

/** Reads `length` bytes from `position`, fewer only at the end of the file. */
export async function readSpan(
  file: Pick<File, 'read'>,
  position: number,
  length: number,
): Promise<Buffer> {
  const into = Buffer.allocUnsafe(length)
  let got = 0
  while (got < length) {
    const count = await file.read(into.subarray(got), position + got)
    if (count === 0) break
    got += count
  }
  return into.subarray(0, got)
}

/**
 * Replaces the file `name` so that after any crash it has either the old or the new content, complete. `temporary` is an
 * unused name in the same folder.
 */
export async function replaceFile(
  folder: Folder,
  name: string,
  bytes: Uint8Array,
  temporary: string,
): Promise<void> {
  const file = await folder.open(temporary, 'create')
  try {
    await writeAll(file, bytes)
    await file.sync()
  } catch (error) {
    await ifPossible(file.close())
    await ifPossible(folder.remove(temporary))
    throw error
  }
  await file.close()
  try {
    await folder.rename(temporary, name)
  } catch (error) {
    await ifPossible(folder.remove(temporary))
    throw error
  }
  await folder.sync()
}

/**
 * Replaces a file that can be derived again, without waiting for the disk. Every process sees the old file or the new one; after a
 * power cut there may be neither, or one with other bytes, which the reader must recognize.
 */
export async function replaceDerivedFile(
  folder: Folder,
  name: string,
  bytes: Uint8Array,
  temporary: string,
): Promise<void> {
  const file = await folder.open(temporary, 'create')
  try {
    await closing(file, () => writeAll(file, bytes))
    await folder.rename(temporary, name)
  } catch (error) {
    await ifPossible(folder.remove(temporary))
    throw error
  }
}

/** Runs `work` and then closes the object, however `work` ends. */
export async function closing<O extends { close(): Promise<void> }, T>(
  opened: O,
  work: (opened: O) => Promise<T>,
): Promise<T> {
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

/** Converts system errors to `FileFailure`. Node's own argument errors are our defects and stay unchanged. */
export async function asFileFailure<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code !== 'string' || code.startsWith('ERR_') || !(error instanceof Error))
      throw error
    throw error instanceof FileFailure ? error : new FileFailure(code, error.message)
  })
}

/** Like `asResult`, for host code that calls the system directly. */
export async function asHostResult<T>(
  doing: string,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  return asResult(doing, () => asFileFailure(work()))
}

/** Runs `work` and returns file system errors as values. Defects, and what callers throw, propagate. */
export async function asResult<T>(
  doing: string,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  try {
    return await work()
  } catch (error) {
    return { ok: false, error: fileFailure(error, doing) }
  }
}

/** The error as a value; rethrows anything that is not a `FileFailure`. */
export function fileFailure(error: unknown, doing: string): HawserError {
  if (!(error instanceof FileFailure)) throw error
  const { code } = error
  const [kind, why, next] = REFUSALS[code] ?? ['storage_failed', `system error ${code}`]
  const actions = next === undefined ? [] : [{ action: next }]
  const refused = failed(kind, `Could not ${doing}: ${why}.`, { code }, actions)
  return withCause(refused, { type: 'system', code }).error
}

/** Ignores file system errors, but not defects. */
export async function ifPossible(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof FileFailure)) throw error
  })
}

/** The result of `opening`, or `undefined` if the file does not exist. */
export async function ifThere<T>(opening: Promise<T>): Promise<T | undefined> {
  return opening.catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

export function isMissing(error: unknown): boolean {
  return error instanceof FileFailure && error.code === 'ENOENT'
}

/** Removes temporary files that killed writers left before `olderThan`. Returns how many. */
export async function removeTemporaries(folder: Folder, olderThan: number): Promise<number> {
  let removed = 0
  for (const name of await folder.names()) {
    if (!name.startsWith('.tmp-')) continue
    const file = await ifThere(folder.open(name, 'read'))
    if (file === undefined) continue
    const { changedAt } = await closing(file, () => file.stat())
    if (changedAt > olderThan) continue
    await ifThere(folder.remove(name))
    removed += 1
  }
  return removed
}

const REFUSALS: Readonly<Record<string, readonly [ErrorKind, string, string?]>> = {
  ENOENT: ['not_found', 'it does not exist'],
  EEXIST: ['storage_failed', 'it already exists'],
  ENOTDIR: ['not_regular_file', 'it is a link or not a folder', 'Move it away and try again.'],
  EISDIR: ['not_regular_file', 'it is a folder', 'Move it away and try again.'],
  ELOOP: ['not_regular_file', 'it is a symbolic link', 'Replace the link with its target.'],
  ENXIO: ['not_regular_file', 'it is not a regular file', 'Move it away and try again.'],
  NOT_REGULAR: ['not_regular_file', 'it is not a regular file', 'Move it away and try again.'],
  NOT_OURS: ['permission_denied', 'it belongs to another user', 'Use a folder that you own.'],
  OPEN_TO_OTHERS: ['permission_denied', 'other users can write to it', 'Run chmod 700 on it.'],
  OTHER_FOLDER: [
    'outside_workspace',
    'another folder is at this path now, or a link leads to one',
    'Move the folder back, or choose this one again.',
  ],
  NO_FIND: ['sandbox_unavailable', 'the program find is not installed', 'Install findutils.'],
  EACCES: ['permission_denied', 'permission denied', 'Check its owner and permissions.'],
  EPERM: ['permission_denied', 'permission denied', 'Check its owner and permissions.'],
  ENOSPC: ['storage_failed', 'the disk is full', 'Free some space and try again.'],
  EDQUOT: ['storage_failed', 'the disk quota is exceeded', 'Free some space and try again.'],
  EFBIG: ['storage_failed', 'the file reached the file size limit', 'Raise the limit (ulimit -f).'],
  EROFS: ['storage_failed', 'the disk is read-only'],
  EMFILE: [
    'storage_failed',
    'this process has too many open files',
    'Raise the limit: ulimit -n 1024',
  ],
  ENFILE: ['storage_failed', 'the system has too many open files', 'Close other programs.'],
  EIO: ['storage_failed', 'the disk reported an error', 'Check the disk before you continue.'],
  LOCK_HELD: [
    'storage_failed',
    'another process holds its lock',
    'Stop that process and try again.',
  ],
  LEASE_LOST: ['storage_failed', 'this process no longer has its lease', 'Open the Session again.'],
  STORE_FULL: [
    'storage_failed',
    'the snapshots of this workspace have 16 GiB, which is the limit',
    'Delete Sessions that you do not need, then run hawser gc.',
  ],
  NO_LOCKS: ['storage_failed', 'file locks do not work here', 'Use a local file system.'],
}
