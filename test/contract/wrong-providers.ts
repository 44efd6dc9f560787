import { failed } from '../../src/model/errors.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import type { ProviderKind, ProviderUnderTest } from './provider.ts'

type Events = AsyncIterable<ProviderEvent>
type Send = ProviderUnderTest['send']

/** A bug of a provider, and the checks of the contract that must find it. */
export interface WrongProvider {
  readonly bug: string
  /** The beginnings of the titles of these checks. */
  readonly foundBy: readonly string[]
  readonly send: (send: Send) => Send
  /** The bug has an effect only if there is a connection between the provider and its model. */
  readonly wire?: true
}

export const WRONG_PROVIDERS: readonly WrongProvider[] = [
  {
    bug: 'returns events after its end',
    foundBy: ['returns deltas', 'returns a tool call once'],
    send: after(async function* (events) {
      yield* events
      yield { type: 'text_delta', text: 'and' }
    }),
  },
  {
    bug: 'ends twice',
    foundBy: ['returns deltas'],
    send: after(async function* (events) {
      for await (const event of events) {
        yield event
        if (event.type === 'done') yield event
      }
    }),
  },
  {
    bug: 'does not end',
    foundBy: ['returns deltas', 'reports a body that its model rejects'],
    send: after(async function* (events) {
      for await (const event of events) if (!isEnd(event)) yield event
    }),
  },
  {
    bug: 'omits the usage',
    foundBy: ['returns deltas'],
    send: after(async function* (events) {
      for await (const event of events) {
        yield event.type === 'done' ? { ...event, usage: UNUSED } : event
      }
    }),
  },
  {
    bug: 'counts more cached tokens than input tokens',
    foundBy: ['returns deltas'],
    send: after(async function* (events) {
      for await (const event of events) {
        if (event.type !== 'done') yield event
        else yield { ...event, usage: { ...event.usage, cached_read: event.usage.input + 1 } }
      }
    }),
  },
  {
    bug: 'returns an item before its text deltas',
    foundBy: ['returns deltas'],
    send: after(async function* (events) {
      const late: ProviderEvent[] = []
      for await (const event of events) {
        if (event.type === 'text_delta') late.push(event)
        else if (isEnd(event)) yield* [...late, event]
        else yield event
      }
    }),
  },
  {
    bug: 'loses a delta',
    foundBy: ['returns deltas'],
    send: after(async function* (events) {
      let lost = false
      for await (const event of events) {
        if (lost || event.type !== 'text_delta') yield event
        else lost = true
      }
    }),
  },
  {
    bug: 'returns a tool call twice',
    foundBy: ['returns a tool call once'],
    send: after(async function* (events) {
      for await (const event of events) {
        yield event
        if (isCall(event)) yield event
      }
    }),
  },
  {
    bug: 'ignores an interruption',
    foundBy: ['sends nothing if', 'ends with interrupted if'],
    send: (send) => (request) => send(request, new AbortController().signal),
  },
  {
    bug: 'notices an interruption only at its end',
    foundBy: ['ends with interrupted if'],
    send: (send) =>
      async function* (request, signal) {
        const late = signal.aborted ? signal : new AbortController().signal
        for await (const event of send(request, late)) {
          yield isEnd(event) && signal.aborted ? INTERRUPTED : event
        }
      },
  },
  {
    bug: 'throws instead of reporting an error',
    foundBy: ['sends nothing if', 'reports a body that its model rejects'],
    send: after(async function* (events) {
      for await (const event of events) {
        if (event.type === 'error') throw new Error(event.error.message)
        yield event
      }
    }),
  },
  {
    bug: 'reports every failure as a defect',
    foundBy: ['sends nothing if', 'reports a body that its model rejects'],
    send: after(async function* (events) {
      for await (const event of events) {
        if (event.type !== 'error') yield event
        else yield { type: 'error', error: { ...event.error, kind: 'internal' } }
      }
    }),
  },
  {
    bug: 'returns the rest of an abandoned answer in the next call',
    foundBy: ['allows its reader to stop early'],
    send: (send) => {
      const left: ProviderEvent[] = []
      return async function* (request, signal) {
        const events: ProviderEvent[] = []
        for await (const event of send(request, signal)) events.push(event)
        yield* left.splice(0)
        left.push(...events)
        for (const event of events) {
          left.shift()
          yield event
        }
      }
    },
  },
  {
    bug: 'reports done when an answer is cut',
    foundBy: ['returns no partial tool call', 'reports "closed"', 'reports unknown input'],
    wire: true,
    send: after(async function* (events) {
      for await (const event of events) {
        if (event.type !== 'error') yield event
        else
          yield { type: 'done', stop_reason: 'end_turn', usage: { ...UNUSED, input: 1, output: 1 } }
      }
    }),
  },
  {
    bug: 'returns a partial tool call when an answer is cut',
    foundBy: ['returns no partial tool call'],
    wire: true,
    send: after(async function* (events) {
      for await (const event of events) {
        if (event.type === 'error') yield PARTIAL_CALL
        yield event
      }
    }),
  },
  {
    bug: 'retries by itself when a server is overloaded',
    foundBy: ['reports {"status":503}', 'reports {"status":529}'],
    wire: true,
    send: (send) =>
      async function* (request, signal) {
        for await (const event of send(request, signal)) {
          yield event
          if (event.type === 'error' && event.error.kind === 'overloaded') {
            yield* send(request, signal)
          }
        }
      },
  },
]

/** The same kind of provider, with the bug. */
export function withBug(kind: ProviderKind, { send }: WrongProvider): ProviderKind {
  const { make, troubled } = kind
  const wrong = (one: ProviderUnderTest): ProviderUnderTest => ({ ...one, send: send(one.send) })
  return {
    ...kind,
    make: async () => wrong(await make()),
    ...(troubled && { troubled: async (trouble) => wrong(await troubled(trouble)) }),
  }
}

function after(change: (events: Events) => Events): WrongProvider['send'] {
  return (send) => (request, signal) => change(send(request, signal))
}

function isEnd({ type }: ProviderEvent): boolean {
  return type === 'done' || type === 'error'
}

function isCall(event: ProviderEvent): boolean {
  return event.type === 'item' && event.item.kind === 'tool_call'
}

const UNUSED = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 }

const INTERRUPTED: ProviderEvent = {
  type: 'error',
  error: failed('interrupted', 'Interrupted.').error,
}

const PARTIAL_CALL: ProviderEvent = {
  type: 'item',
  item: { kind: 'tool_call', call_id: 'call_1', name: 'read', arguments: '{"path":"no' },
}
