import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes that live objects use: the heap, and buffers outside it. Garbage is collected first. */
export async function liveBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('garbage cannot be collected')
  // Finalizers, and what they free, need another round.
  for (let round = 0; round < 4; round += 1) {
    await new Promise(setImmediate)
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
