import { isJsonObject, parseJson } from '../../../src/encoding/json.ts'
import type { MessageStreams } from '../../../src/host/process/message-streams.ts'

/** The host's end of the streams of `hawser mcp`, in this process. */
export interface MessageHost {
  readonly streams: MessageStreams
  /** Writes a message, or a line as it is. */
  send(message: object | string): void
  /** Writes bytes that are not a whole line. */
  sendBytes(bytes: Buffer): void
  end(): void
  /** Resolves to the next message of the server that the condition holds for; earlier ones are skipped. */
  received(holds: (message: Readonly<Record<string, unknown>>) => boolean): Promise<RpcMessage>
  /** The answer to a request. */
  answer(id: number | string): Promise<RpcMessage>
  readonly messages: readonly RpcMessage[]
  readonly isHeld: boolean
}

export type RpcMessage = Readonly<Record<string, unknown>>

/** `written` delays each write until it resolves; false if the reader is gone. */
export function messageHost(written: () => Promise<boolean> = async () => true): MessageHost {
  let listener: Parameters<MessageStreams['listen']>[0] | undefined
  const messages: RpcMessage[] = []
  const waiting = new Set<() => void>()
  let holds = 0
  const received: MessageHost['received'] = async (matches) => {
    for (let at = 0; ; at++) {
      while (at >= messages.length) await new Promise<void>((resolve) => void waiting.add(resolve))
      const message = messages[at]
      if (message !== undefined && matches(message)) return message
    }
  }
  return {
    streams: {
      listen: (added) => {
        listener = added
      },
      hold: () => {
        holds += 1
        return () => {
          holds -= 1
        }
      },
      write: async (text) => {
        const isWritten = await written()
        const message = parseJson(text)
        if (isWritten && isJsonObject(message)) messages.push(message)
        for (const wake of waiting) wake()
        waiting.clear()
        return isWritten
      },
      release: () => {
        listener = undefined
      },
    },
    send: (message) => {
      const line = typeof message === 'string' ? message : JSON.stringify(message)
      listener?.piece(Buffer.from(`${line}\n`))
    },
    sendBytes: (bytes) => listener?.piece(bytes),
    end: () => listener?.end(),
    received,
    answer: (id) => received((message) => message['id'] === id),
    messages,
    get isHeld() {
      return holds > 0
    },
  }
}
