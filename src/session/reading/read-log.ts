import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import type { Cursor, LogLine } from '../../log/line.ts'
import type { LogPlace } from '../../log/place.ts'
import { openReader, type LogReader, type ReadEnd } from '../../log/reader.ts'
import { LOG_START } from '../../log/scan.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventEnvelope, EventType, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { wholeEvent } from '../../request/whole-event.ts'

/** Where Logs and blobs are, and the keys to redact. */
export interface ReadParts {
  readonly place: LogPlace
  readonly store: BlobStore
  readonly secrets: readonly string[]
}

/** One Event of a Log as it is read. */
export interface ReadEvent {
  /** The line as stored in the Log, including fields that this version does not know. */
  readonly raw: EventEnvelope
  /**
   * With its long fields loaded. Absent if its type was not requested, or if this version cannot read it: its type or
   * shape is unknown, or a stored field is missing.
   */
  readonly event?: WholeEvent
}

/** How a reading ended. */
export type LogEnd = Pick<ReadEnd, 'damage' | 'isUnfinished'> & { readonly foreign: boolean }

export interface ReadOptions {
  /** Only Events of these types get an `event` with its long fields; default: all. */
  readonly types?: readonly EventType[]
  /** Called for every Event before its long fields are loaded; only wanted ones get an `event`. Default: all. */
  readonly isWanted?: (event: EventEnvelope) => boolean
  /** Sessions that are read themselves: what is inherited from them, and through them, is left out. */
  readonly elsewhere?: ReadonlySet<SessionId>
  /** Continue at the end with new Events until this signal aborts. */
  readonly follow?: AbortSignal
}

/** Return false to stop reading. The result is awaited, so a slow reader costs time but no memory. */
export type VisitEvent = (read: ReadEvent) => void | false | Promise<void | false>

/**
 * Passes every Event of a Log to `visit`, in order, with one page in memory at a time. Takes no lock and writes
 * nothing. Redacts again, because a key may be known only now.
 */
export async function readLog(
  parts: ReadParts,
  session: SessionId,
  options: ReadOptions,
  visit: VisitEvent,
): Promise<Result<LogEnd>> {
  const opened = await openReader(parts.place, session)
  if (!opened.ok) return opened
  const reader = opened.value
  const { foreign } = reader
  const { follow, elsewhere } = options
  const from = elsewhere && reader.lineage?.startAfter(elsewhere)
  const take = takeLine(parts, options, visit)
  try {
    const read = await readPages(reader, take, from)
    if (!read.ok) return read
    const { wasStopped, cursor, damage, isUnfinished } = read.value
    if (damage !== undefined || wasStopped || follow === undefined) {
      return ok({ foreign, isUnfinished, ...(damage === undefined ? {} : { damage }) })
    }
    for await (const line of reader.follow(cursor, follow)) {
      if (!line.ok) return line
      if ((await take(line.value)) === false) break
    }
    return ok({ foreign, isUnfinished: false })
  } finally {
    await reader.close()
  }
}

/** Like `readLog`, but the newest Event first, and without following. Damage ends it: what is older is not read. */
export async function readLogBackward(
  parts: ReadParts,
  session: SessionId,
  options: Omit<ReadOptions, 'follow' | 'elsewhere'>,
  visit: VisitEvent,
): Promise<Result<LogEnd>> {
  const opened = await openReader(parts.place, session)
  if (!opened.ok) return opened
  const reader = opened.value
  const end = { foreign: reader.foreign, isUnfinished: false }
  const take = takeLine(parts, options, visit)
  try {
    for await (const line of reader.backward()) {
      if (!line.ok)
        return line.error.kind === 'log_damaged' ? ok({ ...end, damage: line.error }) : line
      if ((await take(line.value)) === false) break
    }
    return ok(end)
  } finally {
    await reader.close()
  }
}

function takeLine(
  { store, secrets }: ReadParts,
  { types, isWanted: wanted }: ReadOptions,
  visit: VisitEvent,
) {
  const redactor = new Redactor(secrets)
  return async ({ content, inheritance }: LogLine) => {
    const raw: EventEnvelope = content.event
    const isWanted = wanted?.(raw) ?? true
    const isKnown = content.isKnown && (types?.includes(content.event.type) ?? true)
    const event =
      isWanted && isKnown ? await wholeEvent(store, content.event, inheritance) : undefined
    return visit(redactor.value({ raw, ...(event === undefined ? {} : { event }) }))
  }
}

/** At most this much of a Log is in memory, plus one line. */
const PAGE_BYTES = 1024 * 1024

async function readPages(
  reader: LogReader,
  take: (line: LogLine) => Promise<void | false>,
  start: Cursor = LOG_START,
): Promise<Result<ReadEnd & { readonly wasStopped: boolean }>> {
  for (let from = start; ;) {
    const { offset } = from
    const page: LogLine[] = []
    let full = false
    const end = await reader.forward((line) => {
      page.push(line)
      full = line.next.offset - offset >= PAGE_BYTES
      return full ? false : undefined
    }, from)
    if (!end.ok) return end
    for (const line of page) {
      if ((await take(line)) === false) return ok({ ...end.value, wasStopped: true })
    }
    if (!full) return ok({ ...end.value, wasStopped: false })
    from = end.value.cursor
  }
}
