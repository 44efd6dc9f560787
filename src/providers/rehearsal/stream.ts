import { runningSha256 } from '../../encoding/hash.ts'
import { canonicalJson } from '../../encoding/json.ts'
import { systemClock } from '../../host/clock.ts'
import { wait } from '../../host/wait.ts'
import { failed } from '../../model/errors.ts'
import type { Describe } from '../../model/description.ts'
import type { AnswerItem, CallUsage, Provider, ProviderEvent } from '../provider.ts'
import type { Thought } from './brain.ts'
import { encode, frame } from './encode.ts'

interface RehearsalOptions {
  /** Characters per delta, at least 1. */
  readonly chunk: number
  /** The delay before every delta. */
  readonly delayMs: number
  /** Waits; ends early, and without an error, when the signal is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** Looks at the bytes that a request shows; without it, the model says that it cannot. */
  readonly describe?: Describe
}

/** The rehearsal model as a Provider: it uses only the body and time. */
export function rehearsalProvider({
  chunk,
  delayMs,
  sleep = (ms, signal) => wait(systemClock, ms, signal),
  describe,
}: RehearsalOptions): Provider {
  return { dialect: 'rehearsal', encode, buildBody: frame, stream }

  async function* stream(
    body: Buffer,
    signal: AbortSignal,
  ): AsyncGenerator<ProviderEvent, void, void> {
    // The rules of the model are large, so they are loaded with the first request.
    const [{ rehearsalBrain }, { readRequest }] = await Promise.all([
      import('./rehearsal-brain.ts'),
      import('./schema.ts'),
    ])
    const request = readRequest(body)
    if (!request.ok) {
      yield { type: 'error', error: request.error }
      return
    }
    const thought = await unlessAborted(() => rehearsalBrain(describe)(request.value), signal)
    if (thought === undefined) {
      yield interruptedCall()
      return
    }
    for (const text of piecesOf(thought.text, chunk)) {
      if (delayMs > 0) await sleep(delayMs, signal)
      if (signal.aborted) break
      yield { type: 'text_delta', text }
    }
    if (signal.aborted) {
      yield interruptedCall()
      return
    }
    const items = itemsOf(thought, body)
    for (const item of items) yield { type: 'item', item }
    const stop_reason = thought.calls.length > 0 ? 'tool_use' : 'end_turn'
    yield { type: 'done', stop_reason, usage: usageOf(body, items) }
  }
}

/** Inspecting bytes takes time, and an interrupted call must not wait for it. */
async function unlessAborted<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (signal.aborted) return undefined
  const stop = new AbortController()
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { signal: stop.signal })
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    stop.abort()
  }
}

function interruptedCall(): ProviderEvent {
  return { type: 'error', error: failed('interrupted', 'The call was interrupted.').error }
}

function piecesOf(text: string, chunk: number): string[] {
  return text.match(new RegExp(`.{1,${Math.max(1, Math.floor(chunk))}}`, 'gsu')) ?? []
}

function itemsOf({ text, calls }: Thought, body: Buffer): AnswerItem[] {
  return [
    { kind: 'text', text },
    ...calls.map(({ name, arguments: args }, index) => ({
      kind: 'tool_call' as const,
      call_id: callId(body, index),
      name,
      arguments: canonicalJson(args),
    })),
  ]
}

/** The same request gets the same ids, and no two requests of a Session are the same. */
function callId(body: Buffer, index: number): string {
  const hash = runningSha256()
  hash.update(body)
  hash.update(Buffer.from(`,${index}`))
  return `call_${hash.hex().slice(0, 12)}`
}

/** The usage of a model with four bytes per token and no cache. */
function usageOf(body: Buffer, items: readonly AnswerItem[]): CallUsage {
  const written = items.map((item) => (item.kind === 'text' ? item.text : canonicalJson(item)))
  const output = Math.ceil(Buffer.byteLength(written.join('')) / 4)
  return { input: Math.ceil(body.length / 4), cached_read: 0, cache_write: 0, output, reasoning: 0 }
}
