import { shorten } from '../../encoding/quote.ts'
import type { RedactedStream, Redactor } from '../../encoding/redaction.ts'
import type { Ids } from '../../host/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { FrameToHost } from '../../model/tether/frame.ts'
import { isDelta, isTerminal, type DeltaFrame, type TerminalFrame } from '../frames/guest-frames.ts'

interface Stream {
  readonly text: RedactedStream<string>
  readonly last: DeltaFrame
}

const DELTAS = ['assistant.delta', 'reasoning.delta'] as const

/**
 * Redacts the frames of a guest, which knows no key. The deltas of one answer are a stream, because a key may be split over any
 * number of them; held-back text follows as one more delta before the answer ends. The guest also cuts long texts without
 * knowing where a key is.
 */
export class RedactedFrames {
  readonly #redactor: Redactor
  readonly #ids: Pick<Ids, 'request'>
  readonly #pass: (frame: FrameToHost) => Promise<void>
  readonly #streams = new Map<string, Stream>()

  constructor(
    redactor: Redactor,
    ids: Pick<Ids, 'request'>,
    pass: (frame: FrameToHost) => Promise<void>,
  ) {
    this.#redactor = redactor
    this.#ids = ids
    this.#pass = pass
  }

  /** Frames must be taken one after the other. Rejects as `pass` does. */
  async take(frame: FrameToHost): Promise<void> {
    if (this.#redactor.keys.length === 0) return this.#pass(frame)
    if (isDelta(frame)) return this.#takeDelta(frame)
    if (isTerminal(frame)) await this.#endStreams(frame)
    await this.#pass(this.#redactFrame(frame))
  }

  async #takeDelta(delta: DeltaFrame): Promise<void> {
    const name = streamOf(delta, delta.type)
    const text = this.#streams.get(name)?.text ?? this.#redactor.textStream()
    this.#streams.set(name, { text, last: delta })
    await this.#passText(delta, text.push(delta.payload.text))
  }

  async #endStreams(end: TerminalFrame): Promise<void> {
    const isWhole = end.type === 'assistant.done' && end.payload.status === 'completed'
    for (const type of DELTAS) {
      const name = streamOf(end, type)
      const stream = this.#streams.get(name)
      this.#streams.delete(name)
      if (stream === undefined) continue
      const msg_id = this.#ids.request()
      await this.#passText({ ...stream.last, msg_id }, stream.text.end(!isWhole))
    }
  }

  async #passText(delta: DeltaFrame, text: string): Promise<void> {
    if (text !== '') await this.#pass({ ...delta, payload: { text } })
  }

  #redactFrame(frame: FrameToHost): FrameToHost {
    const clean = this.#redactor.value(frame)
    switch (clean.type) {
      case 'assistant.done': {
        const { text, truncated, notices } = clean.payload
        const end = truncated === true ? { text: this.#redactor.cutText(text) } : {}
        return { ...clean, payload: { ...clean.payload, ...end, ...this.#notices(notices) } }
      }
      case 'error': {
        const message = this.#redactor.cutText(clean.payload.message)
        const notices = this.#notices(clean.payload.notices)
        return { ...clean, payload: { ...clean.payload, message, ...notices } }
      }
      case 'status.presence':
        return { ...clean, payload: { state: this.#redactor.cutText(clean.payload.state) } }
      case 'event.ack':
      case 'assistant.delta':
      case 'reasoning.delta':
      case 'status.pong':
        return clean
      default:
        return clean satisfies never
    }
  }

  #notices(notices: TerminalFrame['payload']['notices']) {
    if (notices === undefined) return {}
    // A placeholder may be longer than what it replaces.
    const within = (text: string) =>
      shorten(this.#redactor.cutText(text), LIMITS.frame_notice_bytes)
    return {
      notices: notices.map(({ code, text }) => ({ code: within(code), text: within(text) })),
    }
  }
}

function streamOf({ session, in_reply_to }: FrameToHost, type: DeltaFrame['type']): string {
  return JSON.stringify([type, session.channel, session.id, in_reply_to])
}
