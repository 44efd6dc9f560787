import { canonicalJson, depthWithin, parseJson } from '../../encoding/json.ts'
import { LineFramer } from '../../encoding/lines.ts'
import { asResult, ifPossible, readSpan } from '../../host/files/files.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import {
  readEvent,
  spilledBlobs,
  type EventDraft,
  type EventEnvelope,
} from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { BlobKey, EventId, SessionId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { LogWriter } from '../append.ts'
import { foreign, notFound } from '../fold-log.ts'
import { Inheritance } from '../inherited.ts'
import { decodeLine } from '../line.ts'
import type { ReadableLog } from '../log-store.ts'
import { beginLog, type WriterOptions } from '../open.ts'
import type { LogPlace } from '../place.ts'
import { RecordedSettings } from '../recorded-settings.ts'
import { LOG_START } from '../scan.ts'
import { isAbsent } from '../unbegun.ts'

export interface SalvageOptions<State> extends WriterOptions<State> {
  /** A long field of an Event; `undefined` if it cannot be read. By default, none can. */
  readonly readField?: (key: BlobKey) => Promise<Buffer | undefined>
}

export interface SalvageResult {
  readonly session_id: SessionId
  readonly events: number
  /** Line numbers of the old Log for which no intact line was found. */
  readonly missing: readonly Gap[]
}

interface Gap {
  readonly from_seq: number
  readonly to_seq: number
}

/** An intact line found in a damaged Log. */
interface FoundLine {
  readonly file: ReadableLog
  /** How the Session that is salvaged reads a line of a parent. */
  readonly inheritance: Inheritance | undefined
  readonly seq: number
  readonly offset: number
  readonly length: number
  readonly hash: string
  readonly prev: string | null
}

/**
 * Copies every intact line of a Log, and of the parents it was forked from, into a new, self-contained Log. Ids and times
 * stay, and inherited Resources keep the ids that they have in the fork; a notice marks missing lines. The old Log is not
 * changed. A foreign Session is refused: its copy would count as one of this machine although no person has trusted the original.
 */
export async function salvageLog<State>(
  place: LogPlace,
  session: SessionId,
  options: SalvageOptions<State>,
): Promise<Result<SalvageResult>> {
  return asResult('salvage the Log', async () => {
    const head = await place.heads.read(session)
    if (!head.ok && head.error.kind !== 'log_damaged') return head
    const files: ReadableLog[] = []
    try {
      const finds = await findWithParents(place, session, Infinity, files)
      const [own] = files
      if (own === undefined) return notFound(session)
      if (head.ok && (await isAbsent(place, own, session, head.value))) return notFound(session)
      if (head.ok && head.value === undefined) return foreign(session)
      const lines = chooseOnePerNumber(finds)
      const missing = gapsOf(lines, head.ok ? (head.value?.seq ?? -1) : -1)
      // Without a readable head, nothing says which lines it covered.
      const vouchedSeq = head.ok ? (head.value?.seq ?? -1) : Infinity
      return await writeNew(place, session, options, { lines, missing, vouchedSeq })
    } finally {
      await Promise.all(files.map((file) => ifPossible(file.close())))
    }
  })
}

async function writeNew<State>(
  place: LogPlace,
  session: SessionId,
  options: SalvageOptions<State>,
  found: Salvageable,
): Promise<Result<SalvageResult>> {
  const { lines, missing } = found
  const fresh = place.ids.session()
  const start = { cursor: LOG_START, state: options.fold.initial }
  const written = await beginLog(place, fresh, start, options, (writer) =>
    copyAll(writer, session, found, options),
  )
  if (!written.ok) return written
  await written.value.release()
  return ok({ session_id: fresh, events: lines.length, missing })
}

interface Salvageable {
  readonly lines: readonly FoundLine[]
  readonly missing: readonly Gap[]
  /** The number of the last line that the head covers. */
  readonly vouchedSeq: number
}

/** Intact lines of this Log and, for a fork, of its parents up to the fork point. Adds opened files to `files`. */
async function findWithParents(
  place: LogPlace,
  session: SessionId,
  throughSeq: number,
  files: ReadableLog[],
  heirs: readonly SessionId[] = [],
): Promise<FoundLine[]> {
  const file = await place.logs.open(session)
  if (file === undefined) return []
  files.push(file)
  const finds: FoundLine[] = []
  const inheritance = heirs.length === 0 ? undefined : new Inheritance(heirs)
  let parent: { session: SessionId; atSeq: number } | undefined
  for await (const { envelope, ...find } of wholeLines(file)) {
    if (envelope.session_id !== session || find.seq > throughSeq) continue
    finds.push({ file, inheritance, ...find })
    const { isKnown, event } = readEvent(envelope)
    // Only the first line names the parent; a salvaged Log contains such a line further on.
    if (find.offset === 0 && isKnown && event.type === 'session_fork') {
      parent = { session: event.data.parent_session_id, atSeq: event.data.at_seq }
    }
  }
  // The numbers bound the depth of a lineage: each parent ends strictly before its child.
  if (parent === undefined || parent.atSeq >= throughSeq) return finds
  const inherited = [session, ...heirs]
  const { session: id, atSeq } = parent
  return [...(await findWithParents(place, id, atSeq, files, inherited)), ...finds]
}

const CHUNK_BYTES = 256 * 1024

async function* wholeLines(
  file: ReadableLog,
): AsyncGenerator<Omit<FoundLine, 'file' | 'inheritance'> & { envelope: EventEnvelope }> {
  const framer = new LineFramer(LIMITS.event_line_bytes)
  for (let position = 0; ;) {
    const chunk = await readSpan(file, position, CHUNK_BYTES)
    if (chunk.length === 0) return
    position += chunk.length
    for (const framed of framer.push(chunk)) {
      if ('overlong' in framed) continue
      const decoded = decodeLine(framed.bytes, true)
      if (!decoded.ok) continue
      const { envelope, hash } = decoded
      const { seq, prev } = envelope
      yield { seq, prev, hash, offset: framed.offset, length: framed.bytes.length, envelope }
    }
  }
}

/** Sorted by number. Of two lines with one number, the one that the next line names; otherwise the first. */
function chooseOnePerNumber(finds: readonly FoundLine[]): FoundLine[] {
  const bySeq = new Map<number, FoundLine[]>()
  for (const find of finds) {
    const others = bySeq.get(find.seq)
    if (others === undefined) bySeq.set(find.seq, [find])
    else others.push(find)
  }
  const chosen: FoundLine[] = []
  for (const seq of [...bySeq.keys()].toSorted((a, b) => b - a)) {
    const candidates = bySeq.get(seq) ?? []
    const next = chosen.at(-1)
    const named =
      next?.seq === seq + 1 ? candidates.find(({ hash }) => hash === next.prev) : undefined
    const best = named ?? candidates[0]
    if (best !== undefined) chosen.push(best)
  }
  return chosen.toReversed()
}

/** Includes lines missing at the end, as far as the head knows them. */
function gapsOf(chosen: readonly FoundLine[], lastSeq: number): Gap[] {
  let expected = 0
  const gaps: Gap[] = []
  for (const { seq } of chosen) {
    if (seq > expected) gaps.push({ from_seq: expected, to_seq: seq - 1 })
    expected = seq + 1
  }
  if (lastSeq >= expected) gaps.push({ from_seq: expected, to_seq: lastSeq })
  return gaps
}

/** The amount copied in one write. */
const COPY_BYTES = 512 * 1024

async function copyAll<State>(
  writer: LogWriter<State>,
  source: SessionId,
  { lines, missing, vouchedSeq }: Salvageable,
  options: SalvageOptions<State>,
): Promise<Result<unknown>> {
  const settings = new RecordedSettings()
  const compactions: EventId[] = []
  let waiting: EventEnvelope[] = []
  let bytes = 0
  const flush = async (): Promise<Result<unknown>> => {
    const copied = await writer.restore(waiting)
    waiting = []
    bytes = 0
    return copied
  }
  const gapBefore = new Map(missing.map((gap) => [gap.to_seq + 1, gap]))
  for (const find of lines) {
    const gap = gapBefore.get(find.seq)
    if (gap !== undefined || bytes + find.length > COPY_BYTES) {
      const copied = await flush()
      if (!copied.ok) return copied
    }
    if (gap !== undefined) {
      const noted = await writer.append([gapNotice(gap)])
      if (!noted.ok) return noted
    }
    const decoded = decodeLine(await readSpan(find.file, find.offset, find.length), true)
    if (!decoded.ok) return failed('log_damaged', 'The Log changed while it was being salvaged.')
    const logged = readEvent(decoded.envelope)
    const isVouched = find.seq <= vouchedSeq
    settings.see(logged, isVouched)
    if (logged.event.type === 'history_compaction' && isVouched) compactions.push(logged.event.id)
    const own = await asInherited(decoded.envelope, find.inheritance, options)
    if (!own.ok) return own
    waiting.push(own.value)
    bytes += find.length
  }
  const copied = await flush()
  if (!copied.ok) return copied
  const end = missing.filter(({ to_seq }) => to_seq > (lines.at(-1)?.seq ?? -1))
  const text = `This Session was salvaged from ${source}: ${lines.length} of its Events were intact.`
  const last = notice('salvaged', text)
  // A line that restricted permissions may be among the missing ones.
  const undone = missing.length === 0 ? [] : compactions.map(undoneCompaction)
  return writer.append([...end.map(gapNotice), ...undone, last, ...settings.narrowingEvents()])
}

/** A line as the Session that is salvaged reads it, with long fields of its own if they contain ids of Resources. */
async function asInherited<State>(
  line: EventEnvelope,
  inheritance: Inheritance | undefined,
  { keep, readField }: SalvageOptions<State>,
): Promise<Result<EventEnvelope>> {
  if (inheritance === undefined) return ok(line)
  const { isKnown, event } = readEvent(line)
  const data = { ...inheritance.event(line).data }
  for (const [field, key] of isKnown ? spilledBlobs(event) : []) {
    const bytes = key.endsWith('.json') ? await readField?.(key) : undefined
    const value = bytes && parseJson(bytes.toString('utf8'))
    if (value === undefined || !depthWithin(value, LIMITS.event_depth)) continue
    const own = canonicalJson(inheritance.fields(line.type, { [field]: value })[field])
    const kept = await keep(Buffer.from(own), 'application/json')
    if (!kept.ok) return kept
    data[`${field}_blob`] = kept.value
  }
  return ok({ ...line, data })
}

/** Lines after a gap have other numbers than before, and a checkpoint names numbers. */
function undoneCompaction(compaction_event_id: EventId): EventDraft {
  return { type: 'compaction_undone', data: { compaction_event_id, reason: 'salvaged' } }
}

function gapNotice({ from_seq, to_seq }: Gap): EventDraft {
  const text = `Events ${from_seq} to ${to_seq} could not be read and are missing here.`
  return notice('salvage_gap', text)
}
