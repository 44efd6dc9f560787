import type { FolderPlace } from '../../host/files/disk.ts'
import { asResult, closing } from '../../host/files/files.ts'
import { cursorHolds } from '../../log/backward.ts'
import { damageError } from '../../log/damage.ts'
import { headOf, type HeadRecord } from '../../log/head-record.ts'
import type { HeadStore } from '../../log/head-store.ts'
import type { Cursor, Fault, LogLine } from '../../log/line.ts'
import type { ReadableLog } from '../../log/log-store.ts'
import { findTornTail } from '../../log/repair.ts'
import { LOG_START, scan } from '../../log/scan.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { GuestLogStore, GuestRecords } from '../records/guest-records.ts'
import type { TetherAddress, TetherBinding } from '../../model/tether/tether-address.ts'

export interface GuestLogsParts {
  readonly instance: string
  /** The workspace of the Instance. */
  readonly workspace: FolderPlace
  /** The server's own heads of its Logs, where the guest cannot see them. */
  readonly heads: HeadStore
  readonly records: Pick<GuestRecords, 'inLogs'>
  /** The most bytes that one check reads of one Log. */
  readonly mostBytes?: number
}

const MOST_BYTES = 1024 * 1024 * 1024

/**
 * The Logs of a guest, which it can change as it likes. A Log may only grow: the server's head is the end of the last Turn that
 * it has seen, and the Log must contain it. Changes to lines before the head are found when the whole Log is read. Logs that
 * name another Instance, or none, are ignored.
 */
export class GuestLogs {
  readonly #parts: GuestLogsParts
  readonly #heads: HeadStore
  /** The conversations of the Logs of this Instance. */
  readonly #bindings = new Map<SessionId, TetherBinding>()

  constructor(parts: GuestLogsParts) {
    this.#parts = parts
    this.#heads = parts.heads
  }

  /** Reads every Log of the Instance completely. Before a guest starts. */
  verify(): Promise<Result<void>> {
    return this.#each((session, logs) => this.#check(session, logs, true))
  }

  /** Reads what was added to the Logs of one conversation. After each message. */
  follow(address: TetherAddress): Promise<Result<void>> {
    return this.#each(async (session, logs, hasHead) => {
      const bound = this.#bindings.get(session)
      // Without a head, the guest can still change the first line, which says whose Log it is.
      const isOther =
        hasHead &&
        bound !== undefined &&
        (bound.channel !== address.channel || bound.id !== address.id)
      return isOther ? ok(undefined) : this.#check(session, logs, false)
    })
  }

  async #each(
    check: (session: SessionId, logs: GuestLogStore, hasHead: boolean) => Promise<Result<void>>,
  ): Promise<Result<void>> {
    return asResult('read the Logs of the agent', async () => {
      const known = new Set(await this.#heads.list())
      const result = await this.#parts.records.inLogs(this.#parts, async (logs) => {
        const present = await logs.list()
        for (const session of new Set([...known, ...present])) {
          const checked = await check(session, logs, known.has(session))
          if (!checked.ok) return checked
        }
        return ok(undefined)
      })
      const [lost] = known
      return result ?? (lost === undefined ? ok(undefined) : goneLog(lost))
    })
  }

  async #check(session: SessionId, logs: GuestLogStore, whole: boolean): Promise<Result<void>> {
    const head = await this.#heads.read(session)
    if (!head.ok) return head
    const file = await logs.open(session)
    if (file === undefined) return head.value === undefined ? ok(undefined) : goneLog(session)
    return closing(file, async () => {
      const from = whole || head.value === undefined ? LOG_START : cursorAfter(head.value)
      return this.#read(session, file, head.value, from)
    })
  }

  async #read(
    session: SessionId,
    file: ReadableLog,
    head: HeadRecord | undefined,
    from: Cursor,
  ): Promise<Result<void>> {
    const most = this.#parts.mostBytes ?? MOST_BYTES
    if ((await file.stat()).size - from.offset > most) return logTooLong(session, most)
    if (!(await cursorHolds(file, from))) return changedLog(session, from.offset, 'head_differs')
    let isOurs = head !== undefined
    let last: Cursor | undefined
    let differs = false
    const end = await scan(file, { session, strict: true, from }, (line) => {
      if (line.offset === 0) isOurs = this.#bind(session, line) || isOurs
      if (!isOurs) return false
      if (head !== undefined && line.seq === head.seq) differs = line.hash !== head.hash
      if (differs) return false
      if (line.content.event.type === 'turn_ended') last = line.next
      return line.next.offset - from.offset > most ? false : undefined
    })
    if (!isOurs) return ok(undefined)
    if (differs) return changedLog(session, head?.offset ?? 0, 'head_differs')
    const { cursor, fault } = end
    // The guest may be writing, or was killed while it wrote.
    if (fault !== undefined && (await findTornTail(file, session, end)) === undefined)
      return changedLog(session, fault.offset, fault.reason)
    if (head !== undefined && cursor.seq <= head.seq)
      return changedLog(session, cursor.offset, 'head_missing')
    if (last === undefined || last.seq - 1 <= (head?.seq ?? -1)) return ok(undefined)
    // The head must not be ahead of what survives a power cut.
    await file.sync()
    await this.#heads.write(session, headOf(last, undefined))
    return ok(undefined)
  }

  /** Whether the first line of a Log says that it belongs to this Instance. */
  #bind(session: SessionId, { content }: LogLine): boolean {
    const { isKnown, event } = content
    const tether = isKnown && event.type === 'session_started' ? event.data.tether : undefined
    if (tether?.instance !== this.#parts.instance) return false
    this.#bindings.set(session, tether)
    return true
  }
}

function cursorAfter({ seq, hash, offset }: HeadRecord): Cursor {
  return { seq: seq + 1, prev: hash, offset }
}

function changedLog(session: SessionId, offset: number, reason: Fault): Failed {
  const { details, message, next_actions } = damageError(session, offset, reason).error
  return failed(
    'log_damaged',
    `The Log of Session ${session} was tampered with. ${message}`,
    details,
    [...next_actions, RESTORE],
  )
}

const RESTORE = { action: 'Restore the Log from a backup, or create the Instance again.' }

function goneLog(session: SessionId): Failed {
  const message = `The Log of Session ${session} is gone.`
  return failed('log_damaged', message, { session_id: session, reason: 'missing' }, [RESTORE])
}

function logTooLong(session: SessionId, limit: number): Failed {
  const message = `The Log of Session ${session} grew by more than ${limit} bytes at once.`
  return failed('too_large', message, { session_id: session, limit })
}
