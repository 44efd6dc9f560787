import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'

/** A model that answers only after `open`, or ends when it is interrupted. `asked` resolves when it is asked. */
export function gatedModel() {
  let [open, ask] = [() => {}, () => {}]
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const asked = new Promise<void>((resolve) => {
    ask = resolve
  })
  const base = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const provider: typeof base = {
    ...base,
    stream: async function* (body, signal) {
      ask()
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([opened, aborted])
      yield* base.stream(body, signal)
    },
  }
  return { provider, asked, open: () => open() }
}
