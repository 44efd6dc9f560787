import { isUtf8 } from 'node:buffer'
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import type { Clock } from '../../host/clock.ts'
import type { MessageStreams } from '../../host/process/message-streams.ts'
import { depthWithin, isJsonObject, parseJson } from '../../encoding/json.ts'
import { LIMITS } from '../../model/limits.ts'
import { idAtEnds, MessageLines } from './message-lines.ts'

const HOLD_BYTES = 96 * 1024 * 1024
/** How long requests may take to end after the input ended. A busy machine needs seconds for 40 MiB of images. */
const LAST_ANSWERS_MS = 30_000

export interface LineTransportParts {
  readonly streams: MessageStreams
  readonly clock: Clock
  /** Called when the input has ended, or the reader of the output is gone. */
  readonly onEnding: () => void
  /** While more than this waits for the reader of the output, no input is read. */
  readonly holdBytes?: number
}

/**
 * Messages as lines of JSON. A line that is not a message is answered by an error, and the connection continues. At the end of
 * the input, requests that were read are still answered, if they end soon.
 */
export class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Resolves when the connection is closed and all output was written. */
  readonly closed: Promise<void>

  readonly #parts: LineTransportParts
  readonly #lines = new MessageLines(LIMITS.mcp_message_bytes)
  readonly #openRequests = new Set<RequestId>()
  #resolveClosed = () => {}
  #bufferedBytes = 0
  #writing: Promise<unknown> = Promise.resolve()
  #isEnding = false
  #isClosed = false
  #stopTimer: (() => void) | undefined

  constructor(parts: LineTransportParts) {
    this.#parts = parts
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
  }

  async start(): Promise<void> {
    this.#parts.streams.listen({
      piece: (bytes) => this.#read(bytes),
      end: () => this.end(),
    })
  }

  /** Answers what was read, as far as it ends soon, and closes. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#parts.onEnding()
    this.#stopTimer = this.#parts.clock.after(LAST_ANSWERS_MS, () => void this.close())
    this.#closeIfAnswered()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const written = await this.#write(message)
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      if (message.id !== undefined) this.#openRequests.delete(message.id)
    }
    if (written) this.#closeIfAnswered()
    else await this.close()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#isEnding = true
    this.#stopTimer?.()
    this.onclose?.()
    await this.#writing
    this.#resolveClosed()
  }

  #closeIfAnswered(): void {
    if (this.#isEnding && this.#openRequests.size === 0) void this.close()
  }

  #read(bytes: Buffer): void {
    for (const read of this.#lines.push(bytes)) {
      if ('line' in read) this.#take(read.line)
      else this.#refuse(TOO_LONG, idAtEnds(read.overlong.head, read.overlong.tail))
    }
  }

  #take(line: Buffer): void {
    if (line.length === 0 || (line.length === 1 && line[0] === CARRIAGE_RETURN)) return
    const value = isUtf8(line) ? parseJson(line.toString('utf8')) : undefined
    if (value === undefined) {
      this.#refuse(NOT_JSON)
      return
    }
    const message = depthWithin(value, LIMITS.event_depth) ? messageOf(value) : undefined
    if (message === undefined) {
      this.#refuse(NOT_A_MESSAGE, isJsonObject(value) ? idOf(value['id']) : undefined)
      return
    }
    if (isJSONRPCRequest(message)) this.#openRequests.add(message.id)
    // A request that was cancelled is not answered.
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const id = idOf(message.params?.['requestId'])
      if (id !== undefined) this.#openRequests.delete(id)
    }
    this.onmessage?.(message)
  }

  #refuse(error: { readonly code: number; readonly message: string }, id?: RequestId): void {
    this.onerror?.(new Error(error.message))
    void this.#write({ jsonrpc: '2.0', id: id ?? null, error })
  }

  /** False if the reader is gone. Lines are written in the order of the calls. */
  async #write(message: object): Promise<boolean> {
    if (this.#isClosed) return false
    const text = `${JSON.stringify(message)}\n`
    this.#bufferedBytes += text.length
    const { streams, holdBytes = HOLD_BYTES } = this.#parts
    const release = this.#bufferedBytes > holdBytes ? streams.hold() : undefined
    const writing = streams.write(text)
    this.#writing = Promise.all([this.#writing, writing])
    const written = await writing
    this.#bufferedBytes -= text.length
    release?.()
    return written
  }
}

const CARRIAGE_RETURN = 13
const TOO_LONG = {
  code: ProtocolErrorCode.InvalidRequest,
  message: `The message exceeds ${LIMITS.mcp_message_bytes} bytes. Send fewer or smaller images.`,
}
const NOT_JSON = { code: ProtocolErrorCode.ParseError, message: 'The line is not JSON in UTF-8.' }
const NOT_A_MESSAGE = {
  code: ProtocolErrorCode.InvalidRequest,
  message: 'The line is not a JSON-RPC message.',
}

function messageOf(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value)
  } catch {
    return undefined
  }
}

function idOf(value: unknown): RequestId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}
