/** Bytes that live objects use: the heap, and buffers outside it. Node must run with `--expose-gc`. */
export async function liveBytes(): Promise<number> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('garbage cannot be collected')
  // Finalizers, and what they free, need another round.
  for (let round = 0; round < 4; round += 1) {
    await new Promise(setImmediate)
    gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
