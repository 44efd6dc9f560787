import { fileFailure } from '../host/files/files.ts'
import { ok, type Failed, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { cursorHolds } from './backward.ts'
import { cursorExpired, damageError } from './damage.ts'
import { notFound } from './fold-log.ts'
import type { Cursor, Fault, LogLine } from './line.ts'
import type { ReadableLog } from './log-store.ts'
import type { LogPlace } from './place.ts'
import { scan, type ScanOptions } from './scan.ts'

/** The polling interval if the system cannot report changes. */
const LOOK_EVERY_MS = 40
/** The polling interval if it can, since reports may be lost. */
const LOOK_ANYWAY_MS = 1000

/** The maximum number of lines in memory, however far behind a follower is. */
const LINES_AT_ONCE = 256

/**
 * Yields lines as they are written. A line may be seen before it is durable. If the writer then rolls it back (full disk),
 * this ends with `cursor_expired`: read the Log again. If the Log is deleted, it ends with `not_found`. `waits` is called each
 * time before it waits for more lines.
 */
export async function* followLog(
  place: LogPlace,
  session: SessionId,
  file: ReadableLog,
  options: ScanOptions & { readonly from: Cursor },
  signal: AbortSignal,
  waits?: () => Promise<void>,
): AsyncGenerator<Result<LogLine>, void> {
  const bell = await ringOnChange(place, session, signal)
  let cursor = options.from
  let isQuiet = false
  try {
    while (!signal.aborted) {
      // An open Log outlives its deletion. Hiding one that forks need changes nothing of it, so nothing reports that.
      if ((await file.stat()).links === 0 || (isQuiet && (await place.logs.isHidden(session)))) {
        yield notFound(session)
        return
      }
      if (!(await cursorHolds(file, cursor))) {
        yield cursorExpired(session, cursor)
        return
      }
      const { lines, fault } = await someLines(file, { ...options, from: cursor })
      for (const line of lines) yield ok(line)
      cursor = lines.at(-1)?.next ?? cursor
      if (lines.length === LINES_AT_ONCE) continue
      if (fault !== undefined && fault !== 'unterminated') {
        const failure = await judge(file, options, cursor)
        if (failure !== undefined) {
          yield failure
          return
        }
        continue
      }
      await waits?.()
      isQuiet = await bell.rung()
    }
  } catch (error) {
    yield { ok: false, error: fileFailure(error, 'follow the Log') }
  } finally {
    bell.close()
  }
}

async function someLines(
  file: ReadableLog,
  options: ScanOptions,
): Promise<{ lines: LogLine[]; fault?: Fault }> {
  const lines: LogLine[] = []
  const end = await scan(file, options, (line) =>
    lines.push(line) < LINES_AT_ONCE ? undefined : false,
  )
  return { lines, ...(end.fault === undefined ? {} : { fault: end.fault.reason }) }
}

/** A rollback during a read can look like damage, so the read is repeated before it is reported. */
async function judge(
  file: ReadableLog,
  options: ScanOptions,
  cursor: Cursor,
): Promise<Failed | undefined> {
  const { lines, fault } = await someLines(file, { ...options, from: cursor })
  if (!(await cursorHolds(file, cursor))) return cursorExpired(options.session, cursor)
  if (lines.length > 0 || fault === undefined || fault === 'unterminated') return undefined
  return damageError(options.session, cursor.offset, fault)
}

/** A signal set by changes of the Log. Changes that occur while nothing waits are combined into one. */
async function ringOnChange(place: LogPlace, session: SessionId, signal: AbortSignal) {
  let wake: (() => void) | undefined
  let rang = false
  const ring = () => {
    rang = true
    wake?.()
  }
  signal.addEventListener('abort', ring, { once: true })
  const watching = await place.logs.watch(session, ring)
  const patience = watching === undefined ? LOOK_EVERY_MS : LOOK_ANYWAY_MS
  return {
    /** Resolves at the next change; with true if none was reported, and it is only time to look. */
    rung: async (): Promise<boolean> => {
      let isQuiet = false
      if (!rang && !signal.aborted) {
        let cancel: (() => void) | undefined
        await new Promise<void>((resolve) => {
          wake = resolve
          cancel = place.clock.after(patience, () => {
            isQuiet = true
            ring()
          })
        })
        cancel?.()
      }
      rang = false
      return isQuiet
    },
    close: () => {
      watching?.close()
      signal.removeEventListener('abort', ring)
    },
  }
}
