import { fstatSync } from 'node:fs'
import process from 'node:process'
import { isTerminal, standardOutputs, type Output } from './output.ts'

/** Where bytes come from. */
export interface Input {
  readonly isTTY: boolean
  /** What is behind it. Only a file and a pipe (or a socket, which Node gives its children) hold text that was handed over. */
  readonly source: InputSource
  /** True when the first byte or the end is there; false when `signal` aborts before, and then nothing reads on. */
  ready(signal: AbortSignal): Promise<boolean>
  /** Everything until the end, or until there is more than `limit`: then `undefined`. */
  all(limit: number): Promise<Buffer | undefined>
  /** The first `limit` bytes, fewer only where it ends before. Nothing reads on after that. */
  upTo(limit: number): Promise<Buffer>
  /** Keys as they are pressed, unread by the system, until the returned function is called. `undefined`: the input ended. */
  keys(listener: (bytes: Buffer | undefined) => void): () => void
  /** What the system does when Ctrl-C is pressed and it reads the keys: sends SIGINT to this process. */
  interrupt(): void
}

export type InputSource = 'terminal' | 'file' | 'pipe' | 'other'

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** What a program that talks to people has: three streams, and word of what happens around it. */
export interface Streams {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** The terminal has another size. Call what is returned to stop listening; so with `onSignal`. */
  onResize(listener: () => void): () => void
  /** While someone listens to a signal it does not end the process. */
  onSignal(signal: Signal, listener: () => void): () => void
}

export function systemStreams(): Streams {
  return {
    stdin: inputOf(process.stdin),
    ...standardOutputs(),
    onResize: (listener) => {
      process.stdout.on('resize', listener)
      return () => process.stdout.off('resize', listener)
    },
    onSignal: (signal, listener) => {
      process.on(signal, listener)
      return () => process.off(signal, listener)
    },
  }
}

function inputOf(stream: NodeJS.ReadStream): Input {
  const upTo = async (limit: number) => {
    const pieces: Buffer[] = []
    let length = 0
    const all: AsyncIterable<Buffer> = stream
    for await (const bytes of all) {
      pieces.push(bytes)
      length += bytes.length
      if (length >= limit) break
    }
    return Buffer.concat(pieces).subarray(0, limit)
  }
  return {
    isTTY: isTerminal(stream),
    get source() {
      return isTerminal(stream) ? 'terminal' : sourceOf(STDIN)
    },
    ready: (signal) => readyOf(stream, signal),
    upTo,
    all: async (limit) => {
      const bytes = await upTo(limit + 1)
      return bytes.length > limit ? undefined : bytes
    },
    keys: (listener) => {
      const onData = (bytes: Buffer) => listener(bytes)
      const onEnd = () => listener(undefined)
      if (isTerminal(stream)) stream.setRawMode(true)
      stream.on('data', onData)
      stream.on('end', onEnd)
      stream.resume()
      return () => {
        stream.off('data', onData)
        stream.off('end', onEnd)
        if (isTerminal(stream)) stream.setRawMode(false)
        stream.pause()
      }
    },
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
  }
}

const STDIN = 0

function sourceOf(descriptor: number): InputSource {
  try {
    const found = fstatSync(descriptor)
    if (found.isFile()) return 'file'
    return found.isFIFO() || found.isSocket() ? 'pipe' : 'other'
  } catch {
    return 'other'
  }
}

function readyOf(stream: NodeJS.ReadStream, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (ready: boolean) => {
      stream.off('readable', onReady).off('end', onReady).off('error', onReady)
      signal.removeEventListener('abort', onAbort)
      resolve(ready)
    }
    const onReady = () => settle(true)
    const onAbort = () => {
      settle(false)
      // Without this the process would wait for whoever holds the other end.
      stream.destroy()
    }
    stream.on('readable', onReady).on('end', onReady).on('error', onReady)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
}
