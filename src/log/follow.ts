import { fileFailure, type File } from '../host/files.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { hashOfLineBefore } from './backward.ts'
import { damaged } from './damage.ts'
import type { Cursor, LogLine } from './line.ts'
import { logName, type LogPlace } from './place.ts'
import { scan, type ScanOptions } from './scan.ts'

/** Only where the system cannot tell of changes: how often the file's size is looked at. */
const LOOK_EVERY_MS = 40

/**
 * Yields lines as they come, woken by the system. A line may be seen before it is durable; if the writer then takes it
 * back (a full disk), what was shown no longer holds, and this ends with `cursor_expired`: read again.
 */
export async function* followLog(
  place: LogPlace,
  session: SessionId,
  file: File,
  options: ScanOptions & { readonly from: Cursor },
  signal: AbortSignal,
): AsyncGenerator<Result<LogLine>, void> {
  const bell = await ringOnChange(place, session, signal)
  try {
    for (let cursor = options.from; !signal.aborted; await bell.rung()) {
      const lines: LogLine[] = []
      const { size } = await file.stat()
      const end = await scan(file, { ...options, from: cursor }, (line) => void lines.push(line))
      for (const line of lines) yield ok(line)
      cursor = end.cursor
      const whole = end.fault === undefined || end.fault.reason === 'unterminated'
      if (whole && size >= cursor.offset) continue
      const taken = await takenBack(file, session, cursor)
      const broken =
        end.fault !== undefined && !whole
          ? damaged(session, end.fault.offset, end.fault.reason)
          : undefined
      const failure = taken ?? broken
      if (failure !== undefined) {
        yield failure
        return
      }
    }
  } catch (error) {
    yield { ok: false, error: fileFailure(error, 'follow the Log') }
  } finally {
    bell.close()
  }
}

/** A Log that ends before the place we came to, or no longer has our last line there, was taken back. */
async function takenBack(
  file: File,
  session: SessionId,
  cursor: Cursor,
): Promise<Failed | undefined> {
  if (cursor.offset === 0 || cursor.prev === null) return undefined
  if ((await hashOfLineBefore(file, cursor.offset)) === cursor.prev) return undefined
  return failed('cursor_expired', 'The last Events shown were taken back by their writer.', {
    session_id: session,
    seq: cursor.seq - 1,
  })
}

/** A bell that changes of the Log ring. Rings that come while nobody waits are kept as one. */
async function ringOnChange(place: LogPlace, session: SessionId, signal: AbortSignal) {
  let wake: (() => void) | undefined
  let rang = false
  const ring = () => {
    rang = true
    wake?.()
  }
  signal.addEventListener('abort', ring, { once: true })
  const watching = await place.sessions.watch(logName(session), ring).catch(() => undefined)
  return {
    /** Resolves at the next ring. */
    rung: async (): Promise<void> => {
      if (!rang) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (watching === undefined) place.clock.after(LOOK_EVERY_MS, ring)
        })
      }
      rang = false
    },
    close: () => {
      watching?.close()
      signal.removeEventListener('abort', ring)
    },
  }
}
