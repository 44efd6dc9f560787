import { shorten } from '../../encoding/quote.ts'
import { timestamp, type Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { TurnId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'

/** A frame by its type. */
export type FrameOf<Type extends (FrameToGuest | FrameToHost)['type']> = Extract<
  FrameToGuest | FrameToHost,
  { readonly type: Type }
>

export type MessageFrame = FrameOf<'user.message'>
export type CancelFrame = FrameOf<'control.cancel'>

/** A piece of an answer, as it is written; never stored. */
export type DeltaFrame = FrameOf<'assistant.delta' | 'reasoning.delta'>

export function isDelta<F extends { readonly type: string }>(
  frame: F,
): frame is F & Pick<DeltaFrame, 'type'> {
  return frame.type === 'assistant.delta' || frame.type === 'reasoning.delta'
}

/** The frame that ends the message that it replies to. */
export type TerminalFrame = FrameOf<'assistant.done' | 'error'>

export function isTerminal<F extends { readonly type: string }>(
  frame: F,
): frame is F & Pick<TerminalFrame, 'type'> {
  return frame.type === 'assistant.done' || frame.type === 'error'
}

/** What a frame replies to. */
export interface Reply {
  readonly to: FrameToGuest
  readonly turn?: TurnId | undefined
}

/** Builds the frames of a guest. Texts of any length must be cut by the caller, see `frameText`. */
export class GuestFrames {
  readonly #clock: Pick<Clock, 'now'>
  readonly #ids: Pick<Ids, 'request'>

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'request'>) {
    this.#clock = clock
    this.#ids = ids
  }

  ack(reply: Reply, status: string): FrameToHost {
    return { ...this.#envelope(reply), type: 'event.ack', payload: { status } }
  }

  presence(reply: Reply, state: string): FrameToHost {
    const payload = { state: shorten(state, LIMITS.frame_status_bytes) }
    return { ...this.#envelope(reply), type: 'status.presence', payload }
  }

  delta(reply: Reply, type: 'assistant.delta' | 'reasoning.delta', text: string): FrameToHost {
    return { ...this.#envelope(reply), type, payload: { text } }
  }

  done(reply: Reply, payload: FrameOf<'assistant.done'>['payload']): TerminalFrame {
    return { ...this.#envelope(reply), type: 'assistant.done', payload }
  }

  error(reply: Reply, error: FrameOf<'error'>['payload']): TerminalFrame {
    const payload = { ...error, message: shorten(error.message, LIMITS.frame_error_bytes) }
    return { ...this.#envelope(reply), type: 'error', payload }
  }

  pong(reply: Reply): FrameToHost {
    return { ...this.#envelope(reply), type: 'status.pong', payload: {} }
  }

  #envelope({ to, turn }: Reply) {
    const { channel, id } = to.session
    return {
      v: 1,
      ts: timestamp(this.#clock),
      session: { channel, id },
      msg_id: this.#ids.request(),
      ...definedFields({ turn_id: turn }),
      in_reply_to: to.msg_id,
    } as const
  }
}
