import { asResult, type Folder } from '../../host/files/files.ts'
import { timestamp, type Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import { causeOf, failed, ok, type HawserError, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'
import { MessageBook } from '../server/message-book.ts'
import type { FrameLog } from '../frames/frame-log.ts'
import type { FrameStore } from '../frames/frame-store.ts'
import type { PollPlaces } from '../frames/frame-waiters.ts'
import {
  type CancelFrame,
  GuestFrames,
  isDelta,
  isTerminal,
  type MessageFrame,
} from '../frames/guest-frames.ts'
import type { AppendedFrame } from '../frames/known-messages.ts'
import { RETRYABLE } from '../guest/retryable.ts'
import { ANSWERING, cancelledIn, cancelTarget, replacedBy, shownIn } from './waiting-messages.ts'
import { HeldLog } from './held-log.ts'
import { messageName } from '../frames/message-name.ts'
import { UnendedMark } from './unended-mark.ts'

export interface QueueParts {
  readonly id: InstanceId
  readonly frames: FrameStore
  /** `instances/unended`. */
  readonly unendedFolder: Folder
  /** An earlier server left messages that have not ended. */
  readonly isMarked: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly places: PollPlaces
  /** A guest is running, so the log stays open. */
  readonly isUsed: () => boolean
  /** A message has arrived or ended. */
  readonly onChange: () => void
  /** A guest has ended a message. */
  readonly onAnswer: () => void
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
  /** Called with what is thrown where no caller waits for it. */
  readonly onDefect: (error: unknown) => void
}

/** A stored frame, and what has to be sent to a running guest because of it. */
export interface QueuedFrame extends AppendedFrame {
  readonly deliver: readonly FrameToGuest[]
}

/**
 * The messages of an Instance: the frame log is their queue, so what is accepted is durable. Every message ends once, by its
 * guest or here.
 */
export class InstanceQueue {
  readonly #parts: QueueParts
  readonly #frames: GuestFrames
  readonly #mark: UnendedMark
  /** What the guest that runs was given. */
  #book = new MessageBook()
  /** Messages that were cancelled, and how they end if no guest ends them. */
  readonly #cancellations = new Map<
    string,
    { readonly cancel: CancelFrame; readonly kind: EndKind }
  >()
  /** Messages with an answer of which something was shown. */
  readonly #shownMessages = new Set<string>()
  readonly log: HeldLog

  constructor(parts: QueueParts) {
    const { id, frames, unendedFolder, isMarked, clock, ids, places, isUsed, onDefect } = parts
    this.#parts = parts
    this.#frames = new GuestFrames(clock, ids)
    this.#mark = new UnendedMark(unendedFolder, id, isMarked)
    this.log = new HeldLog({
      store: frames,
      instance: id,
      clock,
      places,
      isNeeded: () => isUsed() || this.isBusy,
      onOpen: (log) => this.#loadWaiting(log),
      closing: () => this.settle(),
      onDefect,
    })
  }

  /** Messages that have not ended, in the order of their arrival. Empty while the log is not open. */
  get waiting(): readonly MessageFrame[] {
    return messagesIn(this.log.current)
  }

  /** Messages have not ended, or may not have: after a failure, the log is closed for a moment. */
  get isBusy(): boolean {
    return this.log.current === undefined ? this.#mark.isSet : this.waiting.length > 0
  }

  /** The messages for the next guest. Those that were cancelled are not among them: they end now. */
  async book(): Promise<Result<MessageBook>> {
    const opened = await this.log.use(async () => ok(undefined))
    if (!opened.ok) return opened
    await this.endCancelled()
    for (const message of this.waiting) {
      this.#book.add(message)
      if (this.#shownMessages.has(messageName(message))) this.#book.noteShown(message)
    }
    return ok(this.#book)
  }

  /** Cancellations that a guest has to know of. */
  get cancels(): readonly CancelFrame[] {
    return [...this.#cancellations.values()].map(({ cancel }) => cancel)
  }

  /** Stores a frame for the guest. */
  accept(frame: FrameToGuest): Promise<Result<QueuedFrame>> {
    return asResult('store the frame', () => {
      if (frame.type === 'user.message') return this.#acceptMessage(frame)
      return frame.type === 'control.cancel' ? this.cancel(frame) : this.#acceptPing(frame)
    })
  }

  /** Stores a cancellation of the message that it names, or else of the oldest of its conversation. */
  async cancel(cancel: CancelFrame, kind: EndKind = 'interrupted'): Promise<Result<QueuedFrame>> {
    return this.#use(async (log) => {
      const target = cancelTarget(cancel, messagesIn(log))
      const exact = target === undefined ? cancel : { ...cancel, in_reply_to: target.msg_id }
      const stored = await log.append(exact)
      if (!stored.ok) return stored
      if (target !== undefined)
        this.#cancellations.set(messageName(target), { cancel: exact, kind })
      return ok({ ...stored.value, deliver: target === undefined ? [] : [exact] })
    })
  }

  /** A cancellation by the server itself. */
  cancelOf({ session, msg_id }: MessageFrame): CancelFrame {
    const { clock, ids } = this.#parts
    const envelope = { v: 1, ts: timestamp(clock), session, msg_id: ids.request() } as const
    return { ...envelope, type: 'control.cancel', in_reply_to: msg_id, payload: {} }
  }

  /** Stores a frame of the guest. Rejects if that fails: the guest must then be stopped. */
  async store(frame: FrameToHost): Promise<void> {
    const stored = await this.#use(async (log) => {
      const marked = isDelta(frame) ? await this.#noteShown(log, frame) : ok(undefined)
      return marked.ok ? log.append(frame) : marked
    })
    if (stored.ok) {
      if (!isTerminal(frame)) return
      this.#over(messageName({ ...frame, msg_id: frame.in_reply_to ?? '' }))
      return this.#parts.onAnswer()
    }
    // The server ended the message while the guest did.
    if (causeOf(stored.error)?.type === 'already_ended') return
    this.#parts.note({ event: 'frame_not_stored', type: frame.type, why: stored.error })
    // It thinks that the message has ended.
    this.#book = new MessageBook()
    if (stored.error.kind === 'storage_failed') this.log.reopen().catch(this.#parts.onDefect)
    throw new FrameNotStored(stored.error)
  }

  /** Ends messages here, because no guest will. */
  async end(messages: readonly MessageFrame[], kind: EndKind, message: string): Promise<void> {
    for (const one of messages) {
      const error = this.#frames.error({ to: one }, { kind, message, retryable: RETRYABLE[kind] })
      const stored = await this.#use((log) => log.append(error))
      if (stored.ok) {
        this.#book.add(one)
        this.#book.end(error)
        this.#over(messageName(one))
      } else if (causeOf(stored.error)?.type !== 'already_ended')
        this.#parts.note({ event: 'message_not_ended', why: stored.error })
    }
  }

  /** Messages that were cancelled and have no guest any more are not delivered again. */
  async endCancelled(): Promise<void> {
    for (const message of this.waiting) {
      const { kind } = this.#cancellations.get(messageName(message)) ?? {}
      if (kind !== undefined) await this.end([message], kind, ENDS[kind])
    }
  }

  /** Removes the mark if all messages have ended. */
  async settle(): Promise<void> {
    await this.#mark.clear(() => this.log.current === undefined || this.waiting.length > 0)
  }

  async close(): Promise<void> {
    await this.settle()
    await this.log.close()
  }

  #acceptMessage(message: MessageFrame): Promise<Result<QueuedFrame>> {
    return this.#mark.during(() =>
      this.#use(async (log) => {
        const stored = await log.append(message)
        if (!stored.ok) return stored
        if (stored.value.repeated === true) return ok({ ...stored.value, deliver: [] })
        const deliver: FrameToGuest[] = []
        const replaces = message.payload.when_busy === 'replace'
        // After the message: none is cancelled for one that was refused. A crash in between is repaired by `cancelledIn`.
        for (const one of replaces ? replacedBy(message, messagesIn(log)) : []) {
          const cancelled = await this.cancel(this.cancelOf(one))
          if (cancelled.ok) deliver.push(...cancelled.value.deliver)
        }
        this.#parts.onChange()
        return ok({ ...stored.value, deliver: [...deliver, message] })
      }),
    )
  }

  #acceptPing(frame: FrameToGuest): Promise<Result<QueuedFrame>> {
    return this.#use(async (log) => {
      const stored = await log.append(frame)
      return stored.ok ? ok({ ...stored.value, deliver: [frame] }) : stored
    })
  }

  #use<T>(work: (log: FrameLog) => Promise<Result<T>>): Promise<Result<T>> {
    return this.log.use(async (log) =>
      this.log.current === log ? work(log) : failed('storage_failed', 'The frame log was closed.'),
    )
  }

  /** Durable before the first piece of an answer is visible: its request must not be sent again then. */
  async #noteShown(log: FrameLog, { session, in_reply_to, turn_id }: FrameToHost) {
    const name = messageName({ session, msg_id: in_reply_to ?? '' })
    if (this.#shownMessages.has(name)) return ok(undefined)
    const message = messagesIn(log).find((one) => messageName(one) === name)
    if (message === undefined) return ok(undefined)
    this.#shownMessages.add(name)
    return log.append(this.#frames.presence({ to: message, turn: turn_id }, ANSWERING))
  }

  async #loadWaiting(log: FrameLog): Promise<void> {
    if (log.repair !== undefined) this.#parts.note({ event: 'frames_repaired', ...log.repair })
    const waiting = messagesIn(log)
    if (waiting.length === 0) return
    for (const message of await shownIn(log, waiting)) this.#shownMessages.add(messageName(message))
    for (const [message, cancel] of await cancelledIn(log, waiting))
      this.#cancellations.set(messageName(message), {
        cancel: cancel ?? this.cancelOf(message),
        kind: 'interrupted',
      })
  }

  #over(name: string): void {
    this.#cancellations.delete(name)
    this.#shownMessages.delete(name)
    this.#parts.onChange()
  }
}

/** How a message ends without a guest. */
export type EndKind = 'interrupted' | 'timeout' | 'wake_failed' | 'instance_disabled'

const ENDS: Readonly<Record<EndKind, string>> = {
  interrupted: 'The message was cancelled.',
  timeout: 'The message took too long.',
  wake_failed: 'The agent could not be started.',
  instance_disabled: 'The Instance was disabled.',
}

/** A frame of a guest could not be made durable. */
class FrameNotStored extends Error {
  readonly error: HawserError

  constructor(error: HawserError) {
    super(error.message)
    this.name = 'FrameNotStored'
    this.error = error
  }
}

function messagesIn(log: FrameLog | undefined): readonly MessageFrame[] {
  return (log?.pending() ?? []).flatMap((frame) => (frame.type === 'user.message' ? [frame] : []))
}
