import type { Clock } from '../../host/clock.ts'
import {
  asResult,
  FileFailure,
  ifPossible,
  type File,
  type Folder,
} from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { Frame, FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'
import type { TetherAddress } from '../../model/tether/tether-address.ts'
import { frameIn } from './frame-entry.ts'
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
  firstAvailable,
  framesAfter,
  framesBefore,
  type FoundFrames,
  type FrameShelf,
} from './frame-reader.ts'
import { FRAME_LOG_SETTINGS, type FrameLogSettings } from './frame-settings.ts'
import { FrameWaiters, PollPlaces } from './frame-waiters.ts'
import { FrameWriter } from './frame-writer.ts'
import type { AppendedFrame, KnownMessages } from './known-messages.ts'
import { openFiles, type FrameRepair, type OpenedFiles } from './open-files.ts'

export interface FrameLogParts {
  /** `frames` in the folder of the Instance. */
  readonly folder: Folder
  readonly clock: Clock
  readonly ids: Pick<Ids, 'temporary'>
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

/** Never unlinked; only its lock matters. */
const LEASE = 'lease'

/** The frames of one Instance, see ADR 22. */
export class FrameLog {
  readonly #lease: File
  readonly #clock: Clock
  readonly #places: PollPlaces
  readonly #settings: FrameLogSettings
  readonly #shelf: FrameShelf
  readonly #messages: KnownMessages
  readonly #waiters: FrameWaiters
  readonly #writer: FrameWriter | undefined
  /** What was cut off when the log was opened. */
  readonly repaired: FrameRepair | undefined
  #closed = false

  private constructor(parts: FrameLogParts, lease: File, found: OpenedFiles) {
    const { folder, clock, ids } = parts
    const { files, memory, messages, reserved, opened, damage } = found
    this.#lease = lease
    this.#clock = clock
    this.#places = parts.places ?? new PollPlaces()
    this.#settings = parts.settings ?? FRAME_LOG_SETTINGS
    this.#messages = messages
    this.#waiters = new FrameWaiters(clock)
    this.repaired = found.repaired
    const shelf = { folder, files, memory, newest: reserved, damage }
    this.#shelf = shelf
    const published = this.#waiters.wake.bind(this.#waiters)
    const settings = this.#settings
    this.#writer =
      opened &&
      new FrameWriter({ shelf, messages, opened, reserved, settings, clock, ids, published })
  }

  /** Opens the log of an Instance, or creates it; fails if another process has it open. */
  static async open(parts: FrameLogParts): Promise<Result<FrameLog>> {
    return asResult('open the frame log', async () => {
      const lease = await parts.folder.open(LEASE, 'lease')
      try {
        if (!(await lease.tryLock())) throw new FileFailure('LOCK_HELD', 'the frame log is open')
        const settings = parts.settings ?? FRAME_LOG_SETTINGS
        return ok(new FrameLog(parts, lease, await openFiles({ ...parts, settings })))
      } catch (error) {
        await ifPossible(lease.close())
        throw error
      }
    })
  }

  /** Why frames after `newest` cannot be read, and none can be appended. */
  get damage(): Failed | undefined {
    return this.#shelf.damage
  }

  /** The highest number that may have been issued. */
  get newest(): number {
    return this.#shelf.newest
  }

  get firstAvailable(): number {
    return firstAvailable(this.#shelf)
  }

  /**
   * Adds a frame. It resolves when the frame is durable and visible, a delta when it is visible. A repeated message is not
   * added again. An answer to a message that has ended or is unknown is refused.
   */
  append(frame: FrameToGuest | FrameToHost): Promise<Result<AppendedFrame>> {
    if (this.#writer === undefined) return Promise.resolve(this.#shelf.damage ?? closedLog())
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
      const { frames, complete, examined } = found.value
      if (frames.length > 0) return this.#page(frames, frames.at(-1)?.seq ?? after)
      if (!complete) return this.#page([], examined)
      from = examined
      // From here to the start of the wait, nothing else runs: a frame is either seen here or wakes the wait.
      if (this.newest > examined) continue
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
    await ifPossible(this.#lease.close())
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
      const { frames, examined, complete, forgottenDelta } = found.value
      const through_seq = Math.min(forgottenDelta, examined)
      if (through_seq > cursor && wantsDeltas(filter))
        yield { kind: 'missing', what: 'deltas', after_seq: cursor, through_seq }
      for (const frame of frames) yield { kind: 'frame', frame }
      cursor = examined
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
    const { frames, examined, complete } = found.value
    return this.#page(frames, frames[0]?.seq ?? (complete ? before : examined))
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
