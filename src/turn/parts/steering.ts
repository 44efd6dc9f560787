import type { EventDraft } from '../../model/events/event.ts'

/** Texts that a person sends while a Turn runs. Each is recorded once, in order. */
export class Steering {
  #texts: string[] = []
  #open = true

  /** Returns false if the Turn accepts no more text; the text is discarded then. */
  add(text: string): boolean {
    if (this.#open) this.#texts.push(text)
    return this.#open
  }

  /** Withdraws a text that is not recorded yet. Returns false if there is none. */
  withdraw(text: string): boolean {
    const at = this.#texts.lastIndexOf(text)
    if (at === -1) return false
    this.#texts.splice(at, 1)
    return true
  }

  /** The texts to record now. */
  take(): EventDraft[] {
    return this.#texts.splice(0).map(asSteering)
  }

  /** Like `take`, but for the last time: later texts are refused. */
  end(): EventDraft[] {
    this.#open = false
    return this.take()
  }
}

function asSteering(text: string): EventDraft {
  return { type: 'user_message', data: { text, prompt_mode: 'string', steer: true } }
}
