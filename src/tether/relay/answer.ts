import { hideKey } from '../../encoding/hidden-key.ts'
import { parseJson, valuesWithin } from '../../encoding/json.ts'
import { jsonRedactor, SHORTEST_KEY, type Redactor } from '../../encoding/redaction.ts'
import { ServerSentEvents } from '../../encoding/server-sent-events.ts'
import type { UsageSource } from './rules.ts'

/** Response headers that a guest may see: what it needs to read the answer, wait, and name it in a report. */
const SHOWN_HEADERS = [
  'content-type',
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
] as const

/** The headers for the guest, without keys. Pure. */
export function shownHeaders(
  headers: { get(name: string): string | null },
  keys: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, hideKeys(value, keys)] as const]
    }),
  )
}

/** The body of an error for the guest: vendors repeat a wrong key, or parts of it. Pure. */
export function shownError(body: Buffer, keys: readonly string[]): Buffer {
  const text = body.toString('utf8')
  const value = parseJson(text)
  // Parsed, because a key may be escaped in JSON.
  const shown = value === undefined ? hideKeys(text, keys) : JSON.stringify(hideKeys(value, keys))
  return Buffer.from(shown)
}

/** Removes the keys from the bytes of answers as they arrive. */
export function redactorOf(keys: readonly string[]): Redactor {
  return jsonRedactor(keys.filter((key) => key.length >= SHORTEST_KEY))
}

function hideKeys<T>(value: T, keys: readonly string[]): T {
  return keys.reduce((shown, key) => hideKey(shown, key), value)
}

const LONGEST_JSON = 1024 * 1024
const MOST_VALUES = 20_000
const MENTION = '"usage"'

/** Reads the usage in an answer as it passes: a stream of events, or one JSON value. Keeps at most a few megabytes. */
export class UsageTap {
  readonly #reader: UsageSource
  readonly #events: ServerSentEvents | undefined
  #json: Buffer[] = []
  bytes = 0

  constructor(reader: UsageSource, contentType: string) {
    this.#reader = reader
    this.#events = /^\s*text\/event-stream\b/i.test(contentType)
      ? new ServerSentEvents()
      : undefined
  }

  get lastReport(): UsageSource['lastReport'] {
    return this.#reader.lastReport
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.#events === undefined) {
      if (this.bytes <= LONGEST_JSON) this.#json.push(chunk)
      return
    }
    for (const { data } of this.#events.push(chunk)) this.#read(data)
  }

  /** The answer is complete. */
  end(): void {
    if (this.#events === undefined && this.bytes <= LONGEST_JSON) {
      this.#read(Buffer.concat(this.#json).toString('utf8'))
    }
    this.#json = []
  }

  #read(data: string): void {
    if (!data.includes(MENTION) || !valuesWithin(data, MOST_VALUES)) return
    this.#reader.take(parseJson(data))
  }
}
