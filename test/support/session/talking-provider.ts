import { ok } from '../../../src/model/errors.ts'
import type { Provider, ProviderEvent } from '../../../src/providers/provider.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Changes } from './harness-parts.ts'

/** A model whose every answer is `delta`, this many times. */
export function talking(delta: string, count: number): Changes {
  const rehearsal = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const provider: Provider = { ...rehearsal, stream: () => answer(delta, count) }
  return { model: { providerOf: async () => ok(provider), dialectOf: async () => ok(rehearsal) } }
}

async function* answer(delta: string, count: number): AsyncGenerator<ProviderEvent, void> {
  for (let at = 0; at < count; at += 1) yield { type: 'text_delta', text: delta }
  yield { type: 'item', item: { kind: 'text', text: delta.repeat(count) } }
  const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
  yield { type: 'done', stop_reason: 'end_turn', usage }
}
