import { fstatSync } from 'node:fs'
import process from 'node:process'
import { isatty } from 'node:tty'
import { isTerminal, standardOutputs, type Output } from './output.ts'

/** An input for bytes. */
export interface Input {
  readonly isTTY: boolean
  /** The kind of source. Only a file and a pipe (or a socket, which Node gives its children) contain piped-in text. */
  readonly source: InputSource
  /**
   * Resolves to true when the first byte or the end has arrived; to false when `signal` aborts first, and then nothing more
   * is read.
   */
  ready(signal: AbortSignal): Promise<boolean>
  /** Everything until the end; `undefined` if that exceeds `limit`. */
  all(limit: number): Promise<Buffer | undefined>
  /** The first `limit` bytes, fewer only if the input ends first. Nothing more is read after that. */
  upTo(limit: number): Promise<Buffer>
  /** Raw key presses, until the returned function is called. `undefined` means that the input ended. */
  keys(listener: (bytes: Buffer | undefined) => void): () => void
  /** Sends SIGINT to this process, as the system does on Ctrl-C when the terminal is not in raw mode. */
  interrupt(): void
}

export type InputSource = 'terminal' | 'file' | 'pipe' | 'other'

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** The streams, terminal events and signals of an interactive program. */
export interface Streams {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** Called when the terminal is resized. Call the returned function to stop listening; the same applies to `onSignal`. */
  onResize(listener: () => void): () => void
  /** A signal with a listener does not end the process. */
  onSignal(signal: Signal, listener: () => void): () => void
}

export function systemStreams(): Streams {
  return {
    stdin: inputOf(() => process.stdin),
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

/** Standard input. `opened` opens it, which takes a while and is often not needed. */
function inputOf(opened: () => NodeJS.ReadStream): Input {
  const isTTY = isatty(STDIN)
  const upTo = async (limit: number) => {
    const pieces: Buffer[] = []
    let length = 0
    const all: AsyncIterable<Buffer> = opened()
    for await (const bytes of all) {
      pieces.push(bytes)
      length += bytes.length
      if (length >= limit) break
    }
    return Buffer.concat(pieces).subarray(0, limit)
  }
  return {
    isTTY,
    get source() {
      return isTTY ? 'terminal' : inputSource(STDIN)
    },
    ready: (signal) => readyOf(opened(), signal),
    upTo,
    all: async (limit) => {
      const bytes = await upTo(limit + 1)
      return bytes.length > limit ? undefined : bytes
    },
    keys: (listener) => {
      const stream = opened()
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

function inputSource(descriptor: number): InputSource {
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
      // Otherwise the process would wait for the writer at the other end.
      stream.destroy()
    }
    stream.on('readable', onReady).on('end', onReady).on('error', onReady)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
}
