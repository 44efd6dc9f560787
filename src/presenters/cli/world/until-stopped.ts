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
