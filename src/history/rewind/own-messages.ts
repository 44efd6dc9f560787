import type { Descriptor } from '../../model/descriptor.ts'
import type { EventType, WholeEvent } from '../../model/events/event.ts'
import type { TurnId } from '../../model/ids.ts'

/** A message of a person that began a Turn. */
export interface OwnMessage {
  /** The number of its Turn, counted from 1. */
  readonly turn: number
  readonly turn_id: TurnId
  /** The number of the Event that began the Turn. */
  readonly seq: number
  readonly ts: string
  readonly text: string
  /** What was piped in with it. */
  readonly stdin?: string
  /** What was attached to it. */
  readonly resources: readonly Descriptor[]
}

/** The types of Events that `OwnMessages` reads. */
export const MESSAGE_EVENTS = [
  'session_fork',
  'turn_started',
  'user_message',
] as const satisfies readonly EventType[]

/** Finds the messages among the Events of a Session, which it takes in the order of their numbers. */
export class OwnMessages {
  #turns = 0
  #turn: WholeEvent<'turn_started'> | undefined

  get turns(): number {
    return this.#turns
  }

  /** Returns the message that this Event completes; text that is added to a running Turn is not one. */
  take(event: WholeEvent): OwnMessage | undefined {
    // If a parent is missing, reading begins with what is not inherited.
    if (event.type === 'session_fork') this.#turns = Math.max(this.#turns, event.data.turns ?? 0)
    if (event.type === 'turn_started') {
      this.#turns += 1
      this.#turn = event
    }
    const begun = this.#turn
    if (event.type !== 'user_message' || event.turn_id === undefined) return undefined
    if (begun?.turn_id !== event.turn_id || begun.data.purpose !== undefined) return undefined
    if (event.data.steer === true) return undefined
    const { text, piped, resources = [] } = event.data
    return {
      turn: this.#turns,
      turn_id: event.turn_id,
      seq: begun.seq,
      ts: event.ts,
      text,
      ...(piped === undefined ? {} : { stdin: piped }),
      resources,
    }
  }
}
