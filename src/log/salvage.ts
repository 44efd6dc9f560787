import { LineFramer } from '../encoding/lines.ts'
import { asResult, readSpan, type File } from '../host/files.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import { readEvent, type EventDraft, type EventEnvelope } from '../model/event.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { LogWriter } from './append.ts'
import { decodeLine } from './line.ts'
import { beginLog, notFound, openLogFile, type Writing } from './open.ts'
import type { LogPlace } from './place.ts'
import { LOG_START } from './scan.ts'

export interface Salvaged {
  readonly session_id: SessionId
  readonly events: number
  /** Numbers of the old Log for which no whole line was found. */
  readonly missing: readonly { readonly from_seq: number; readonly to_seq: number }[]
}

/** A whole line found in a damaged Log. */
interface Find {
  readonly file: File
  readonly seq: number
  readonly offset: number
  readonly length: number
  readonly hash: string
  readonly prev: string | null
}

/**
 * Writes every whole line of a damaged Log, and of the parents it forked from, into a new Log that needs none of them.
 * Ids and times stay; where lines are missing a notice says so in their place. The old Log is not touched.
 */
export async function salvageLog<State>(
  place: LogPlace,
  session: SessionId,
  writing: Writing<State>,
): Promise<Result<Salvaged>> {
  return asResult('salvage the Log', async () => {
    const files: File[] = []
    try {
      const finds = await findWithParents(place, session, Infinity, files)
      if (files.length === 0) return notFound(session)
      const chosen = chooseOnePerNumber(finds)
      const fresh = place.ids.session()
      const missing = gapsOf(chosen)
      const written = await beginLog(place, fresh, LOG_START, writing, (writer) =>
        copyAll(writer, session, chosen),
      )
      if (!written.ok) return written
      await written.value.release()
      return ok({ session_id: fresh, events: chosen.length, missing })
    } finally {
      await Promise.all(files.map((file) => file.close()))
    }
  })
}

/** Whole lines of this Log and, for a fork, those of its parents up to where it left them. Opens into `files`. */
async function findWithParents(
  place: LogPlace,
  session: SessionId,
  throughSeq: number,
  files: File[],
): Promise<Find[]> {
  const file = await openLogFile(place, session, 'read')
  if (file === undefined) return []
  files.push(file)
  const finds: Find[] = []
  let parent: { session: SessionId; atSeq: number } | undefined
  for await (const { envelope, ...find } of wholeLines(file)) {
    if (envelope.session_id !== session || find.seq > throughSeq) continue
    finds.push({ file, ...find })
    const { known, event } = readEvent(envelope)
    if (known && event.type === 'session_fork') {
      parent = { session: event.data.parent_session_id, atSeq: event.data.at_seq }
    }
  }
  // The depth of a lineage is bounded by its numbers: each parent lies strictly before its child.
  if (parent === undefined || parent.atSeq >= throughSeq) return finds
  return [...(await findWithParents(place, parent.session, parent.atSeq, files)), ...finds]
}

async function* wholeLines(
  file: File,
): AsyncGenerator<Omit<Find, 'file'> & { envelope: EventEnvelope }> {
  const framer = new LineFramer(LIMITS.event_line_bytes)
  for (let position = 0; ;) {
    const chunk = await readSpan(file, position, 256 * 1024)
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

/** In order of numbers. Of two lines with one number, the one that the next line names; otherwise the first. */
function chooseOnePerNumber(finds: readonly Find[]): Find[] {
  const bySeq = new Map<number, Find[]>()
  for (const find of finds) bySeq.set(find.seq, [...(bySeq.get(find.seq) ?? []), find])
  const chosen: Find[] = []
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

function gapsOf(chosen: readonly Find[]): Salvaged['missing'] {
  let expected = 0
  const gaps: { from_seq: number; to_seq: number }[] = []
  for (const { seq } of chosen) {
    if (seq > expected) gaps.push({ from_seq: expected, to_seq: seq - 1 })
    expected = seq + 1
  }
  return gaps
}

async function copyAll<State>(
  writer: LogWriter<State>,
  source: SessionId,
  chosen: readonly Find[],
): Promise<Result<unknown>> {
  let expected = 0
  for (const find of chosen) {
    if (find.seq > expected) {
      const told = await writer.append([gapNotice(expected, find.seq - 1)])
      if (!told.ok) return told
    }
    expected = find.seq + 1
    const decoded = decodeLine(await readSpan(find.file, find.offset, find.length), true)
    if (!decoded.ok) return failed('log_damaged', 'The Log changed while it was being salvaged.')
    const copied = await writer.restore([decoded.envelope])
    if (!copied.ok) return copied
  }
  const text = `This Session was salvaged from ${source}, whose Log is damaged: ${chosen.length} Events were whole.`
  return writer.append([{ type: 'notice', data: { code: 'salvaged', text } }])
}

function gapNotice(from: number, to: number): EventDraft {
  const text = `Events ${from} to ${to} of the damaged Log could not be read and are missing here.`
  return { type: 'notice', data: { code: 'salvage_gap', text } }
}
