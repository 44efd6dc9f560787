import {
  failed,
  withCause,
  type ErrorKind,
  type HawserError,
  type Result,
} from '../../model/errors.ts'

/**
 * The durable files that a Log and a blob store stand on. Two implementations: the disk, and a file system that
 * crashes on purpose (test/support). Everything is reached from an open folder by a name of one segment, no link is
 * ever followed, and what is opened is judged by its descriptor.
 *
 * Every method may throw a `FileFailure`, and nothing else; `fileFailure` turns it into a value.
 */
export interface Folder {
  /** How a person knows this folder; for messages only, never opened. */
  readonly label: string
  /** Opens a folder in this one. It must be ours, and nobody else may write to it; `create` makes it 0700 first. */
  folder(name: string, mode: 'open' | 'create'): Promise<Folder>
  /** Opens a regular file in this folder (0600 where it is made). See `OpenMode`. */
  open(name: string, mode: OpenMode): Promise<File>
  /** Atomic; replaces `to`. Not durable before `sync`. */
  rename(from: string, to: string): Promise<void>
  /** Not durable before `sync`. */
  remove(name: string): Promise<void>
  /** Names of everything in this folder, in no order. */
  names(): Promise<string[]>
  /** Makes creations, renames and removals in this folder durable. */
  sync(): Promise<void>
  /** Calls `changed` after each change of the file; changes that come together may be told once. */
  watch(name: string, changed: () => void): Promise<{ close(): void }>
  close(): Promise<void>
}

export interface File {
  stat(): Promise<FileFacts>
  /** Reads into `into` from `position`; returns how many bytes came, 0 at the end. May be fewer than asked. */
  read(into: Uint8Array, position: number): Promise<number>
  /** Writes at the end and returns how many bytes went out: FEWER than asked is not an error. Use `writeAll`. */
  write(bytes: Uint8Array): Promise<number>
  /** Writes over bytes that are there, all of them, without changing the size. Only a file opened to `mend` takes it. */
  writeAt(bytes: Uint8Array, position: number): Promise<void>
  truncate(size: number): Promise<void>
  /** Makes content and size durable. After it threw, nothing about earlier writes is known: never call it again. */
  datasync(): Promise<void>
  /** Like `datasync`, and everything else the system knows of the file; for what gets its name after this. */
  sync(): Promise<void>
  /** Sets the time of last change to now, by the clock that `stat` reads. */
  touch(): Promise<void>
  /** Takes an exclusive lock on this open file, or returns false at once. Ends with `close` and with the process. */
  tryLock(): Promise<boolean>
  close(): Promise<void>
}

/**
 * `read` needs the file; `append` needs it and reads too; `create` needs it absent; `lease` makes it when absent; `mend` needs
 * it, and writes where it is told to.
 */
export type OpenMode = 'read' | 'append' | 'create' | 'lease' | 'mend'

export interface FileFacts {
  readonly size: number
  /** 0 when the name is gone while the file is still open. */
  readonly links: number
  readonly changedAt: number
}

/** The one thing that a `Folder` or a `File` throws: an errno code of the system, or a refusal of our own. */
export class FileFailure extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'FileFailure'
    this.code = code
  }
}

/** Writes every byte: a short write does not throw, so it is looked for. */
export async function writeAll(file: File, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += await file.write(done === 0 ? bytes : bytes.subarray(done))
  }
}

/** Reads `length` bytes from `position`, fewer only at the end of the file. */
export async function readSpan(file: File, position: number, length: number): Promise<Buffer> {
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
 * Puts `bytes` under `name` so that after any crash the name holds the old content or the new, whole.
 * `temporary` is a name in the same folder that nobody else uses.
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

/** Runs `work` with something open and closes it after, however `work` ends. */
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

/** The system's answer in the words of the ports. Node's own argument errors are defects of ours and stay what they are. */
export async function told<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code !== 'string' || code.startsWith('ERR_') || !(error instanceof Error))
      throw error
    throw error instanceof FileFailure ? error : new FileFailure(code, error.message)
  })
}

/** Like `asResult`, for work of the host itself: it speaks to the system without a port between them. */
export async function asHostResult<T>(
  doing: string,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  return asResult(doing, () => told(work()))
}

/** Runs `work`; what the file system refused comes back as a value. Defects, and what callers throw, go on as throws. */
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

/** The refusal as a value; rethrows anything that is not a refusal of the file system. */
export function fileFailure(error: unknown, doing: string): HawserError {
  if (!(error instanceof FileFailure)) throw error
  const { code } = error
  const [kind, why, next] = REFUSALS[code] ?? ['storage_failed', `the system said ${code}`]
  const actions = next === undefined ? [] : [{ action: next }]
  const refused = failed(kind, `Could not ${doing}: ${why}.`, { code }, actions)
  return withCause(refused, { type: 'system', code }).error
}

/** For what may fail without harm: a refusal of the file system is passed over, a defect is not. */
export async function ifPossible(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof FileFailure)) throw error
  })
}

/** What `opening` gives, or `undefined` when there is nothing of that name. */
export async function ifThere<T>(opening: Promise<T>): Promise<T | undefined> {
  return opening.catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

export function isMissing(error: unknown): boolean {
  return error instanceof FileFailure && error.code === 'ENOENT'
}

/** Temporary files that their writers left behind, being killed, before `olderThan`. Answers how many there were. */
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
  ENOENT: ['not_found', 'it is not there'],
  EEXIST: ['storage_failed', 'it is there already'],
  ENOTDIR: ['not_regular_file', 'it is a link or no folder', 'Move it away and try again.'],
  EISDIR: ['not_regular_file', 'it is a folder', 'Move it away and try again.'],
  ELOOP: ['not_regular_file', 'it is a symbolic link', 'Replace the link by what it points to.'],
  ENXIO: ['not_regular_file', 'it is not a regular file', 'Move it away and try again.'],
  NOT_REGULAR: ['not_regular_file', 'it is not a regular file', 'Move it away and try again.'],
  NOT_OURS: ['permission_denied', 'it belongs to another user', 'Use a folder of your own.'],
  OPEN_TO_OTHERS: ['permission_denied', 'other users may write to it', 'Run chmod 700 on it.'],
  EACCES: ['permission_denied', 'the system denies access', 'Check its owner and permissions.'],
  EPERM: ['permission_denied', 'the system denies access', 'Check its owner and permissions.'],
  ENOSPC: ['storage_failed', 'the disk is full', 'Free some space and try again.'],
  EDQUOT: ['storage_failed', 'the disk quota is used up', 'Free some space and try again.'],
  EFBIG: ['storage_failed', 'the file may not grow further', 'Raise the limit on file sizes.'],
  EROFS: ['storage_failed', 'the disk is read-only'],
  EMFILE: [
    'storage_failed',
    'this process has too many open files',
    'Raise the limit: ulimit -n 1024',
  ],
  ENFILE: ['storage_failed', 'the system has too many open files', 'End other programs.'],
  EIO: ['storage_failed', 'the disk reported an error', 'Check the disk before you go on.'],
  LOCK_HELD: [
    'storage_failed',
    'another process holds its lock',
    'Stop that process and try again.',
  ],
  NO_LOCKS: ['storage_failed', 'file locks do not work here', 'Use a local file system.'],
}
