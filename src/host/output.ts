import { fstatSync, writeSync } from 'node:fs'
import process from 'node:process'
import { isatty } from 'node:tty'

/** An output for text. Writing never throws, even when the reader is gone; then `isBroken` is true. */
export interface Output {
  readonly isTTY: boolean
  /** Size of the terminal; 80 by 24 if there is none. */
  readonly columns: number
  readonly rows: number
  /** Reads the size of the terminal now. A different one is announced as a resize, before this returns. */
  measure?(): void
  /** Further writes are lost: the reader is gone, or `failure` says why. */
  readonly isBroken: boolean
  /** The error code that ended writing, such as `ENOSPC`. Absent when the reader went away. */
  readonly failure: string | undefined
  write(text: string): void
  /** Resolves when everything written so far was passed to the system or is lost. */
  flush(): Promise<void>
}

/** Node reads the size only when the signal arrives, and the terminal may have rewrapped its rows long before. */
function readSize(stream: NodeJS.WriteStream): void {
  const refresh: unknown = Reflect.get(stream, '_refreshSize')
  if (typeof refresh === 'function') Reflect.apply(refresh, stream, [])
}

/** Both outputs of this process. */
export function standardOutputs(): { readonly stdout: Output; readonly stderr: Output } {
  return { stdout: outputOf(process.stdout, 1), stderr: outputOf(process.stderr, 2) }
}

function outputOf(stream: NodeJS.WriteStream, fd: number): Output {
  const isTTY = isTerminal(stream)
  let broken = false
  let failure: string | undefined
  const fail = (error: unknown) => {
    const code = codeOf(error)
    if (!broken && !GONE.has(code) && !(isTTY && code === 'EIO')) failure = code
    broken = true
  }
  stream.on('error', fail)
  const write = isFile(fd) ? fileWriter(fd, fail) : (text: string) => void stream.write(text)
  return {
    isTTY,
    get columns() {
      return positive(stream.columns, COLUMNS)
    },
    get rows() {
      return positive(stream.rows, ROWS)
    },
    measure: () => readSize(stream),
    get isBroken() {
      return broken
    },
    get failure() {
      return failure
    },
    write: (text) => {
      if (!broken) write(text)
    },
    flush: () =>
      new Promise((resolve) => {
        const settle = () => {
          stream.off('error', settle)
          resolve()
        }
        stream.once('error', settle)
        if (broken) settle()
        else stream.write('', settle)
      }),
  }
}

const COLUMNS = 80
const ROWS = 24

/** The reader closed its end, which is not an error. A terminal that hung up reports `EIO`. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'])

/** `isTTY` is absent when the stream is not a terminal, whatever the types say. */
export function isTerminal(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true
}

/** A file or a device such as `/dev/full`, but not a terminal, pipe or socket. */
function isFile(fd: number): boolean {
  try {
    const kind = fstatSync(fd)
    return kind.isFile() || (kind.isCharacterDevice() && !isatty(fd))
  } catch {
    return false
  }
}

/** Node treats a partial write to a file, as on a full disk, as complete. */
function fileWriter(fd: number, fail: (error: unknown) => void): (text: string) => void {
  return (text) => {
    const bytes = Buffer.from(text)
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
    } catch (error) {
      fail(error)
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** A terminal that does not know its size reports 0. */
function positive(size: number | undefined, otherwise: number): number {
  return size === undefined || size <= 0 ? otherwise : size
}
