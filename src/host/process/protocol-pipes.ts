import process from 'node:process'
import { backgroundTimer } from '../background-timer.ts'

/** Standard input and output of a process that another program drives with messages. */
export interface ProtocolPipes {
  /** Everything that arrives, until the other program closes its end, ends, or `stop` is called. Read it once. */
  readonly input: AsyncIterable<Buffer>
  /** Resolves when the system has taken the bytes. Once the reader is gone they are dropped. Never rejects. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends `input`. */
  stop(): void
}

/**
 * Takes standard output for messages alone: whatever else this process prints there from now on goes to standard error. A
 * process that has lost its parent reads no more, even if another one holds its input open.
 */
export function takeProtocolPipes(): ProtocolPipes {
  const { stdin, stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  let isGone = false
  const lost = () => {
    isGone = true
    stop()
  }
  const parent = process.ppid
  const stopWatching = backgroundTimer.every(PARENT_MS, () => {
    if (process.ppid !== parent) stop()
  })
  const stop = () => {
    stopWatching()
    stdin.destroy()
  }
  stdout.on('error', lost)
  return {
    input: untilClosed(stdin),
    write: (bytes) =>
      new Promise((resolve) => {
        if (isGone) resolve()
        else write(bytes, () => resolve())
      }),
    stop,
  }
}

const PARENT_MS = 1_000

/** An input that is cut off ends like any other. */
async function* untilClosed(stream: NodeJS.ReadStream): AsyncGenerator<Buffer, void> {
  const bytes: AsyncIterable<Buffer> = stream
  try {
    yield* bytes
  } catch {
    // Its other end is gone, or `stop` was called.
  }
}
