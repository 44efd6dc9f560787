import type { Clock } from '../../../host/clock.ts'
import type { Input } from '../../../host/streams.ts'
import { KeyDecoder, type Key } from './keys.ts'

/** How long an escape may be the start of a sequence. */
const ESCAPE_MS = 30

/** Reads keys from a terminal until the returned function is called. `ended` is called when the terminal is gone,
 * `onReport` with what the terminal reports. */
export function listenToKeys(
  input: Input,
  clock: Clock,
  onKey: (key: Key) => void,
  ended: () => void,
  onReport?: (text: string) => void,
): () => void {
  const decoder = new KeyDecoder(onReport)
  let cancel: (() => void) | undefined
  let listening = true
  const give = (keys: readonly Key[]) => {
    for (const key of keys) if (listening) onKey(key)
  }
  const stop = input.keys((bytes) => {
    cancel?.()
    if (bytes === undefined) return ended()
    give(decoder.push(bytes))
    if (decoder.isUndecided) cancel = clock.after(ESCAPE_MS, () => give(decoder.flush()))
  })
  return () => {
    listening = false
    cancel?.()
    stop()
  }
}
