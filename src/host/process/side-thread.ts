import { Worker } from 'node:worker_threads'
import { systemClock, type Clock } from '../clock.ts'

/** Work for a thread of its own: a CommonJS script, which finds `input` and calls `answer` with its result. */
export interface SideWork {
  readonly script: string
  /** Copied to the thread, but for what is given away to it. */
  readonly input: unknown
  /** Memory that is in `input` and nobody else's any longer. */
  readonly givenAway?: readonly ArrayBuffer[]
  readonly ms: number
  /** By how much the memory of this process may grow meanwhile, whoever of it lets it grow. */
  readonly bytes: number
  /** Aborted when nobody waits for it any longer; it ends as if its time were up. */
  readonly signal?: AbortSignal
}

/** `value` is whatever the script answered; it came from code that read untrusted bytes, so it is to be checked. */
export type SideResult =
  | { readonly outcome: 'answered'; readonly value: unknown }
  | { readonly outcome: 'time' | 'memory' | 'failed' }

/**
 * Runs a script in a thread that can be ended at any moment, also inside a loop that never waits: when it takes too long, and
 * when it takes too much memory. It sees no environment, and what it prints is thrown away. Never throws.
 */
export function inSideThread(work: SideWork, clock: Clock = systemClock): Promise<SideResult> {
  return new Promise((resolve) => {
    const thread = new Worker(PRELUDE + work.script, {
      eval: true,
      workerData: work.input,
      transferList: [...(work.givenAway ?? [])],
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

    /** The first reason counts, and is told when the thread is gone. */
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
 * The limits of a thread do not count what lies outside its heap, such as buffers; the size of the process does. It is compared
 * with the least that was seen: garbage of other threads may be swept meanwhile.
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
