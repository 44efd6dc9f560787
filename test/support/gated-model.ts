import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'

/** A model that answers only after `open`. */
export function gatedModel() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const base = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const provider: typeof base = {
    ...base,
    stream: async function* (body, signal) {
      await opened
      yield* base.stream(body, signal)
    },
  }
  return { provider, open: () => open() }
}
