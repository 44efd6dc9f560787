import type { CliWorld } from './world.ts'

/** Resolves at the first signal that asks the program to end. The next one ends it immediately. */
export async function untilStopped({ streams }: Pick<CliWorld, 'streams'>): Promise<void> {
  const listening: (() => void)[] = []
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      listening.push(streams.onSignal(signal, resolve))
    }
  })
  for (const stop of listening) stop()
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
