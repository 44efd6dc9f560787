import { ifPossible, readSpan } from '../host/files/files.ts'
import { readEvent } from '../model/events/event.ts'
import type { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { Fence } from './lease-store.ts'
import { Lineage, type LineagePart } from './lineage.ts'
import { decodeLine, type Cursor } from './line.ts'
import type {
  LogFacts,
  LogStore,
  ReadableLog,
  UnfencedLog,
  VisitBytes,
  WritableLog,
} from './log-store.ts'

/** Opens a Log to read, after the Logs that it was forked from; `undefined` if there is none. */
export async function openLineage(
  logs: Pick<LogStore, 'open'>,
  session: SessionId,
): Promise<ReadableLog | undefined> {
  const own = await logs.open(session)
  return own && withParents(logs, session, own, (parts) => parts ?? own)
}

/** The same to write; only the last Log of the lineage can be changed. */
export async function openLineageToWrite(
  logs: Pick<LogStore, 'open' | 'openToWrite'>,
  session: SessionId,
): Promise<UnfencedLog | undefined> {
  const own = await logs.openToWrite(session)
  return (
    own &&
    withParents(logs, session, own, (parts) => {
      if (parts === undefined) return own
      const under = (fence: Fence) => new ForkLog(parts, own.under(fence))
      return Object.assign(parts, { under })
    })
  )
}

/** A new Log that continues a lineage at `start`, to write its first line. */
export function newFork(own: WritableLog, session: SessionId, start: Cursor): WritableLog {
  return new ForkLog(new LineageLog(start, [{ session, start, file: own }]), own)
}

/** What a Log was forked from. */
export interface ForkOrigin {
  readonly parent: SessionId
  /** The position of its first line. */
  readonly start: Cursor
}

/** What the first line of a Log says it was forked from; `undefined` for a root, and for a line that says nothing valid. */
export async function forkOf(
  file: ReadableLog,
  session: SessionId,
): Promise<ForkOrigin | undefined> {
  // Nearly every Log is a root, which these bytes tell.
  let begin = await readSpan(file, 0, ROOT.length)
  if (begin.length === 0 || begin.toString('latin1') === ROOT) return undefined
  for (const bytes of READS) if (!begin.includes(NEWLINE)) begin = await readSpan(file, 0, bytes)
  const end = begin.indexOf(NEWLINE)
  const decoded = end === -1 ? undefined : decodeLine(begin.subarray(0, end), false)
  if (decoded?.ok !== true || decoded.envelope.session_id !== session) return undefined
  const { isKnown, event } = readEvent(decoded.envelope)
  if (!isKnown || event.type !== 'session_fork') return undefined
  const { seq, prev, data } = event
  const { parent_session_id: parent, at_seq, at_hash, at_offset } = data
  if (parent === undefined || at_offset === undefined) return undefined
  if (at_seq === undefined || seq !== at_seq + 1 || prev !== at_hash) return undefined
  return { parent, start: { offset: at_offset, seq, prev } }
}

const ROOT = '{"v":1,"seq":0,'
/** Enough without inherited Resources, with as many as the line names, and for any line. */
const READS = [4096, 16 * 1024, LIMITS.event_line_bytes + 1] as const
const NEWLINE = 10

/** More are not opened at once. */
export const MOST_PARENTS = 200

interface OpenPart extends LineagePart {
  readonly file: ReadableLog
}

/** Closes everything if a parent cannot be opened. */
async function withParents<T>(
  logs: Pick<LogStore, 'open'>,
  session: SessionId,
  own: ReadableLog,
  use: (parts: LineageLog | undefined) => T,
): Promise<T> {
  const parts: OpenPart[] = []
  let start: Cursor | undefined
  try {
    for (let file: ReadableLog | undefined = own, id = session; file !== undefined;) {
      const fork = await forkOf(file, id)
      const next = parts[0]
      if (next !== undefined && !(await precedes(file, fork, next))) {
        await file.close()
        break
      }
      parts.unshift({ session: id, start: fork?.start ?? ROOT_START, file })
      start = fork?.start
      if (fork === undefined || parts.length > MOST_PARENTS) break
      id = fork.parent
      file = await logs.open(id)
    }
  } catch (error) {
    await Promise.all(
      [own, ...parts.map(({ file }) => file)].map((file) => ifPossible(file.close())),
    )
    throw error
  }
  const isRoot = parts.length === 1 && start === undefined
  return use(isRoot ? undefined : new LineageLog(start ?? ROOT_START, parts))
}

const ROOT_START: Cursor = { offset: 0, seq: 0, prev: null }

/** Whether a Log begins before the one that was forked from it, and has all bytes up to there. */
async function precedes(
  file: ReadableLog,
  fork: ForkOrigin | undefined,
  next: OpenPart,
): Promise<boolean> {
  const from = fork?.start ?? ROOT_START
  if (from.offset >= next.start.offset || from.seq >= next.start.seq) return false
  return from.offset + (await file.stat()).size >= next.start.offset
}

/** The Logs of a lineage as one. */
class LineageLog implements ReadableLog {
  readonly lineage: Lineage
  readonly #parts: readonly OpenPart[]

  constructor(start: Cursor, parts: readonly OpenPart[]) {
    this.lineage = new Lineage(start, parts)
    this.#parts = parts
  }

  async stat(): Promise<LogFacts> {
    const own = this.#parts.at(-1)
    if (own === undefined) return { size: 0, links: 0 }
    const { size, links } = await own.file.stat()
    return { size: own.start.offset + size, links }
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    const at = this.#parts.findLastIndex(({ start }) => start.offset <= position)
    const part = this.#parts[at]
    if (part === undefined) return 0
    const end = this.#parts[at + 1]?.start.offset ?? Infinity
    const fitting = into.subarray(0, Math.min(into.length, end - position))
    return part.file.read(fitting, position - part.start.offset)
  }

  /** What is inherited was durable before it was shared. */
  async sync(): Promise<void> {
    await this.#parts.at(-1)?.file.sync()
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map(({ file }) => file.close()))
  }
}

/** The last Log of a lineage, open to write. */
class ForkLog implements WritableLog {
  readonly lineage: Lineage
  readonly #all: LineageLog
  readonly #own: WritableLog

  constructor(all: LineageLog, own: WritableLog) {
    this.lineage = all.lineage
    this.#all = all
    this.#own = own
  }

  stat(): Promise<LogFacts> {
    return this.#all.stat()
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.#all.read(into, position)
  }

  sync(): Promise<void> {
    return this.#own.sync()
  }

  close(): Promise<void> {
    return this.#all.close()
  }

  append(bytes: Buffer, at: number): ReturnType<WritableLog['append']> {
    return this.#own.append(bytes, at - this.lineage.ownStart)
  }

  settle<T>(from: number, work: (visit: VisitBytes) => Promise<T>): Promise<T> {
    const { ownStart } = this.lineage
    return this.#own.settle(Math.max(0, from - ownStart), (visit) =>
      // What is inherited was durable before it was shared.
      work(async (bytes, position) => {
        const inherited = Math.max(0, ownStart - position)
        if (inherited < bytes.length)
          await visit(bytes.subarray(inherited), position + inherited - ownStart)
      }),
    )
  }

  cut(offset: number, piece: Parameters<WritableLog['cut']>[1]): Promise<void> {
    return this.#own.cut(offset - this.lineage.ownStart, piece)
  }

  pieces(seq: number): ReturnType<WritableLog['pieces']> {
    return this.#own.pieces(seq)
  }
}
