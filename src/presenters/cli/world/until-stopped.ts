import type { CliWorld } from './world.ts'

/** Resolves at the first signal that asks the program to end. The next one ends it immediately. */
export async function untilStopped(world: Pick<CliWorld, 'streams'>): Promise<void> {
  const { signal, stopListening } = stopOnSignals(world)
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve)
  })
  stopListening()
}

/** Aborts at the first signal that asks the program to end, for work that a signal ends in the regular way. */
export function stopOnSignals({ streams }: Pick<CliWorld, 'streams'>): {
  readonly signal: AbortSignal
  readonly stopListening: () => void
} {
  const stop = new AbortController()
  const listening = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    streams.onSignal(signal, () => stop.abort()),
  )
  return { signal: stop.signal, stopListening: () => listening.forEach((end) => end()) }
}
