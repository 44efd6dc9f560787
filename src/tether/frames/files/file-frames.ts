import type { Clock } from '../../../host/clock.ts'
import { DurableFile } from '../../../host/files/durable-file.ts'
import {
  asResult,
  fileFailure,
  FileFailure,
  ifPossible,
  ifThere,
  type File,
  type Folder,
} from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../../../model/errors.ts'
import type {
  CarriedMessages,
  FrameBatch,
  FrameReading,
  FrameRepair,
  FrameRetention,
  OpenFrames,
  OpenFramesOptions,
  VisitFrame,
} from '../frame-store.ts'
import type { FilePosition, FrameFile } from './frame-file.ts'
import { encodeFrameLine, type FrameLineContent } from './frame-line.ts'
import { openFiles, type FoundFiles } from './open-files.ts'
import { framesAbove, framesBelow } from './read-files.ts'
import { isFull, keptFiles } from './retention.ts'
import { writeStart, type OpenFile } from './start-file.ts'

export interface FileFramesParts {
  /** `frames` in the folder of the Instance. It stays open until the frames are closed. */
  readonly folder: Folder
  readonly clock: Clock
  readonly ids: Pick<Ids, 'temporary'>
}

/** Never unlinked; only its lock matters. */
export const LEASE = 'lease'

/** Opens the frames in a folder; see `FrameStore.open`. */
export async function openFileFrames(
  parts: FileFramesParts,
  options: OpenFramesOptions,
): Promise<Result<OpenFrames>> {
  return asResult('open the frame log', async () => {
    const lease = await parts.folder.open(LEASE, 'lease')
    try {
      if (!(await lease.tryLock())) throw new FileFailure('LOCK_HELD', 'the frame log is open')
      return ok(new FileFrames(parts, options, lease, await openFiles(parts, options)))
    } catch (error) {
      await ifPossible(lease.close())
      throw error
    }
  })
}

/** A file that is being written. */
interface Writing extends OpenFile {
  readonly durable: DurableFile
}

/** The frames of one Instance in files, see ADR 22. */
class FileFrames implements OpenFrames {
  readonly #parts: FileFramesParts
  readonly #lease: File
  readonly #retention: FrameRetention
  readonly #messages: () => CarriedMessages
  readonly lastReserved: number
  readonly repair: FrameRepair | undefined
  readonly damage: Failed | undefined
  /** Oldest first; the last one is being written. Never empty, unless the newest one is damaged. */
  #files: readonly FrameFile[]
  #writing: Writing | undefined
  #position: FilePosition
  /** Numbers up to this one are reserved durably. */
  #reservedTo: number
  #refusal: Failed | undefined
  #isClosed = false

  constructor(
    parts: FileFramesParts,
    { retention, messages }: OpenFramesOptions,
    lease: File,
    found: FoundFiles,
  ) {
    const { files, openFile, reservedTo, repair, damage } = found
    this.#parts = parts
    this.#lease = lease
    this.#retention = retention
    this.#messages = messages
    this.#files = files
    this.lastReserved = reservedTo
    this.#reservedTo = reservedTo
    this.repair = repair
    this.damage = damage
    this.#refusal = damage
    this.#position = openFile?.position ?? { offset: 0, n: 0, seq: reservedTo }
    const isHeld = async () => lease.hasName()
    this.#writing = openFile && {
      ...openFile,
      durable: new DurableFile({
        name: 'frame log',
        file: openFile.handle,
        end: openFile.position.offset,
        isHeld,
      }),
    }
  }

  get firstAvailable(): number {
    return this.#files[0]?.firstSeq ?? this.lastReserved + 1
  }

  async append(batch: FrameBatch): Promise<Result<void>> {
    const writing = this.#writing
    if (this.#refusal !== undefined) return this.#refusal
    if (writing === undefined) return closedFrames()
    if (!this.#lease.hasName()) return this.#stop(LOST)
    const refusal = await this.#startFileIfFull(writing, batch.first)
    if (refusal !== undefined) return refusal
    const { file, durable } = this.#writing ?? writing
    const { bytes, position, marks } = this.#seal(batch)
    const failure = await durable.append(bytes)
    if (failure !== undefined) {
      const stopped = failure.stop && this.#stop(failure.stop)
      return stopped !== undefined && failure.stop === failure.error
        ? stopped
        : { ok: false, error: failure.error }
    }
    this.#position = position
    this.#reservedTo = batch.reserveTo ?? this.#reservedTo
    file.grow(position.offset)
    for (const mark of marks) file.mark(mark)
    return ok(undefined)
  }

  readAfter(
    after: number,
    upTo: number,
    budget: number,
    visit: VisitFrame,
  ): Promise<Result<FrameReading>> {
    return framesAbove(this.#parts.folder, this.#files, { after, upTo, budget }, visit)
  }

  readBefore(before: number, budget: number, visit: VisitFrame): Promise<Result<FrameReading>> {
    const files = this.#files
    const isKept = (file: FrameFile) => this.#files.includes(file)
    return framesBelow(this.#parts.folder, files, { before, budget, isKept }, visit)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const writing = this.#writing
    this.#writing = undefined
    this.#refusal ??= closedFrames()
    if (writing !== undefined) await ifPossible(writing.handle.close())
    await ifPossible(this.#lease.close())
    await ifPossible(this.#parts.folder.close())
  }

  /** The lines of a batch. The last one also reserves numbers. */
  #seal({ entries, reserveTo: reservedTo }: FrameBatch): SealedBatch {
    const contents = entries.map((entry, i): FrameLineContent =>
      reservedTo !== undefined && i === entries.length - 1
        ? { kind: 'frame', entry, reservedTo }
        : { kind: 'frame', entry },
    )
    if (contents.length === 0)
      contents.push({ kind: 'reserved', reservedTo: reservedTo ?? this.#reservedTo })
    let { offset, n, seq } = this.#position
    const marks: FilePosition[] = []
    const pieces = contents.map((content, batch) => {
      const line = encodeFrameLine({ n, batch, content })
      offset += line.length
      n += 1
      if (content.kind === 'frame') seq = content.entry.seq
      marks.push({ offset, n, seq })
      return line
    })
    return { bytes: Buffer.concat(pieces), position: { offset, n, seq }, marks }
  }

  async #startFileIfFull(writing: Writing, first: number): Promise<Failed | undefined> {
    const { folder, clock, ids } = this.#parts
    const { file, begin, handle, durable } = writing
    const at = Math.floor(clock.now())
    if (!isFull(file, this.#position.offset - begin, at, this.#retention)) return undefined
    const kept = keptFiles(this.#files, at, at, this.#retention)
    const unnamed = await writeStart(
      { folder, ids, messages: this.#messages() },
      { firstSeq: first, reservedTo: Math.max(this.#reservedTo, first - 1), at },
      kept,
    ).catch((error: unknown) => fileFailure(error, 'start a file of the frame log'))
    if (!('name' in unnamed)) return { ok: false, error: unnamed }
    try {
      const opened = await unnamed.name()
      this.#writing = { ...opened, durable }
      this.#position = opened.position
      durable.continueIn(opened.handle, opened.position.offset)
      const dropped = this.#files.filter((other) => !kept.includes(other))
      this.#files = [...kept, opened.file]
      await ifPossible(handle.close())
      // What remains is removed when the log is opened again.
      for (const { name } of dropped) await ifPossible(ifThere(folder.remove(name)))
      return undefined
    } catch (error) {
      return this.#stop(fileFailure(error, 'start a file of the frame log'))
    }
  }

  #stop(error: HawserError): Failed {
    const message = `${error.message} The frame log accepts no more frames until it is reopened.`
    this.#refusal = { ok: false, error: { ...error, message } }
    return this.#refusal
  }
}

interface SealedBatch {
  readonly bytes: Buffer
  readonly position: FilePosition
  /** The positions after each line. */
  readonly marks: readonly FilePosition[]
}

const LOST = failed('storage_failed', 'Another program deleted the lease of the frame log.').error

function closedFrames(): Failed {
  return failed('storage_failed', 'The frame log is not open.')
}
