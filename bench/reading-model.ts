import process from 'node:process'
import type { Provider, ProviderEvent } from '../src/providers/provider.ts'
import { encode, frame } from '../src/providers/rehearsal/encode.ts'

/** A model that reads the same file a given number of times, and the time the harness took from each answer to the next request. */
export interface ReadingModel extends Provider {
  readonly ms: number[]
  readonly cpuMs: number[]
  /** Awaited before a request is answered; `trip` is the number of round trips before it. */
  onRequest: (trip: number) => Promise<void>
}

/** The dialect of the rehearsal model without its rules, which would read the whole request. */
export function readingModel(path: string, trips: number): ReadingModel {
  let trip = 0
  let answered = { at: 0, cpu: process.cpuUsage() }
  const model: ReadingModel = {
    dialect: 'rehearsal',
    encode,
    buildBody: frame,
    stream,
    ms: [],
    cpuMs: [],
    onRequest: async () => {},
  }
  return model

  async function* stream(): AsyncGenerator<ProviderEvent, void, void> {
    if (trip > 0) {
      model.ms.push(performance.now() - answered.at)
      const { user, system } = process.cpuUsage(answered.cpu)
      model.cpuMs.push((user + system) / 1000)
    }
    await model.onRequest(trip)
    const reads = trip < trips
    trip += 1
    yield { type: 'item', item: reads ? readCall(path, trip) : { kind: 'text', text: 'Done.' } }
    answered = { at: performance.now(), cpu: process.cpuUsage() }
    const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
    yield { type: 'done', stop_reason: reads ? 'tool_use' : 'end_turn', usage }
  }
}

function readCall(path: string, trip: number) {
  const call_id = `call_${String(trip).padStart(12, '0')}`
  return { kind: 'tool_call', call_id, name: 'read', arguments: JSON.stringify({ path }) } as const
}
