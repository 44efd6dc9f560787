import type { Clock } from '../../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { Frame, FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'
import type { TetherAddress } from '../../model/tether/tether-address.ts'
import { frameIn } from './frame-entry.ts'
import { FrameMemory } from './frame-memory.ts'
import {
  checkedQuery,
  MOST_LIMIT,
  MOST_WAIT_MS,
  type FrameFilter,
  type FramePage,
  type FrameQuery,
} from './frame-query.ts'
import {
  cursorBefore,
  framesAfter,
  framesBefore,
  type FoundFrames,
  type FrameShelf,
} from './frame-reader.ts'
import { FRAME_LOG_SETTINGS, type FrameLogSettings } from './frame-settings.ts'
import type { FrameRepair, FrameStore, OpenFrames } from './frame-store.ts'
import { FrameWaiters, PollPlaces } from './frame-waiters.ts'
import { FrameWriter } from './frame-writer.ts'
import { KnownMessages, type AppendedFrame } from './known-messages.ts'

export interface FrameLogParts {
  readonly store: FrameStore
  readonly instance: InstanceId
  readonly clock: Clock
  /** Shared by the logs of all Instances. */
  readonly places?: PollPlaces
  readonly settings?: FrameLogSettings
}

export interface PollOptions {
  /** At most 30,000; 0 by default. */
  readonly waitMs?: number
  /** Ends the wait with an empty page. */
  readonly signal?: AbortSignal
}

/** What a live stream delivers. */
export type LiveFrame =
  | { readonly kind: 'frame'; readonly frame: Frame }
  /** Deltas or frames above `after_seq`, up to `through_seq`, can no longer be read. */
  | {
      readonly kind: 'missing'
      readonly what: 'deltas' | 'frames'
      readonly after_seq: number
      readonly through_seq: number
    }
  /** The last item: the rest cannot be read. */
  | { readonly kind: 'failed'; readonly failure: Failed }

/** The frames of one Instance, see ADR 22. */
export class FrameLog {
  readonly #clock: Clock
  readonly #places: PollPlaces
  readonly #settings: FrameLogSettings
  readonly #shelf: FrameShelf
  readonly #messages: KnownMessages
  readonly #waiters: FrameWaiters
  readonly #writer: FrameWriter | undefined
  #closed = false

  private constructor(
    { clock, places = new PollPlaces(), settings = FRAME_LOG_SETTINGS }: FrameLogParts,
    frames: OpenFrames,
    memory: FrameMemory,
    messages: KnownMessages,
  ) {
    this.#clock = clock
    this.#places = places
    this.#settings = settings
    this.#messages = messages
    this.#waiters = new FrameWaiters(clock)
    const shelf = { frames, memory, newest: frames.lastReserved }
    this.#shelf = shelf
    const onPublish = this.#waiters.wake.bind(this.#waiters)
    this.#writer =
      frames.damage === undefined
        ? new FrameWriter({ shelf, messages, settings, onPublish })
        : undefined
  }

  /** Opens the log of an Instance, or creates it; fails if another process has it open. */
  static async open(parts: FrameLogParts): Promise<Result<FrameLog>> {
    const { store, instance, settings = FRAME_LOG_SETTINGS } = parts
    const messages = new KnownMessages(settings.messages)
    let memory = new FrameMemory(settings.memory, 0)
    const frames = await store.open(instance, {
      retention: settings,
      messages: () => messages,
      restore: {
        begin: (after) => {
          memory = new FrameMemory(settings.memory, after)
        },
        ended: (ended) => messages.restore(ended),
        message: (entry) => messages.read(entry),
        frame: (entry) => {
          messages.read(entry)
          memory.add(entry)
        },
      },
    })
    if (!frames.ok) return frames
    memory.forgetDeltas(frames.value.lastReserved)
    return ok(new FrameLog(parts, frames.value, memory, messages))
  }

  /** The torn tail that was cut off when the log was opened; its holder reports it. */
  get repair(): FrameRepair | undefined {
    return this.#shelf.frames.repair
  }

  /** Why frames after `newest` cannot be read, and none can be appended. */
  get damage(): Failed | undefined {
    return this.#shelf.frames.damage
  }

  /** The highest number that may have been issued. */
  get newest(): number {
    return this.#shelf.newest
  }

  get firstAvailable(): number {
    return this.#shelf.frames.firstAvailable
  }

  /**
   * Adds a frame. It resolves when the frame is durable and visible, a delta when it is visible. A repeated message is not
   * added again. An answer to a message that has ended or is unknown is refused.
   */
  append(frame: FrameToGuest | FrameToHost): Promise<Result<AppendedFrame>> {
    if (this.#writer === undefined) return Promise.resolve(this.damage ?? closedLog())
    return this.#writer.append(frame)
  }

  /** Messages without an end, in the order of their numbers. */
  pending(address?: TetherAddress): readonly Frame[] {
    return this.#messages.waiting.flatMap((entry) => {
      const isOther =
        address !== undefined && (entry.channel !== address.channel || entry.session !== address.id)
      return isOther ? [] : (frameIn(entry) ?? [])
    })
  }

  /** A page of frames. Only a query that reads forwards waits. */
  async poll(
    query: FrameQuery,
    { waitMs = 0, signal }: PollOptions = {},
  ): Promise<Result<FramePage>> {
    if (!(waitMs >= 0 && waitMs <= MOST_WAIT_MS))
      return failed('invalid_args', `wait_ms must be a number from 0 to ${MOST_WAIT_MS}.`)
    const checked = checkedQuery(query)
    if (!checked.ok) return checked
    const { limit } = checked.value
    if (checked.value.direction === 'backward')
      return this.#backwards(checked.value.before, query, limit)
    const after = checked.value.after ?? this.firstAvailable - 1
    const wrong = this.#wrongCursor(after)
    if (wrong !== undefined) return wrong
    const until = this.#clock.monotonicMs() + waitMs
    for (let from = after; ;) {
      const found = await this.#find(from, query, limit)
      if (!found.ok) return found
      const { frames, complete, examinedFrames } = found.value
      if (frames.length > 0) return this.#page(frames, frames.at(-1)?.seq ?? after)
      if (!complete) return this.#page([], examinedFrames)
      from = examinedFrames
      // From here to the start of the wait, nothing else runs: a frame is either seen here or wakes the wait.
      if (this.newest > examinedFrames) continue
      const ms = until - this.#clock.monotonicMs()
      if (waitMs === 0) return this.#page([], after)
      const isWoken =
        ms > 0 && !this.#closed && (await this.#wait({ filter: query, ms, signal, isPoll: true }))
      if (!isWoken) return this.#page([], after, true)
    }
  }

  /**
   * Frames above a cursor as they come. It ends when the signal is aborted or the log is closed. Nothing is queued for it: it
   * reads from its own position when the consumer asks.
   */
  follow(
    after_seq: number | undefined,
    filter: FrameFilter,
    signal: AbortSignal,
  ): Result<AsyncGenerator<LiveFrame, void, void>> {
    const after = after_seq ?? this.newest
    const checked = checkedQuery({ after_seq: after })
    if (!checked.ok) return checked
    return this.#wrongCursor(after) ?? ok(this.#live(after, filter, signal))
  }

  /** Waits for everything that was appended, releases all waiting readers, and unlocks the log. */
  async close(): Promise<void> {
    this.#closed = true
    this.#waiters.releaseAll()
    await this.#writer?.close()
    this.#waiters.releaseAll()
    await this.#shelf.frames.close()
  }

  async *#live(
    after: number,
    filter: FrameFilter,
    signal: AbortSignal,
  ): AsyncGenerator<LiveFrame, void, void> {
    let cursor = after
    while (!signal.aborted && !this.#closed) {
      const first = this.firstAvailable
      if (cursor < first - 1) {
        yield { kind: 'missing', what: 'frames', after_seq: cursor, through_seq: first - 1 }
        cursor = first - 1
      }
      const found = await this.#find(cursor, filter, MOST_LIMIT)
      if (!found.ok && found.error.kind === 'cursor_expired') continue
      if (!found.ok) {
        yield { kind: 'failed', failure: found }
        return
      }
      const { frames, examinedFrames, complete, forgottenDelta } = found.value
      const through_seq = Math.min(forgottenDelta, examinedFrames)
      if (through_seq > cursor && wantsDeltas(filter))
        yield { kind: 'missing', what: 'deltas', after_seq: cursor, through_seq }
      for (const frame of frames) yield { kind: 'frame', frame }
      cursor = examinedFrames
      if (complete && this.newest === cursor && !this.#closed)
        await this.#wait({ filter, signal, isPoll: false })
    }
  }

  #find(after: number, filter: FrameFilter, limit: number): Promise<Result<FoundFrames>> {
    return framesAfter(this.#shelf, after, filter, limit, this.#settings.queryBytes)
  }

  async #backwards(before: number, filter: FrameFilter, limit: number): Promise<Result<FramePage>> {
    const { queryBytes } = this.#settings
    const found = await framesBefore(this.#shelf, before, filter, limit, queryBytes)
    if (!found.ok) return found
    const { frames, examinedFrames, complete } = found.value
    return this.#page(frames, frames[0]?.seq ?? (complete ? before : examinedFrames))
  }

  #wait({ filter, ms, signal, isPoll }: WaitOptions): Promise<boolean> {
    const places = isPoll ? this.#places : undefined
    return this.#waiters.wait({ filter, ms, signal, places })
  }

  #wrongCursor(after: number): Failed | undefined {
    if (after <= this.newest) return cursorBefore(this.#shelf, after)
    const details = { cursor: after, newest_seq: this.newest }
    return failed('invalid_args', `No frame has the number ${after} yet.`, details)
  }

  #page(frames: readonly Frame[], next_seq: number, timed_out = false): Result<FramePage> {
    return ok({ frames, next_seq, timed_out, first_available_seq: this.firstAvailable })
  }
}

interface WaitOptions {
  readonly filter: FrameFilter
  readonly ms?: number
  readonly signal?: AbortSignal | undefined
  readonly isPoll: boolean
}

function wantsDeltas({ types }: FrameFilter): boolean {
  return types === undefined || types.some((type) => type.endsWith('.delta'))
}

function closedLog(): Failed {
  return failed('storage_failed', 'The frame log is not open.')
}
