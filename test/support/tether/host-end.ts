import type { Duplex } from 'node:stream'
import type { FrameToGuest, FrameToHost } from '../../../src/model/tether/frame.ts'
import type { TerminalFrame } from '../../../src/tether/frames/guest-frames.ts'
import { LineToHost } from '../../../src/model/tether/guest-line.ts'
import { LineWriter } from '../../../src/tether/frames/line-writer.ts'
import { readLines } from '../../../src/tether/frames/read-lines.ts'

type MessagePayload = Extract<FrameToGuest, { type: 'user.message' }>['payload']

/** The server's end of the frames of a guest: sends lines, and keeps what the guest sends. */
export class HostEnd {
  readonly lines: LineToHost[] = []
  readonly closed: Promise<void>
  readonly #writer: LineWriter
  readonly #waiting = new Set<() => void>()

  constructor(socket: Duplex) {
    this.#writer = new LineWriter(socket)
    this.closed = this.#read(socket)
  }

  write(line: object): void {
    this.#writer.write(line)
  }

  end(): Promise<void> {
    return this.#writer.end()
  }

  message(msg_id: string, payload: MessagePayload, id = 'default'): void {
    this.write({ ...envelope(msg_id, id), type: 'user.message', payload })
  }

  cancel(msg_id: string, in_reply_to?: string): void {
    const named = in_reply_to === undefined ? {} : { in_reply_to }
    this.write({ ...envelope(msg_id, 'default'), ...named, type: 'control.cancel', payload: {} })
  }

  ping(msg_id: string): void {
    this.write({ ...envelope(msg_id, 'default'), type: 'control.ping', payload: {} })
  }

  /** The frames that reply to a message. */
  replies(msg_id: string): FrameToHost[] {
    return this.lines.flatMap((line) =>
      isOutgoing(line) && line.in_reply_to === msg_id ? [line] : [],
    )
  }

  ends(msg_id: string): TerminalFrame[] {
    return this.replies(msg_id).filter(isTerminal)
  }

  /** The first terminal frame of a message. */
  async ended(msg_id: string): Promise<TerminalFrame> {
    await this.until(() => this.ends(msg_id).length > 0)
    const [end] = this.ends(msg_id)
    if (end === undefined) throw new Error('no end')
    return end
  }

  /** Sends a message and waits for its end. */
  async say(msg_id: string, payload: MessagePayload, id = 'default'): Promise<TerminalFrame> {
    this.message(msg_id, payload, id)
    return this.ended(msg_id)
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!holds()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      void this.closed.then(() => reject(new Error(`closed after ${JSON.stringify(this.lines)}`)))
      look()
    })
  }

  async #read(socket: Duplex): Promise<void> {
    for await (const read of readLines(socket)) {
      if (!('value' in read)) throw new Error(`the guest sent a line that is ${read.fault}`)
      this.lines.push(LineToHost.parse(read.value))
      for (const look of this.#waiting) look()
    }
  }
}

export function envelope(msg_id: string, id: string) {
  return { v: 1, ts: '2026-11-17T10:00:00.000Z', session: { channel: 'host', id }, msg_id } as const
}

function isOutgoing(line: LineToHost): line is FrameToHost {
  return line.type !== 'guest.ready'
}

function isTerminal(frame: FrameToHost): frame is TerminalFrame {
  return frame.type === 'assistant.done' || frame.type === 'error'
}
