import type { EventEnvelope } from '../../model/events/event.ts'

/** The numbers of Turns, counted from 1, of Events that are read in either direction. */
export class TurnNumbers {
  readonly #isBackward: boolean
  #number: number
  #turn: string | undefined

  /** `last`: Events are read backward, and this is the number of the last Turn. */
  constructor(last?: number) {
    this.#isBackward = last !== undefined
    this.#number = last ?? 0
  }

  /** Call it for every Event, in the order of reading. `undefined` for an Event outside of a Turn. */
  of({
    type,
    turn_id,
    data,
  }: Pick<EventEnvelope, 'type' | 'turn_id' | 'data'>): number | undefined {
    const starts = type === 'turn_started'
    if (this.#isBackward) {
      const own = turn_id === undefined || this.#number < 1 ? undefined : this.#number
      if (starts) this.#number -= 1
      return own
    }
    // Reading may begin with what is not inherited.
    const { turns } = type === 'session_fork' ? data : {}
    if (typeof turns === 'number') this.#number = Math.max(this.#number, turns)
    if (starts) {
      this.#number += 1
      this.#turn = turn_id
    }
    return turn_id !== undefined && turn_id === this.#turn ? this.#number : undefined
  }

  /** Whether no further Event can belong to this Turn. */
  isPast(turn: number): boolean {
    return this.#isBackward ? this.#number < turn : this.#number > turn
  }
}
