import { sha256 } from '../encoding/hash.ts'
import { fileFailure, readSpan, type File } from '../host/files.ts'
import { ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { damaged } from './damage.ts'
import { decodeLine, type Cursor, type Fault, type LogLine } from './line.ts'
import { lineAt } from './scan.ts'

const CHUNK_BYTES = 32 * 1024
const NEWLINE = 10

/** What the next line backwards has to be. */
interface Expected {
  readonly seq?: number
  readonly hash?: string | null
}

/**
 * Reads from `from`, or from the last finished line, towards the start. A line is good when it is whole and the line
 * after it names its hash; so the newest one is vouched for by its checksum, and by `from` where that was given.
 */
export async function* readBackward(
  file: File,
  session: SessionId,
  strict: boolean,
  from: Cursor | undefined,
): AsyncGenerator<Result<LogLine>, void> {
  let expected: Expected = from === undefined ? {} : { seq: from.seq - 1, hash: from.prev }
  try {
    const end = from?.offset ?? (await lastLineEnd(file))
    for await (const { bytes, offset } of linesBackward(file, end)) {
      const line =
        bytes === undefined ? 'overlong' : judge(bytes, offset, session, strict, expected)
      if (typeof line === 'string') {
        yield damaged(session, offset, line)
        return
      }
      yield ok(line)
      const { event } = line.logged
      expected = { seq: line.seq - 1, hash: event.prev }
    }
  } catch (error) {
    yield { ok: false, error: fileFailure(error, 'read the Log') }
  }
}

function judge(
  bytes: Buffer,
  offset: number,
  session: SessionId,
  strict: boolean,
  expected: Expected,
): LogLine | Fault {
  const decoded = decodeLine(bytes, strict)
  if (!decoded.ok) return decoded.fault
  const { envelope, hash } = decoded
  if (envelope.session_id !== session) return 'other_session'
  if (expected.seq !== undefined && envelope.seq !== expected.seq) return 'sequence'
  if (expected.hash !== undefined && hash !== expected.hash) return 'chain'
  return lineAt(envelope, hash, offset, bytes.length)
}

/** The hash of the line that ends just before `end`; `undefined` when none does. */
export async function hashOfLineBefore(file: File, end: number): Promise<string | undefined> {
  const { size } = await file.stat()
  if (end > size || (await readSpan(file, end - 1, 1))[0] !== NEWLINE) return undefined
  for await (const { bytes } of linesBackward(file, end)) return bytes && sha256(bytes)
  return undefined
}

/** Lines that end before `end`, which stands behind a newline. `bytes` is missing for a line over the limit. */
async function* linesBackward(
  file: File,
  end: number,
): AsyncGenerator<{ readonly bytes: Buffer | undefined; readonly offset: number }> {
  let held = Buffer.alloc(0)
  let start = end
  while (start > 0 || held.length > 0) {
    const before = held.subarray(0, -1).lastIndexOf(NEWLINE)
    if (before !== -1 || (start === 0 && held.length > 0)) {
      yield { bytes: held.subarray(before + 1, -1), offset: start + before + 1 }
      held = held.subarray(0, before + 1)
    } else if (held.length > LIMITS.event_line_bytes + 1) {
      yield { bytes: undefined, offset: start }
      return
    } else {
      const next = Math.max(0, start - CHUNK_BYTES)
      held = Buffer.concat([await readSpan(file, next, start - next), held])
      start = next
    }
  }
}

/** The place behind the last newline. */
async function lastLineEnd(file: File): Promise<number> {
  const { size } = await file.stat()
  for (let end = size; end > 0; end -= CHUNK_BYTES) {
    const start = Math.max(0, end - CHUNK_BYTES)
    const at = (await readSpan(file, start, end - start)).lastIndexOf(NEWLINE)
    if (at !== -1) return start + at + 1
  }
  return 0
}
