import type { Clock } from '../../host/clock.ts'
import { BatchWriter, type BatchEntry } from '../../host/files/batch-writer.ts'
import { fileFailure, ifPossible, ifThere } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { Frame, type FrameToGuest, type FrameToHost } from '../../model/tether/frame.ts'
import {
  withSeq,
  withoutSeq,
  type FrameEntry,
  type NamedEntry,
  type UnnumberedFrame,
} from './frame-entry.ts'
import { isDelta } from './guest-frames.ts'
import type { FilePosition } from './frame-file.ts'
import { encodeFrameLine, type FrameLineContent } from './frame-line.ts'
import type { FrameShelf } from './frame-reader.ts'
import type { FrameLogSettings } from './frame-settings.ts'
import type { AppendedFrame, MessageClaim, KnownMessages } from './known-messages.ts'
import { isFull, keptFiles } from './retention.ts'
import { writeStart, type OpenedFile } from './start-file.ts'

/** The most bytes of one write, and so of what a crash can tear. */
export const FRAME_BATCH_BYTES = 4 * 1024 * 1024
/** Everything in a line but its frame. */
const LINE_BYTES = 200

export interface FrameWriterParts {
  readonly shelf: FrameShelf
  readonly messages: KnownMessages
  readonly opened: OpenedFile
  /** Numbers up to this one may have been issued. */
  readonly reserved: number
  readonly settings: FrameLogSettings
  readonly clock: Clock
  readonly ids: Pick<Ids, 'temporary'>
  /** Called with new frames when readers may see them. */
  readonly published: (entries: readonly FrameEntry[]) => void
}

interface PendingFrame extends BatchEntry {
  readonly frame: UnnumberedFrame
  readonly claim: MessageClaim
  settle(result: Result<AppendedFrame>): void
}

/**
 * The only writer of a frame log, by the rules of `BatchWriter`: a frame is visible and acknowledged when it is durable.
 * Deltas are not written; they are visible as soon as all frames before them are and their number is reserved.
 */
export class FrameWriter {
  readonly #parts: FrameWriterParts
  #opened: OpenedFile
  #position: FilePosition
  #next: number
  #reserved: number
  readonly #batches: BatchWriter<PendingFrame>
  #closed = false

  constructor(parts: FrameWriterParts) {
    this.#parts = parts
    this.#opened = parts.opened
    this.#position = parts.opened.position
    this.#next = parts.shelf.newest + 1
    this.#reserved = parts.reserved
    this.#batches = new BatchWriter({
      name: 'frame log',
      file: parts.opened.handle,
      end: parts.opened.position.offset,
      batchBytes: FRAME_BATCH_BYTES,
      commit: (batch) => this.#commit(batch),
      takeUnwritten: (queue) => this.#publishDeltas(queue),
      refused: ({ claim }) => claim.undo(),
      whenStopped: stoppedBy,
      defect: 'The frame log failed with an internal error.',
    })
  }

  append(frame: FrameToGuest | FrameToHost): Promise<Result<AppendedFrame>> {
    if (this.#closed) throw new Error('this frame log was closed')
    // A frame that readers would not recognize must not be accepted.
    if (!Frame.safeParse({ ...frame, seq: 0 }).success)
      return Promise.resolve(failed('invalid_args', 'This is not a valid frame.'))
    const sent = withoutSeq(frame)
    const bytes = Buffer.byteLength(sent.body) + 1
    const limit = LIMITS.frame_bytes
    if (bytes > limit)
      return Promise.resolve(
        failed('too_large', `The frame exceeds ${limit} bytes.`, { limit, actual: bytes }),
      )
    return this.#parts.messages.earlier(sent) ?? this.#enqueue(sent, bytes)
  }

  /** Waits for everything that was appended, and closes the file. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#batches.drain()
    await ifPossible(this.#opened.handle.close())
  }

  #enqueue(frame: UnnumberedFrame, bytes: number): Promise<Result<AppendedFrame>> {
    let settle: PendingFrame['settle'] = unset
    let abort: PendingFrame['abort'] = unset
    const storing = new Promise<Result<AppendedFrame>>((resolve, reject) => {
      settle = resolve
      abort = reject
    })
    const claim = this.#parts.messages.claim(frame, storing)
    if (!claim.ok) return Promise.resolve(claim)
    this.#batches.add({
      frame,
      claim: claim.value,
      bytes: bytes + LINE_BYTES,
      settle,
      abort,
    })
    return storing
  }

  /** Deltas at the front of the queue need no write as long as numbers are reserved. */
  #publishDeltas(queue: PendingFrame[]): void {
    const ready = queue.findIndex(
      ({ frame }, i) => !isDelta(frame.fields) || this.#next + i > this.#reserved,
    )
    const deltas = queue.splice(0, ready === -1 ? queue.length : ready)
    if (deltas.length > 0) this.#publish(this.#number(deltas))()
  }

  async #commit(batch: readonly PendingFrame[]): Promise<Result<() => void>> {
    const refusal = await this.#startFileIfFull()
    if (refusal !== undefined) return refusal
    const frames = this.#number(batch)
    const { bytes, position, marks, reserved } = this.#seal(frames)
    const failure = await this.#batches.append(bytes)
    if (failure !== undefined) return failure
    const { file } = this.#opened
    this.#position = position
    this.#reserved = reserved
    file.grow(position.offset)
    for (const mark of marks) file.mark(mark)
    return ok(this.#publish(frames))
  }

  /** Numbers are not used again, even if the write fails. */
  #number(batch: readonly PendingFrame[]): NumberedFrame[] {
    return batch.map((pending) => {
      const entry = withSeq(pending.frame, this.#next)
      this.#next += 1
      return { pending, entry }
    })
  }

  /** The lines of the batch. The last one also reserves numbers if few are left. */
  #seal(frames: readonly NumberedFrame[]): SealedBatch {
    const { reserve } = this.#parts.settings
    const last = this.#next - 1
    const isShort = this.#reserved - last < reserve / 2
    const reserved = isShort ? last + reserve : this.#reserved
    const stored = frames.map(({ entry }) => entry).filter((entry) => !isDelta(entry))
    const contents = stored.map((entry, i): FrameLineContent =>
      isShort && i === stored.length - 1
        ? { kind: 'frame', entry, reserved }
        : { kind: 'frame', entry },
    )
    if (contents.length === 0) contents.push({ kind: 'reserved', reserved })
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
    return { bytes: Buffer.concat(pieces), position: { offset, n, seq }, marks, reserved }
  }

  async #startFileIfFull(): Promise<Failed | undefined> {
    const { shelf, settings, clock, messages, ids } = this.#parts
    const { file, begin, handle } = this.#opened
    const at = Math.floor(clock.now())
    if (!isFull(file, this.#position.offset - begin, at, settings)) return undefined
    const kept = keptFiles(shelf.files, at, at, settings)
    const unnamed = await writeStart(
      { folder: shelf.folder, ids, messages },
      { firstSeq: this.#next, reserved: Math.max(this.#reserved, this.#next - 1), at },
      kept,
    ).catch((error: unknown) => fileFailure(error, 'start a file of the frame log'))
    if (!('name' in unnamed)) return { ok: false, error: unnamed }
    try {
      this.#opened = await unnamed.name()
    } catch (error) {
      return this.#batches.stop(fileFailure(error, 'start a file of the frame log'))
    }
    this.#position = this.#opened.position
    this.#batches.continueIn(this.#opened.handle, this.#position.offset)
    const dropped = shelf.files.filter((other) => !kept.includes(other))
    shelf.files = [...kept, this.#opened.file]
    await ifPossible(handle.close())
    // What remains is removed when the log is opened again.
    for (const { name } of dropped) await ifPossible(ifThere(shelf.folder.remove(name)))
    return undefined
  }

  #publish(frames: readonly NumberedFrame[]): () => void {
    const { shelf, published } = this.#parts
    for (const { pending, entry } of frames) {
      pending.claim.keep(entry)
      shelf.memory.add(entry)
      shelf.newest = entry.seq
    }
    return () => {
      published(frames.map(({ entry }) => entry))
      for (const { pending, entry } of frames) pending.settle(ok({ seq: entry.seq }))
    }
  }
}

function stoppedBy(error: HawserError): HawserError {
  const message = `${error.message} The frame log accepts no more frames until it is reopened.`
  return { ...error, message }
}

interface NumberedFrame {
  readonly pending: PendingFrame
  readonly entry: NamedEntry
}

interface SealedBatch {
  readonly bytes: Buffer
  readonly position: FilePosition
  /** The positions after each line. */
  readonly marks: readonly FilePosition[]
  readonly reserved: number
}

function unset(): void {}
