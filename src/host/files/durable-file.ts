import { failed, type HawserError } from '../../model/errors.ts'
import { fileFailure, ifPossible, writeAll, type File } from './files.ts'

export interface DurableFileParts {
  /** What the file is called in messages. */
  readonly name: string
  /** The details of the error that another program changed the file. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** Open for append; it ends exactly at `end`. */
  readonly file: File
  readonly end: number
  /** Whether this process may still be the only writer, checked before each write. */
  mayHold?(): boolean
  /** Whether this process is still the only writer, checked beside each sync. */
  isHeld?(): Promise<boolean>
  /** What else must be durable before a write is acknowledged. */
  alsoSync?(): Promise<void>
}

/** Why bytes are not durable. */
export interface AppendFailure {
  readonly error: HawserError
  /** The state of the file is unknown because of this: it must not be written again before it is read again. */
  readonly stop?: HawserError
}

/**
 * A file that only grows, by writes that are durable before they are acknowledged. A failed write is rolled back, and the next
 * one may succeed. After a failed sync the state of the disk is unknown.
 */
export class DurableFile {
  readonly #parts: DurableFileParts
  #file: File
  #end: number

  constructor(parts: DurableFileParts) {
    this.#parts = parts
    this.#file = parts.file
    this.#end = parts.end
  }

  /** Makes the bytes durable at the end of the file, or rolls it back. Not to be called before the previous call has resolved. */
  async append(bytes: Buffer): Promise<AppendFailure | undefined> {
    const { name } = this.#parts
    const file = this.#file
    if (this.#parts.mayHold?.() === false) return stopping(this.#changeError())
    try {
      await writeAll(file, bytes)
    } catch (error) {
      return this.#rollBack(fileFailure(error, `write to the ${name}`))
    }
    try {
      const end = this.#end + bytes.length
      const [isIntact] = await Promise.all([this.#isIntact(end), file.datasync()])
      if (!isIntact) return stopping(this.#changeError())
      await this.#parts.alsoSync?.()
      this.#end = end
      return undefined
    } catch (error) {
      const failure = stopping(fileFailure(error, `make the ${name} durable`))
      // Not a retry: refused entries must not reappear as if accepted.
      await ifPossible(file.truncate(this.#end))
      return failure
    }
  }

  /** Continues in another file. */
  continueIn(file: File, end: number): void {
    this.#file = file
    this.#end = end
  }

  #changeError(): HawserError {
    const { name, details } = this.#parts
    const text = `Another program deleted or changed the ${name} while it was being written.`
    return failed('storage_failed', text, details).error
  }

  async #rollBack(error: HawserError): Promise<AppendFailure> {
    try {
      await this.#file.truncate(this.#end)
      return { error }
    } catch (worse) {
      return { error, stop: fileFailure(worse, 'roll back a failed write') }
    }
  }

  /** Whether the file is there and has this size, and this process may write it: if not, nothing can be guaranteed. */
  async #isIntact(expected: number): Promise<boolean> {
    const [{ links, size }, held = true] = await Promise.all([
      this.#file.stat(),
      this.#parts.isHeld?.(),
    ])
    return links > 0 && size === expected && held
  }
}

function stopping(error: HawserError): AppendFailure {
  return { error, stop: error }
}
