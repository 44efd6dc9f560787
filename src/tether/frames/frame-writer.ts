import { Batches, type BatchEntry } from '../../host/files/batches.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { Frame, type FrameToGuest, type FrameToHost } from '../../model/tether/frame.ts'
import {
  withSeq,
  withoutSeq,
  type FrameEntry,
  type NamedEntry,
  type UnnumberedFrame,
} from './frame-entry.ts'
import type { FrameShelf } from './frame-reader.ts'
import { FRAME_BATCH_BYTES, type FrameLogSettings } from './frame-settings.ts'
import type { FrameBatch } from './frame-store.ts'
import { isDelta } from './guest-frames.ts'
import type { AppendedFrame, MessageClaim, KnownMessages } from './known-messages.ts'

/** Everything in a line but its frame. */
const LINE_BYTES = 200

export interface FrameWriterParts {
  readonly shelf: FrameShelf
  readonly messages: KnownMessages
  readonly settings: FrameLogSettings
  /** Called with new frames when readers may see them. */
  readonly onPublish: (entries: readonly FrameEntry[]) => void
}

interface PendingFrame extends BatchEntry {
  readonly frame: UnnumberedFrame
  readonly claim: MessageClaim
  settle(result: Result<AppendedFrame>): void
}

/**
 * The only writer of a frame log, by the rules of `Batches`: a frame is visible and acknowledged when it is durable.
 * Deltas are not written; they are visible as soon as all frames before them are and their number is reserved.
 */
export class FrameWriter {
  readonly #parts: FrameWriterParts
  #next: number
  #reservedTo: number
  readonly #batches: Batches<PendingFrame>
  #closed = false

  constructor(parts: FrameWriterParts) {
    this.#parts = parts
    this.#next = parts.shelf.newest + 1
    this.#reservedTo = parts.shelf.frames.lastReserved
    this.#batches = new Batches({
      batchBytes: FRAME_BATCH_BYTES,
      commit: (batch) => this.#commit(batch),
      takeUnwritten: (queue) => this.#publishDeltas(queue),
      onRefused: ({ claim }) => claim.undo(),
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

  /** Waits for everything that was appended. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#batches.drain()
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
      ({ frame }, i) => !isDelta(frame.fields) || this.#next + i > this.#reservedTo,
    )
    const deltas = queue.splice(0, ready === -1 ? queue.length : ready)
    if (deltas.length > 0) this.#publish(this.#number(deltas))()
  }

  async #commit(pending: readonly PendingFrame[]): Promise<Result<() => void>> {
    const first = this.#next
    const frames = this.#number(pending)
    const batch = this.#batchOf(first, frames)
    const stored = await this.#parts.shelf.frames.append(batch)
    if (!stored.ok) return stored
    this.#reservedTo = batch.reserveTo ?? this.#reservedTo
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

  /** What is stored of these frames. It also reserves numbers if few are left. */
  #batchOf(first: number, frames: readonly NumberedFrame[]): FrameBatch {
    const { reserve } = this.#parts.settings
    const last = this.#next - 1
    const isShort = this.#reservedTo - last < reserve / 2
    const entries = frames.map(({ entry }) => entry).filter((entry) => !isDelta(entry))
    return isShort ? { first, entries, reserveTo: last + reserve } : { first, entries }
  }

  #publish(frames: readonly NumberedFrame[]): () => void {
    const { shelf, onPublish } = this.#parts
    for (const { pending, entry } of frames) {
      pending.claim.keep(entry)
      shelf.memory.add(entry)
      shelf.newest = entry.seq
    }
    return () => {
      onPublish(frames.map(({ entry }) => entry))
      for (const { pending, entry } of frames) pending.settle(ok({ seq: entry.seq }))
    }
  }
}

interface NumberedFrame {
  readonly pending: PendingFrame
  readonly entry: NamedEntry
}

function unset(): void {}
