import type { TurnId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { TetherAddress } from '../../model/tether/tether-address.ts'
import type { FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'
import {
  type CancelFrame,
  isDelta,
  isTerminal,
  type MessageFrame,
  type TerminalFrame,
} from '../frames/guest-frames.ts'
import { messageName } from '../frames/message-name.ts'

/** What to do with a frame of a guest. */
export type FrameVerdict =
  | { readonly verdict: 'pass' }
  /** It comes too late, and is ignored. */
  | { readonly verdict: 'drop'; readonly why: string }
  /** No guest of Hawser sends it. */
  | { readonly verdict: 'refuse'; readonly why: string }

interface Delivery {
  readonly frame: MessageFrame
  /** What is to interrupt it. */
  cancel?: CancelFrame
  turn?: TurnId
  /** Text of its answer was passed on. */
  isShown: boolean
  /** Frames about its state that were stored. */
  statuses: number
  ended: boolean
}

/** More of them are forgotten, the oldest first. */
const MOST_ENDED = 10_000
/** Pings without an answer. More are not sent. */
const MOST_PINGS = 1_000

/**
 * The messages of an Instance. It outlives its guests: what has not ended is delivered again to the next one. Each message ends
 * once, whatever its guests send.
 */
export class MessageBook {
  readonly #messages = new Map<string, Delivery>()
  readonly #turns = new Map<TurnId, Delivery>()
  readonly #pings = new Set<string>()
  #ended: string[] = []

  /** `accepted`: messages without an end that an earlier server accepted, and what cancels them, in their order. */
  constructor(accepted: readonly FrameToGuest[] = []) {
    for (const frame of accepted) this.add(frame)
  }

  /**
   * Whether the frame has to be sent: false for a message that was added before, for a ping while its answer is awaited, and if
   * there is nothing to cancel, or it is cancelled already.
   */
  add(frame: FrameToGuest): boolean {
    const key = messageName(frame)
    if (frame.type === 'control.ping') return this.#addPing(key)
    if (frame.type === 'control.cancel') return this.#addCancel(frame)
    if (this.#messages.has(key)) return false
    this.#messages.set(key, { frame, isShown: false, statuses: 0, ended: false })
    return true
  }

  /** Text of this message was shown by an earlier server. */
  noteShown(message: Pick<MessageFrame, 'session' | 'msg_id'>): void {
    const delivery = this.#messages.get(messageName(message))
    if (delivery !== undefined) delivery.isShown = true
  }

  /** Whether text of this message was shown. */
  isShown(message: Pick<MessageFrame, 'session' | 'msg_id'>): boolean {
    return this.#messages.get(messageName(message))?.isShown !== false
  }

  /** A guest that is gone answers no ping. */
  forgetPings(): void {
    this.#pings.clear()
  }

  /** The messages without an end, in the order in which they were added. */
  get unendedMessages(): readonly MessageFrame[] {
    return [...this.#messages.values()].flatMap(({ frame, ended }) => (ended ? [] : [frame]))
  }

  /** What the next guest gets: these messages, each followed by what cancels it. */
  get deliveries(): readonly FrameToGuest[] {
    return [...this.#messages.values()].flatMap(({ frame, cancel, ended }) => {
      if (ended) return []
      return cancel === undefined ? [frame] : [frame, { ...cancel, in_reply_to: frame.msg_id }]
    })
  }

  /** Whether a message has a Turn that has not ended. */
  get hasBegun(): boolean {
    return [...this.#messages.values()].some(({ turn, ended }) => turn !== undefined && !ended)
  }

  /** Judges a frame of the guest. One that ends its message and may pass ends it by `end`. */
  judge(frame: FrameToHost): FrameVerdict {
    const { in_reply_to, session, msg_id, turn_id } = frame
    if (in_reply_to === undefined) return refuse('it replies to no message')
    if (this.#messages.has(messageName({ session, msg_id })))
      return refuse('its id is that of a message')
    const key = messageName({ session, msg_id: in_reply_to })
    if (frame.type === 'status.pong')
      return this.#pings.delete(key) ? PASS : refuse('it replies to no ping')
    const delivery = this.#messages.get(key)
    if (delivery === undefined) return refuse('it replies to no message of its conversation')
    const named = this.#name(delivery, turn_id)
    if (named !== undefined) return named
    if (NEEDS_TURN.has(frame.type) && turn_id === undefined) return refuse('it names no Turn')
    if (isDelta(frame)) delivery.isShown = true
    if (!delivery.ended) return STATUS.has(frame.type) ? countStatus(delivery) : PASS
    return { verdict: 'drop', why: isTerminal(frame) ? 'a second end' : 'after the end' }
  }

  /** Notes the end of the message that the frame replies to. */
  end({ session, in_reply_to = '' }: TerminalFrame): void {
    const key = messageName({ session, msg_id: in_reply_to })
    const delivery = this.#messages.get(key)
    if (delivery !== undefined && !delivery.ended) this.#end(key, delivery)
  }

  #addPing(key: string): boolean {
    if (this.#pings.has(key) || this.#pings.size >= MOST_PINGS) return false
    this.#pings.add(key)
    return true
  }

  /** Cancels the message that it names, or the oldest of its conversation without an end. */
  #addCancel(cancel: CancelFrame): boolean {
    const { session, in_reply_to } = cancel
    const delivery =
      in_reply_to === undefined
        ? [...this.#messages.values()].find(
            ({ frame, ended }) => !ended && isSameAddress(frame.session, session),
          )
        : this.#messages.get(messageName({ session, msg_id: in_reply_to }))
    if (delivery === undefined || delivery.ended || delivery.cancel !== undefined) return false
    delivery.cancel = cancel
    return true
  }

  /** A message has one Turn, and a Turn one message. */
  #name(delivery: Delivery, turn: TurnId | undefined): FrameVerdict | undefined {
    if (turn === undefined) return undefined
    const owner = this.#turns.get(turn)
    if (owner !== undefined && owner !== delivery) return refuse('its Turn is of another message')
    if (delivery.turn !== undefined && delivery.turn !== turn)
      return refuse('its message has another Turn')
    delivery.turn = turn
    this.#turns.set(turn, delivery)
    return undefined
  }

  #end(key: string, delivery: Delivery): void {
    delivery.ended = true
    this.#ended.push(key)
    if (this.#ended.length <= MOST_ENDED) return
    for (const old of this.#ended.splice(0, MOST_ENDED / 2)) {
      const { turn } = this.#messages.get(old) ?? {}
      if (turn !== undefined) this.#turns.delete(turn)
      this.#messages.delete(old)
    }
  }
}

const PASS = { verdict: 'pass' } as const
const NEEDS_TURN: ReadonlySet<FrameToHost['type']> = new Set([
  'assistant.done',
  'assistant.delta',
  'reasoning.delta',
])

const STATUS: ReadonlySet<FrameToHost['type']> = new Set(['event.ack', 'status.presence'])

/** They are stored, and older frames are deleted for them: those of one message must not displace other messages. */
function countStatus(delivery: Delivery): FrameVerdict {
  delivery.statuses += 1
  if (delivery.statuses <= LIMITS.message_status_frames) return PASS
  return { verdict: 'drop', why: 'too many about one message' }
}

function refuse(why: string): FrameVerdict {
  return { verdict: 'refuse', why }
}

function isSameAddress(one: TetherAddress, other: TetherAddress): boolean {
  return one.channel === other.channel && one.id === other.id
}
