import { Worker } from 'node:worker_threads'
import { systemClock, type Clock } from '../clock.ts'

/** Work for a separate thread: a CommonJS script that reads `input` and calls `answer` with its result. */
export interface SideWork {
  readonly script: string
  /** Copied to the thread, except for `transfer`. */
  readonly input: unknown
  /** Buffers in `input` that are moved to the thread instead of copied. */
  readonly transfer?: readonly ArrayBuffer[]
  readonly ms: number
  /** The limit on memory growth of the whole process while the script runs. */
  readonly bytes: number
  /** Aborting it ends the script as if its time were up. */
  readonly signal?: AbortSignal
}

/** `value` comes from code that read untrusted bytes, so the caller must validate it. */
export type SideResult =
  | { readonly outcome: 'answered'; readonly value: unknown }
  | { readonly outcome: 'time' | 'memory' | 'failed' }

/**
 * Runs a script in a thread that can be stopped at any moment, even inside a busy loop: when it exceeds its time or memory.
 * The script sees no environment variables, and its output is discarded. Never throws.
 */
export function inSideThread(work: SideWork, clock: Clock = systemClock): Promise<SideResult> {
  return new Promise((resolve) => {
    const thread = new Worker(PRELUDE + work.script, {
      eval: true,
      workerData: work.input,
      transferList: [...(work.transfer ?? [])],
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(work.bytes / MIB) },
    })
    thread.stdout.resume()
    thread.stderr.resume()
    const cancels = [
      clock.after(work.ms, () => end({ outcome: 'time' })),
      whenAborted(work.signal, () => end({ outcome: 'time' })),
      whenGrown(clock, work.bytes, () => end({ outcome: 'memory' })),
    ]
    thread.once('message', (value: unknown) => end({ outcome: 'answered', value }))
    thread.once('error', (error: Error & { readonly code?: unknown }) =>
      end({ outcome: error.code === OUT_OF_MEMORY ? 'memory' : 'failed' }),
    )
    thread.once('exit', () => end({ outcome: 'failed' }))

    /** The first reason counts; the promise resolves when the thread is gone. */
    function end(result: SideResult): void {
      if (cancels.length === 0) return
      for (const cancel of cancels.splice(0)) cancel()
      void thread.terminate().then(() => resolve(result))
    }
  })
}

const MIB = 1024 * 1024
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY'
const PRELUDE = `const { parentPort, workerData: input } = require('node:worker_threads')
const answer = (value) => parentPort.postMessage(value)
`

function whenAborted(signal: AbortSignal | undefined, then: () => void): () => void {
  signal?.addEventListener('abort', then)
  if (signal?.aborted === true) queueMicrotask(then)
  return () => signal?.removeEventListener('abort', then)
}

const EVERY_MS = 20

/**
 * Thread limits do not count memory outside the heap, such as buffers; the process size does. Compares with the smallest
 * size seen, because garbage of other threads may be collected meanwhile.
 */
function whenGrown(clock: Clock, bytes: number, then: () => void): () => void {
  let least = process.memoryUsage.rss()
  let cancel = clock.after(EVERY_MS, look)
  return () => cancel()

  function look(): void {
    const now = process.memoryUsage.rss()
    least = Math.min(least, now)
    if (now - least > bytes) then()
    else cancel = clock.after(EVERY_MS, look)
  }
}
