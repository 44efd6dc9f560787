import type { AnswerReader } from '../../../src/providers/answer-reader.ts'
import type { Provider, ProviderEvent } from '../../../src/providers/provider.ts'
import type { Parser } from './stream-cut-parser.ts'

/** Common mistakes with streams. Each must be found. */
export const PLANTED_PARSERS: Readonly<Record<string, (parser: Parser) => Parser>> = {
  call_at_first_delta: (parser) => ({
    ...parser,
    reader: () =>
      addEvent(parser.reader(), /"name":"write"/, {
        type: 'item',
        item: { kind: 'tool_call', call_id: 'call_write', name: 'write', arguments: '{}' },
      }),
  }),
  done_at_stop_reason: (parser) => ({
    ...parser,
    reader: () => addEvent(parser.reader(), LAST_BUT_ONE, DONE),
  }),
  event_at_line_end: (parser) => ({
    ...parser,
    frames: () => {
      const frames = parser.frames()
      return {
        push: (chunk) => frames.push(Buffer.from(latin(chunk).replaceAll('\n', '\n\n'), 'latin1')),
      }
    },
  }),
  text_by_chunk: (parser) => ({
    ...parser,
    frames: () => {
      const frames = parser.frames()
      return { push: (chunk) => frames.push(Buffer.from(Buffer.from(chunk).toString('utf8'))) }
    },
  }),
}

const DONE: ProviderEvent = {
  type: 'done',
  stop_reason: 'stop',
  usage: { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 },
}

/** The event after which only the end itself is missing. */
const LAST_BUT_ONE =
  /"stop_reason":"tool_use"|"finish_reason":"tool_calls"|output_item\.done","output_index":3/

function addEvent(reader: AnswerReader, at: RegExp, also: ProviderEvent): AnswerReader {
  return {
    get progress() {
      return reader.progress
    },
    take: (event) => [...reader.take(event), ...(at.test(event.data) ? [also] : [])],
  }
}

function latin(chunk: Uint8Array): string {
  return Buffer.from(chunk).toString('latin1')
}

/** Treats the end of a connection as the end of an answer. */
export function endIsDone(provider: Provider): Provider {
  return mapEvents(provider, (event) => (event.type === 'error' ? DONE : event))
}

/** Passes each event through `change`, whatever its source. */
export function mapEvents(
  provider: Provider,
  change: (event: ProviderEvent) => ProviderEvent,
): Provider {
  return {
    dialect: provider.dialect,
    encode: (items, surface, behind) => provider.encode(items, surface, behind),
    buildBody: (segments, options) => provider.buildBody(segments, options),
    async *stream(body, signal) {
      for await (const event of provider.stream(body, signal)) yield change(event)
    },
  }
}
