import { writeSync } from 'node:fs'
import * as z from 'zod'
import type { HawserError } from '../../src/model/errors.ts'
import { BlobKey, SessionId, Sha256 } from '../../src/model/ids.ts'
import type { LogLine } from '../../src/log/line.ts'

/** What a child process says on its standard output, one line each, after the fact it tells of. */
export const Told = z.discriminatedUnion('what', [
  /** It is up; what it was ordered to do comes next. */
  z.object({ what: z.literal('ready') }),
  /** A Session is about to begin; nothing of it is promised yet. */
  z.object({ what: z.literal('begins'), session: SessionId }),
  /** It has the Log. */
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
  /** The child itself found a promise broken. */
  z.object({ what: z.literal('offence'), about: z.enum(['events', 'blobs']), text: z.string() }),
  /** A Turn came to its end. */
  z.object({ what: z.literal('turn'), status: z.string(), kind: z.string().optional() }),
  /** Bytes of memory: before something was done, the most while it was, and what is left. */
  z.object({ what: z.literal('memory'), before: z.int(), peak: z.int(), after: z.int() }),
  /** What the Log of the Session cannot prove. */
  z.object({ what: z.literal('unproven'), text: z.string() }),
  z.object({ what: z.literal('done') }),
])
export type Told = z.infer<typeof Told>

/** At once and whole: what the other side reads was said before anything that happens after this call. */
export function tell(told: Told): void {
  let rest = Buffer.from(`${JSON.stringify(told)}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      // A pipe that is full for the moment.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}

export function tellEvents(session: SessionId, lines: readonly LogLine[]): void {
  tell({ what: 'events', session, lines: lines.map(({ seq, hash }) => [seq, hash]) })
}

export function tellRefused(
  doing: 'open' | 'append' | 'put',
  { kind, message, details }: HawserError,
): void {
  tell({ what: 'refused', doing, kind, message, details })
}

/** What children were told by the Log and the store, as far as it reached us. */
export class Ledger {
  /** Hash by number of each acknowledged line; a Session that only announced itself has none. */
  readonly sessions = new Map<SessionId, Map<number, string>>()
  readonly blobs = new Set<BlobKey>()
  readonly refusals: Extract<Told, { what: 'refused' }>[] = []

  note(told: Told): void {
    if (told.what === 'begins') this.#lines(told.session)
    if (told.what === 'events') {
      for (const [seq, hash] of told.lines) this.#lines(told.session).set(seq, hash)
    }
    if (told.what === 'blob') this.blobs.add(told.key)
    if (told.what === 'refused') this.refusals.push(told)
  }

  /** A Session of which something was acknowledged, the newest first. */
  newest(): SessionId | undefined {
    return [...this.sessions].findLast(([, lines]) => lines.size > 0)?.[0]
  }

  #lines(session: SessionId): Map<number, string> {
    const lines = this.sessions.get(session) ?? new Map<number, string>()
    this.sessions.set(session, lines)
    return lines
  }
}
