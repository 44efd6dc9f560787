import type { EventDraft } from '../model/events/event.ts'

/** Texts that a person sends while a Turn runs. Each is recorded once, in the order they came. */
export class Steering {
  #texts: string[] = []
  #open = true

  /** False when the Turn listens no longer: then nothing was taken. */
  add(text: string): boolean {
    if (this.#open) this.#texts.push(text)
    return this.#open
  }

  /** What has to be recorded now. */
  take(): EventDraft[] {
    return this.#texts.splice(0).map(asSteering)
  }

  /** The same for the last time: from here on nothing is taken from a person. */
  end(): EventDraft[] {
    this.#open = false
    return this.take()
  }
}

function asSteering(text: string): EventDraft {
  return { type: 'user_message', data: { text, prompt_mode: 'string', steer: true } }
}
