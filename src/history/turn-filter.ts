import { failed, ok, type Result } from '../model/errors.ts'
import type { EventEnvelope } from '../model/events/event.ts'
import { TurnId } from '../model/ids.ts'

/** Passes the Events of one Turn, by its id or its number from 1; without a name, every Event. */
export class TurnFilter {
  readonly #number: number | undefined
  #turn: string | undefined
  #turns = 0
  #wasFound = false
  #over = false

  private constructor(turn: string | undefined, number: number | undefined) {
    this.#turn = turn
    this.#number = number
  }

  static of(named: string | undefined): Result<TurnFilter> {
    if (named === undefined) return ok(new TurnFilter(undefined, undefined))
    if (TurnId.safeParse(named).success) return ok(new TurnFilter(named, undefined))
    if (/^[1-9]\d{0,8}$/.test(named)) return ok(new TurnFilter(undefined, Number(named)))
    return failed('invalid_args', 'Invalid Turn: expected its id, or its number, starting at 1.')
  }

  /** Call it for every Event, in Log order. */
  take({ type, turn_id }: EventEnvelope): boolean {
    if (type === 'turn_started') {
      this.#turns += 1
      if (this.#turns === this.#number) this.#turn = turn_id
    }
    if (this.#turn === undefined) return this.#number === undefined
    if (turn_id !== this.#turn) return false
    this.#wasFound = true
    this.#over = type === 'turn_ended'
    return true
  }

  /** The Turn has ended: none of its Events follow. */
  get over(): boolean {
    return this.#over
  }

  /** The number of Turns, if the named one does not exist. */
  get missing(): { readonly turns: number } | undefined {
    const named = this.#turn !== undefined || this.#number !== undefined
    return named && !this.#wasFound ? { turns: this.#turns } : undefined
  }
}
