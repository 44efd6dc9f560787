import { sha256 } from '../../encoding/hash.ts'
import { failed, ok, type Result, withCause } from '../../model/errors.ts'
import type { NamedEntry, UnnumberedFrame } from './frame-entry.ts'
import { isTerminal } from './guest-frames.ts'

/** The number of a frame in the log. */
export interface AppendedFrame {
  readonly seq: number
  /** The message had been stored before; `seq` is the number of the first. */
  readonly repeated?: true
}

/** What appending a frame would change about messages. */
export interface MessageClaim {
  /** The frame is durable. */
  keep(entry: NamedEntry): void
  /** The frame was not stored. */
  undo(): void
}

/** Bounds of what is remembered. */
export interface MessageBounds {
  /** Messages that have ended; the oldest are forgotten. */
  readonly ended: number
  /** Messages that have not ended, and characters of their JSON text; more are refused. */
  readonly waiting: number
  readonly waitingCharacters: number
}

interface OpenMessage {
  readonly entry: NamedEntry
  /** Its end is being written. */
  ending: boolean
}

const NOTHING: MessageClaim = { keep: () => {}, undo: () => {} }

/**
 * The messages of a frame log. A message is stored once and ends once: both are decided here, before anything is written, so
 * that two frames that arrive at the same time cannot both win.
 */
export class KnownMessages {
  readonly #bounds: MessageBounds
  readonly #arriving = new Map<string, Promise<Result<AppendedFrame>>>()
  readonly #waiting = new Map<string, OpenMessage>()
  /** The number of each by its key, in the order of their ends. */
  readonly #ended = new Map<string, number>()
  #characters = 0
  #arrivingCharacters = 0

  constructor(bounds: MessageBounds) {
    this.#bounds = bounds
  }

  /** The result of a message that was stored before, or is being stored. */
  earlier({ fields }: UnnumberedFrame): Promise<Result<AppendedFrame>> | undefined {
    if (fields.type !== 'user.message') return undefined
    const key = messageHash(fields, fields.msgId)
    const arriving = this.#arriving.get(key)
    if (arriving !== undefined) return arriving.then(asRepeat)
    const seq = this.#waiting.get(key)?.entry.seq ?? this.#ended.get(key)
    return seq === undefined ? undefined : Promise.resolve(ok({ seq, repeated: true }))
  }

  /** Refuses a frame that must not be stored. Call `earlier` first. `storing` is the result of storing it. */
  claim(frame: UnnumberedFrame, storing: Promise<Result<AppendedFrame>>): Result<MessageClaim> {
    if (frame.fields.type === 'user.message') return this.#arrive(frame, storing)
    if (isTerminal(frame.fields)) return this.#end(frame)
    return ok(NOTHING)
  }

  /** Messages without an end, in the order of their numbers. */
  get waiting(): readonly NamedEntry[] {
    return [...this.#waiting.values()].map(({ entry }) => entry)
  }

  /** Messages that have ended. */
  get ended(): readonly (readonly [string, number])[] {
    return [...this.#ended]
  }

  /** Restores what the start of a file says. */
  restore(ended: readonly (readonly [string, number])[]): void {
    for (const [key, seq] of ended) this.#ended.set(key, seq)
  }

  /** Takes a stored frame into account. */
  read(entry: NamedEntry): void {
    if (entry.type === 'user.message') this.#wait(messageHash(entry, entry.msgId), entry)
    else if (isTerminal(entry) && entry.replyTo !== undefined)
      this.#finish(messageHash(entry, entry.replyTo))
  }

  #arrive({ fields, body }: UnnumberedFrame, storing: Promise<Result<AppendedFrame>>) {
    const { waiting, waitingCharacters } = this.#bounds
    const key = messageHash(fields, fields.msgId)
    const count = this.#waiting.size + this.#arriving.size
    const characters = this.#characters + this.#arrivingCharacters + body.length
    if (count >= waiting || characters > waitingCharacters)
      return failed('backpressure', 'Too many messages of this Instance have not ended yet.', {
        waiting: count,
      })
    this.#arriving.set(key, storing)
    this.#arrivingCharacters += body.length
    const undo = () => {
      this.#arriving.delete(key)
      this.#arrivingCharacters -= body.length
    }
    const keep = (entry: NamedEntry) => {
      undo()
      this.#wait(key, entry)
    }
    return ok({ keep, undo })
  }

  #end({ fields }: UnnumberedFrame): Result<MessageClaim> {
    if (fields.replyTo === undefined)
      return failed('invalid_args', 'An answer must name the message that it replies to.')
    const key = messageHash(fields, fields.replyTo)
    const message = this.#waiting.get(key)
    const details = { in_reply_to: fields.replyTo }
    if (message?.ending === true || this.#ended.has(key))
      return withCause(failed('invalid_args', 'The message has already ended.', details), {
        type: 'already_ended',
      })
    if (message === undefined)
      return failed('not_found', 'The message of this answer is unknown.', details)
    message.ending = true
    const undo = () => {
      message.ending = false
    }
    return ok({ keep: () => this.#finish(key), undo })
  }

  #wait(key: string, entry: NamedEntry): void {
    this.#waiting.set(key, { entry, ending: false })
    this.#characters += entry.text.length
  }

  #finish(key: string): void {
    const message = this.#waiting.get(key)
    if (message === undefined) return
    this.#waiting.delete(key)
    this.#characters -= message.entry.text.length
    this.#ended.set(key, message.entry.seq)
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= this.#bounds.ended) return
      this.#ended.delete(oldest)
    }
  }
}

function asRepeat(result: Result<AppendedFrame>): Result<AppendedFrame> {
  return result.ok ? ok({ seq: result.value.seq, repeated: true }) : result
}

/** Names of any length and content become keys of 96 bits. */
function messageHash(
  { channel, session }: Pick<NamedEntry, 'channel' | 'session'>,
  msgId: string,
): string {
  const hash = sha256(JSON.stringify([channel, session, msgId]))
  // A copy: a part of a string keeps all of it.
  return Buffer.from(hash.slice(0, 24), 'latin1').toString('latin1')
}
