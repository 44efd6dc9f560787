import { sha256 } from '../encoding/hash.ts'
import { fileFailure, readSpan } from '../host/files/files.ts'
import { ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { damageError } from './damage.ts'
import type { HeadRecord } from './head-record.ts'
import type { Lineage } from './lineage.ts'
import { decodeLine, type Cursor, type Fault, type LogLine } from './line.ts'
import type { ReadableLog } from './log-store.ts'
import { firstPlace, placeIn, readLine } from './scan.ts'

const CHUNK_BYTES = 32 * 1024
const NEWLINE = 10

/** The number and hash that the next line backwards must have. */
interface ExpectedLine {
  readonly seq?: number
  readonly hash?: string | null
}

/** Where to begin, and what authenticates the Log. */
export interface BackwardOptions {
  readonly session: SessionId
  readonly strict: boolean
  /** The position after the newest line to read. Default: after the last complete line. */
  readonly from?: Cursor
  readonly head?: HeadRecord
}

/**
 * Reads towards the start. A line is valid when it is intact and the line after it names its hash. The newest line is
 * verified by its checksum, by `from` if given, and by the head if it is that line.
 */
export async function* readBackward(
  file: ReadableLog,
  options: BackwardOptions,
): AsyncGenerator<Result<LogLine>, void> {
  const { session, strict, from, head } = options
  let expected: ExpectedLine = from === undefined ? {} : { seq: from.seq - 1, hash: from.prev }
  try {
    const start = placeIn(file)
    const end =
      from === undefined ? await lastLineEnd(file, start.offset) : placeIn(file, from).offset
    let newest = from === undefined
    for await (const { bytes, offset } of linesBackward(file, end, start.offset)) {
      const line =
        bytes === undefined || bytes.length > LIMITS.event_line_bytes
          ? 'overlong'
          : judge(bytes, offset, { session, strict, start, lineage: file.lineage }, expected)
      const fault = typeof line === 'string' ? line : newest && belowHead(line, head)
      if (typeof line === 'string' || typeof fault === 'string') {
        yield damageError(session, offset, typeof fault === 'string' ? fault : 'chain')
        return
      }
      newest = false
      yield ok(line)
      expected = { seq: line.seq - 1, hash: line.content.event.prev }
    }
    if (newest && head !== undefined && head.seq >= 0) yield damageError(session, 0, 'head_missing')
    if (file.lineage?.isBroken === true) yield damageError(session, start.offset, 'parent_missing')
  } catch (error) {
    yield { ok: false, error: fileFailure(error, 'read the Log') }
  }
}

/** The newest line must be the head or a later one. */
function belowHead(line: LogLine, head: HeadRecord | undefined): Fault | undefined {
  if (head === undefined || line.seq > head.seq) return undefined
  if (line.seq < head.seq) return 'head_missing'
  return line.hash === head.hash ? undefined : 'head_differs'
}

interface Judging extends Pick<BackwardOptions, 'session' | 'strict'> {
  readonly start: Cursor
  readonly lineage: Lineage | undefined
}

function judge(
  bytes: Buffer,
  offset: number,
  { session, strict, start, lineage }: Judging,
  expected: ExpectedLine,
): LogLine | Fault {
  const decoded = decodeLine(bytes, strict)
  if (!decoded.ok) return decoded.fault
  const { envelope, hash } = decoded
  const owner = lineage === undefined ? session : lineage.ownerOf(offset)
  if (envelope.session_id !== owner) return 'other_session'
  if (expected.seq !== undefined && envelope.seq !== expected.seq) return 'sequence'
  if (expected.hash !== undefined && hash !== expected.hash) return 'chain'
  if (offset === start.offset) {
    const first = offset === 0 ? firstPlace(envelope) : start
    if (envelope.seq !== first.seq) return 'sequence'
    if (envelope.prev !== first.prev) return 'chain'
  }
  return readLine({ envelope, hash }, offset, bytes.length, lineage)
}

/** The bytes of the line that ends just before `end`; `undefined` if there is none. */
export async function lineBefore(file: ReadableLog, end: number): Promise<Buffer | undefined> {
  const { size } = await file.stat()
  if (end < 1 || end > size || (await readSpan(file, end - 1, 1))[0] !== NEWLINE) return undefined
  for await (const { bytes } of linesBackward(file, end, placeIn(file).offset)) return bytes
  return undefined
}

/** Whether the line before `cursor` is the one it names. */
export async function cursorHolds(file: ReadableLog, { offset, prev }: Cursor): Promise<boolean> {
  if (offset === 0 || prev === null) return true
  // Without the Log that has the line before, only this line says what came before.
  if (offset === file.lineage?.start.offset) return file.lineage.start.prev === prev
  const line = await lineBefore(file, offset)
  return line !== undefined && sha256(line) === prev
}

/**
 * Lines that end before `end`, a position after a newline, and begin at `begin` or after it. `bytes` is absent for a line over
 * the limit.
 */
async function* linesBackward(
  file: ReadableLog,
  end: number,
  begin: number,
): AsyncGenerator<{ readonly bytes: Buffer | undefined; readonly offset: number }> {
  let held = Buffer.alloc(0)
  let start = end
  while (start > begin || held.length > 0) {
    const before = held.subarray(0, -1).lastIndexOf(NEWLINE)
    if (before !== -1 || (start === begin && held.length > 0)) {
      yield { bytes: held.subarray(before + 1, -1), offset: start + before + 1 }
      held = held.subarray(0, before + 1)
    } else if (held.length > LIMITS.event_line_bytes + 1) {
      yield { bytes: undefined, offset: start }
      return
    } else {
      const next = Math.max(begin, start - CHUNK_BYTES)
      held = Buffer.concat([await readSpan(file, next, start - next), held])
      start = next
    }
  }
}

/** The position after the last newline. */
async function lastLineEnd(file: ReadableLog, begin: number): Promise<number> {
  const { size } = await file.stat()
  for (let end = size; end > begin; end -= CHUNK_BYTES) {
    const start = Math.max(begin, end - CHUNK_BYTES)
    const at = (await readSpan(file, start, end - start)).lastIndexOf(NEWLINE)
    if (at !== -1) return start + at + 1
  }
  return begin
}
