import process from 'node:process'
import type { Provider } from '../src/providers/provider.ts'

/** A provider, and the duration of each of its round trips, from one request to the next. */
export interface TimedModel extends Provider {
  readonly ms: number[]
  readonly cpuMs: number[]
  /** Size of the last request. */
  bytes: number
  /** Awaited before a request is sent; `trip` is the number of round trips before it. */
  onRequest: (trip: number, bytes: number) => Promise<void>
}

export function timedModel(provider: Provider): TimedModel {
  let trip = 0
  let asked = { at: 0, cpu: process.cpuUsage() }
  // Without other transports that the provider may have.
  const model: TimedModel = {
    dialect: provider.dialect,
    encode: (items, surface, behind) => provider.encode(items, surface, behind),
    buildBody: (segments, options) => provider.buildBody(segments, options),
    stream,
    ms: [],
    cpuMs: [],
    bytes: 0,
    onRequest: async () => {},
  }
  return model

  async function* stream(body: Buffer, signal: AbortSignal) {
    if (trip > 0) {
      model.ms.push(performance.now() - asked.at)
      const { user, system } = process.cpuUsage(asked.cpu)
      model.cpuMs.push((user + system) / 1000)
    }
    model.bytes = body.length
    await model.onRequest(trip, body.length)
    trip += 1
    asked = { at: performance.now(), cpu: process.cpuUsage() }
    yield* provider.stream(body, signal)
  }
}
