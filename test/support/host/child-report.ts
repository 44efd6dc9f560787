import { writeSync } from 'node:fs'
import * as z from 'zod'
import type { HawserError } from '../../../src/model/errors.ts'
import { BlobKey, SessionId, Sha256 } from '../../../src/model/ids.ts'
import type { LogLine } from '../../../src/log/line.ts'

/** The reports of a child process on its standard output, one per line, each after the fact. */
export const ChildReport = z.discriminatedUnion('what', [
  /** It is running and expects its order. */
  z.object({ what: z.literal('ready') }),
  /** A Session is about to be created; nothing is promised yet. */
  z.object({ what: z.literal('begins'), session: SessionId }),
  /** It holds the Log. */
  z.object({ what: z.literal('opened'), session: SessionId }),
  z.object({
    what: z.literal('events'),
    session: SessionId,
    lines: z.array(z.tuple([z.int(), Sha256])),
  }),
  z.object({ what: z.literal('blob'), key: BlobKey }),
  z.object({
    what: z.literal('refused'),
    doing: z.enum(['open', 'append', 'put']),
    kind: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()),
  }),
  /** The child itself found a broken promise. */
  z.object({ what: z.literal('offence'), about: z.enum(['events', 'blobs']), text: z.string() }),
  /** A Turn has ended. */
  z.object({ what: z.literal('turn'), status: z.string(), kind: z.string().optional() }),
  /** Bytes of memory: before a task, the peak during it, and after it. */
  z.object({ what: z.literal('memory'), before: z.int(), peak: z.int(), after: z.int() }),
  /** What the Log of the Session cannot prove. */
  z.object({ what: z.literal('unproven'), text: z.string() }),
  /** A frame: before it is submitted, when it has its number, or when someone read it. */
  z.object({
    what: z.literal('frame'),
    how: z.enum(['submitted', 'issued', 'read']),
    seq: z.int(),
    type: z.string(),
    name: z.string(),
    replyTo: z.string().optional(),
  }),
  /** Something that it tried; refused if it is not done. */
  z.object({ what: z.literal('act'), name: z.string(), isDone: z.boolean() }),
  z.object({ what: z.literal('done') }),
])
export type ChildReport = z.infer<typeof ChildReport>

/** Written synchronously and completely, so that it precedes everything after this call. */
export function emit(report: ChildReport): void {
  let rest = Buffer.from(`${JSON.stringify(report)}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      // The pipe is full at the moment.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}

export function emitEvents(session: SessionId, lines: readonly LogLine[]): void {
  emit({ what: 'events', session, lines: lines.map(({ seq, hash }) => [seq, hash]) })
}

export function emitRefusal(
  doing: 'open' | 'append' | 'put',
  { kind, message, details }: HawserError,
): void {
  emit({ what: 'refused', doing, kind, message, details })
}

/** The acknowledgements that children got from the Log and the store, as far as they were reported. */
export class Ledger {
  /** Hash of each acknowledged line by number; empty for a Session that was only announced. */
  readonly sessions = new Map<SessionId, Map<number, string>>()
  readonly blobs = new Set<BlobKey>()
  readonly refusals: Extract<ChildReport, { what: 'refused' }>[] = []

  note(report: ChildReport): void {
    if (report.what === 'begins') this.#lines(report.session)
    if (report.what === 'events') {
      for (const [seq, hash] of report.lines) this.#lines(report.session).set(seq, hash)
    }
    if (report.what === 'blob') this.blobs.add(report.key)
    if (report.what === 'refused') this.refusals.push(report)
  }

  /** A Session with something acknowledged, the newest first. */
  newest(): SessionId | undefined {
    return [...this.sessions].findLast(([, lines]) => lines.size > 0)?.[0]
  }

  #lines(session: SessionId): Map<number, string> {
    const lines = this.sessions.get(session) ?? new Map<number, string>()
    this.sessions.set(session, lines)
    return lines
  }
}
