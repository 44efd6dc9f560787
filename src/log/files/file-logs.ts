import { DurableFile, type AppendFailure } from '../../host/files/durable-file.ts'
import { closing, FileFailure, ifThere, type File, type Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import { folderSource } from '../../host/files/raw-source.ts'
import { failed } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Fence } from '../lease-store.ts'
import type { LogStore, ReadableLog, VisitBytes, WritableLog } from '../log-store.ts'
import { hiddenName, logName, sessionsNamed, tornName } from './names.ts'
import { keepPiece, piecesAt } from './torn-pieces.ts'

/** What Logs in files need. */
export interface LogFiles {
  /** `<workspace>/.hawser/sessions` */
  readonly sessions: Folder
  readonly ids: Pick<Ids, 'temporary'>
}

/** Each Log in a file of lines. */
export function fileLogs(files: LogFiles): LogStore {
  const { sessions } = files
  const source = folderSource(sessions)
  return {
    label: source.label,
    each: (visit) => source.each(visit),
    tidy: (olderThan) => source.tidy(olderThan),
    create: async (session, fence) => {
      if (!fence.mayHold()) throw lostLease(session)
      const file = await sessions.open(logName(session), 'create')
      return new LogFile(files, session, file, fence, true)
    },
    open: async (session) => {
      const file = await ifThere(sessions.open(logName(session), 'read'))
      return file && readable(file)
    },
    openToWrite: async (session) => {
      const file = await ifThere(sessions.open(logName(session), 'append'))
      if (file === undefined) return undefined
      return {
        ...readable(file),
        under: (fence) => new LogFile(files, session, file, fence, false),
      }
    },
    watch: (session, changed) =>
      sessions.watch(logName(session), changed).catch((error: unknown) => {
        if (error instanceof FileFailure) return undefined
        throw error
      }),
    list: async () => {
      const names = await sessions.names()
      const hidden = new Set(sessionsNamed(names, '.deleted'))
      return sessionsNamed(names, '.ndjson').filter((session) => !hidden.has(session))
    },
    hide: (session, fence) => hideFiles(sessions, session, fence),
    isHidden: async (session) => {
      const marker = await ifThere(sessions.open(hiddenName(session), 'read'))
      await marker?.close()
      return marker !== undefined
    },
    listHidden: async () => sessionsNamed(await sessions.names(), '.deleted'),
    delete: (session, fence) => deleteFiles(sessions, session, fence),
  }
}

function readable(file: File): ReadableLog {
  return {
    stat: () => file.stat(),
    read: (into, position) => file.read(into, position),
    sync: () => file.datasync(),
    close: () => file.close(),
  }
}

/** The Log is deleted first: anything that remains after a crash is then unreferenced and harmless. */
async function deleteFiles(sessions: Folder, session: SessionId, fence: Fence): Promise<boolean> {
  if (!fence.mayHold()) throw lostLease(session)
  const names = await sessions.names()
  const isThere = names.includes(logName(session))
  if (isThere) await ifThere(sessions.remove(logName(session)))
  await sessions.sync()
  const rest = names.filter(
    (name) => name === hiddenName(session) || name.startsWith(tornName(session, '')),
  )
  for (const name of rest) await ifThere(sessions.remove(name))
  if (rest.length > 0) await sessions.sync()
  return isThere
}

/** The marker is durable before anything is removed. */
async function hideFiles(sessions: Folder, session: SessionId, fence: Fence): Promise<void> {
  if (!fence.mayHold()) throw lostLease(session)
  const names = await sessions.names()
  if (!names.includes(hiddenName(session)))
    await closing(await sessions.open(hiddenName(session), 'create'), (marker) => marker.sync())
  await sessions.sync()
  const torn = names.filter((name) => name.startsWith(tornName(session, '')))
  for (const name of torn) await ifThere(sessions.remove(name))
  if (torn.length > 0) await sessions.sync()
}

function lostLease(session: SessionId): FileFailure {
  return new FileFailure('LEASE_LOST', `The lease of ${session} was released or lost.`)
}

/** The file of one Log, open for append. */
class LogFile implements WritableLog {
  readonly #files: LogFiles
  readonly #session: SessionId
  readonly #file: File
  readonly #fence: Fence
  #durable: DurableFile | undefined
  #end = 0
  /** Why the state of the file is unknown. */
  #failure: AppendFailure | undefined
  /** The name of a new Log is not durable in its folder yet. */
  #folderUnsynced: boolean

  constructor(files: LogFiles, session: SessionId, file: File, fence: Fence, isNew: boolean) {
    this.#files = files
    this.#session = session
    this.#file = file
    this.#fence = fence
    this.#folderUnsynced = isNew
  }

  stat() {
    return this.#file.stat()
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.#file.read(into, position)
  }

  sync(): Promise<void> {
    return this.#file.datasync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  append(bytes: Buffer, at: number): ReturnType<WritableLog['append']> {
    if (this.#failure !== undefined) return Promise.resolve(this.#failure)
    if (this.#durable !== undefined && at !== this.#end)
      return Promise.resolve(elsewhere(this.#session, this.#end, at))
    this.#durable ??= this.#durableFrom(at)
    return this.#durable.append(bytes).then((failure) => {
      if (failure === undefined) this.#end = at + bytes.length
      else if (failure.stop !== undefined) this.#failure = failure
      return failure
    })
  }

  async settle<T>(from: number, work: (visit: VisitBytes) => Promise<T>): Promise<T> {
    this.#mustHold()
    const { sessions } = this.#files
    return closing(await sessions.open(logName(this.#session), 'overwrite'), async (writable) => {
      // A sync is not enough: after a failed one, the system may consider the bytes written. So they are rewritten unchanged.
      const result = await work(async (bytes, position) => {
        const known = Math.max(0, from - position)
        if (known < bytes.length) await writable.writeAt(bytes.subarray(known), position + known)
      })
      await writable.datasync()
      await sessions.sync()
      return result
    })
  }

  async cut(offset: number, piece: { readonly seq: number; readonly bytes: Buffer }) {
    this.#mustHold()
    const { sessions, ids } = this.#files
    await keepPiece(sessions, this.#session, piece, ids.temporary())
    await this.#file.truncate(offset)
    await this.#file.datasync()
  }

  pieces(seq: number): ReturnType<WritableLog['pieces']> {
    return piecesAt(this.#files.sessions, this.#session, seq)
  }

  #durableFrom(end: number): DurableFile {
    this.#end = end
    return new DurableFile({
      name: 'Log',
      details: { session_id: this.#session },
      file: this.#file,
      end,
      mayHold: () => this.#fence.mayHold(),
      isHeld: () => this.#fence.holds(),
      alsoSync: () => this.#syncFolder(),
    })
  }

  async #syncFolder(): Promise<void> {
    if (this.#folderUnsynced) await this.#files.sessions.sync()
    this.#folderUnsynced = false
  }

  #mustHold(): void {
    if (!this.#fence.mayHold()) throw lostLease(this.#session)
  }
}

/** The caller knows another Log than this one. */
function elsewhere(session: SessionId, end: number, at: number): AppendFailure {
  const text = `The Log ends at byte ${end}, not at byte ${at}.`
  const { error } = failed('storage_failed', text, { session_id: session, end, at })
  return { error, stop: error }
}
