import { Redactor } from '../../encoding/redaction.ts'
import type { Cursor, LogLine } from '../../log/line.ts'
import { openReader, type LogReader } from '../../log/reader.ts'
import { LOG_START } from '../../log/scan.ts'
import { ok, type HawserError, type Result } from '../../model/errors.ts'
import type { EphemeralEvent, EventEnvelope, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { wholeEvent } from '../../request/whole-event.ts'
import type { ReadParts } from '../reading/read-log.ts'
import type { QuestionUpdate } from '../questions/session-questions.ts'
import type { Subscription } from './subscribe.ts'

/** What happens in a Session, as a client sees it. */
export type SessionUpdate =
  | {
      readonly kind: 'event'
      /** The line as stored in the Log, including fields that this version does not know. */
      readonly raw: EventEnvelope
      /** With its long fields; absent if this version does not know its type or shape, or a stored field is missing. */
      readonly event?: WholeEvent
    }
  /** Never stored. A client that reads too slowly misses some. */
  | { readonly kind: 'ephemeral'; readonly ephemeral: EphemeralEvent }
  /** Events after this number may have been lost in a crash before they were durable. All after it follow again. */
  | { readonly kind: 'rewound'; readonly after_seq: number }
  /** The Log cannot be read any further. Nothing follows. */
  | { readonly kind: 'failed'; readonly error: HawserError }

export interface StreamOptions {
  /** -1 for all. */
  readonly after_seq: number
  readonly signal?: AbortSignal
}

/** The Log of an open Session. */
export interface StreamedLog {
  readonly session: SessionId
  readonly parts: ReadParts
  /** The number of the next line. */
  readonly nextSeq: () => number
  readonly subscribe: () => Subscription
  /** The questions that are open now, and the newest settled ones. */
  readonly questions: () => readonly QuestionUpdate[]
  /** A position at or before the line with this number, as near as known. */
  readonly placeBefore: (seq: number) => Cursor
}

/**
 * Every Event after `after_seq`, then whatever happens, until `signal` aborts or the Session is closed. Each Event comes
 * once, in order, however slowly it is read: what does not fit in memory is read from the Log.
 */
export async function* sessionStream(
  log: StreamedLog,
  after_seq: number,
  signal?: AbortSignal,
): AsyncGenerator<SessionUpdate, void> {
  // The position of the next line to deliver, or one before it.
  let from = log.placeBefore(after_seq + 1)
  let next = Math.max(0, Math.min(after_seq + 1, log.nextSeq()))
  const deliver = async (line: LogLine): Promise<SessionUpdate> => {
    from = line.next
    next = line.seq + 1
    return { kind: 'event', ...(await readLine(log.parts, line)) }
  }
  const isStopped = () => signal?.aborted === true
  const questions = new QuestionReports()
  for (;;) {
    if (isStopped()) return
    const live = log.subscribe()
    const stop = () => live.close()
    signal?.addEventListener('abort', stop)
    let lagged = false
    try {
      for await (const line of linesUpTo(log, from, live.lastSeq)) {
        if (!line.ok) {
          yield { kind: 'failed', error: line.error }
          return
        }
        if (isStopped()) return
        if (line.value.seq >= next) yield await deliver(line.value)
      }
      for (const one of log.questions()) if (questions.isNews(one)) yield asUpdate(one)
      for await (const update of live) {
        if (update.kind === 'ephemeral') {
          if (questions.isNews(update.ephemeral)) yield update
        } else if (update.kind === 'resync') lagged = true
        else if (update.line.seq >= next) yield await deliver(update.line)
      }
    } finally {
      live.close()
      signal?.removeEventListener('abort', stop)
    }
    if (!lagged) return
    const holds = await positionHolds(log, from)
    if (!holds.ok) {
      yield { kind: 'failed', error: holds.error }
      return
    }
    if (holds.value) continue
    from = LOG_START
    next = 0
    yield { kind: 'rewound', after_seq: -1 }
  }
}

function asUpdate(ephemeral: EphemeralEvent): SessionUpdate {
  return { kind: 'ephemeral', ephemeral }
}

/** Reports each question to a reader once, and that it is settled only if the reader saw it open. */
class QuestionReports {
  readonly #open = new Set<string>()

  isNews({ type, data }: EphemeralEvent): boolean {
    if (type === 'permission_settled') return this.#open.delete(data.request_id)
    if (type !== 'permission_requested') return true
    const isNew = !this.#open.has(data.request_id)
    this.#open.add(data.request_id)
    return isNew
  }
}

interface ReadLine {
  readonly raw: EventEnvelope
  readonly event?: WholeEvent
}

/** The lines from a position up to number `upTo`, with one page of the Log in memory. */
async function* linesUpTo(
  log: StreamedLog,
  start: Cursor,
  upTo: number,
): AsyncGenerator<Result<LogLine>, void> {
  let from = start
  while (from.seq <= upTo) {
    const page = await readPage(log, from)
    if (!page.ok) {
      yield page
      return
    }
    // The lines were cut meanwhile; the subscription reports it.
    if (page.value.length === 0) return
    for (const line of page.value) {
      if (line.seq > upTo) return
      from = line.next
      yield ok(line)
    }
  }
}

const PAGE_BYTES = 256 * 1024

/** The lines from a position, about as many as fit in a page; none if the position no longer holds. */
async function readPage(log: StreamedLog, from: Cursor): Promise<Result<readonly LogLine[]>> {
  return reading(log, async (reader) => {
    const lines: LogLine[] = []
    const end = await reader.forward((line) => {
      lines.push(line)
      return line.next.offset - from.offset >= PAGE_BYTES ? false : undefined
    }, from)
    if (!end.ok) return end.error.kind === 'cursor_expired' ? ok([]) : end
    const { damage } = end.value
    return damage === undefined || lines.length > 0 ? ok(lines) : { ok: false, error: damage }
  })
}

function positionHolds(log: StreamedLog, place: Cursor): Promise<Result<boolean>> {
  return reading(log, async (reader) => ok(await reader.holds(place)))
}

async function reading<T>(
  { parts, session }: StreamedLog,
  work: (reader: LogReader) => Promise<Result<T>>,
): Promise<Result<T>> {
  const reader = await openReader(parts.place, session)
  if (!reader.ok) return reader
  try {
    return await work(reader.value)
  } finally {
    await reader.value.close()
  }
}

/** Redacts again, because another process may have written it, and a key may be known only now. */
async function readLine(
  { store, secrets }: ReadParts,
  { content, inheritance }: LogLine,
): Promise<ReadLine> {
  const raw: EventEnvelope = content.event
  const event = content.isKnown ? await wholeEvent(store, content.event, inheritance) : undefined
  return new Redactor(secrets).value({ raw, ...(event === undefined ? {} : { event }) })
}
