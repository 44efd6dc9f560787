import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'

/** Reads the Events of a Session, and fails unless they come in order. */
export class EventReader {
  readonly delays: number[] = []
  /** The number of the next Event. */
  next = 0
  /** Of Turns. */
  ends = 0
  readonly #response: IncomingMessage
  #rest = ''

  constructor(response: IncomingMessage) {
    this.#response = response
    const opened = Date.now()
    response.setEncoding('utf8').on('data', (piece: string) => {
      const now = Date.now()
      const messages = `${this.#rest}${piece}`.split('\n\n')
      this.#rest = messages.pop() ?? ''
      for (const message of messages) this.#take(message, opened, now)
      response.emit('taken')
    })
  }

  async untilEnds(ends: number): Promise<void> {
    while (this.ends < ends) await once(this.#response, 'taken')
  }

  stop(): void {
    this.#response.destroy()
  }

  #take(message: string, opened: number, now: number): void {
    if (message.startsWith('event: resync')) throw new Error('a reader was dropped')
    const id = /^id: (\d+)$/m.exec(message)?.[1]
    if (id === undefined) return
    if (Number(id) !== this.next) throw new Error(`Event ${id} instead of ${this.next}`)
    this.next += 1
    if (message.includes('event: process:exit')) this.ends += 1
    const appended = Date.parse(/"ts":"([^"]+)"\}$/m.exec(message)?.[1] ?? '')
    if (Number.isNaN(appended)) throw new Error(`no time: ${message}`)
    // Those from before are not delivered when they are appended.
    if (appended >= opened) this.delays.push(Math.max(0, now - appended))
  }
}
