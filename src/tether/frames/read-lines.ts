import type { Readable } from 'node:stream'
import { LineReader, type ReadLine } from './line-reader.ts'

/**
 * The lines of a stream until it ends, fails, or a line is faulty, which is the last then. A line without its end is dropped.
 * Reads no further than the consumer asks.
 */
export async function* readLines(stream: Readable): AsyncGenerator<ReadLine, void> {
  const reader = new LineReader()
  const chunks = stream.iterator({ destroyOnReturn: false })
  try {
    for await (const chunk of chunks) {
      if (!(chunk instanceof Buffer)) continue
      for (const line of reader.push(chunk)) {
        yield line
        if ('fault' in line) return
      }
    }
  } catch {
    // The other side is gone, or this side closed the stream.
  }
}
