import type { AppendFailure } from '../../../src/host/files/durable-file.ts'
import { FileFailure } from '../../../src/host/files/files.ts'
import type { Fence } from '../../../src/log/lease-store.ts'
import type { LogStore, ReadableLog, WritableLog } from '../../../src/log/log-store.ts'
import { failed, type HawserError } from '../../../src/model/errors.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { lost, type MemoryEngine, type StoredLog } from './memory-engine.ts'

/** Logs in memory. An append is one step: when the power is cut in it, any part of it may be readable, and none is durable. */
export function memoryLogs(engine: MemoryEngine): LogStore {
  const { logs, hidden } = engine.state
  return {
    label: 'memory',
    each: async (visit) => {
      for (const [session, { bytes, pieces }] of logs) {
        await visit(`${session}.ndjson`, once(bytes))
        for (const [name, piece] of pieces) await visit(name, once(piece))
      }
      return undefined
    },
    tidy: async () => {},
    create: async (session, fence) => {
      if (!fence.mayHold()) throw lost(session)
      if (!SessionId.safeParse(session).success) throw new FileFailure('EINVAL', session)
      engine.step()
      if (logs.has(session)) throw new FileFailure('EEXIST', session)
      const log: StoredLog = {
        bytes: Buffer.alloc(0),
        durable: 0,
        pieces: new Map(),
        watchers: new Set(),
        isDeleted: false,
      }
      logs.set(session, log)
      return writable(engine, { session, log, own: readable(engine, log) }, fence)
    },
    open: async (session) => {
      engine.checkPower()
      const log = logs.get(session)
      return log === undefined ? undefined : readable(engine, log)
    },
    openToWrite: async (session) => {
      engine.checkPower()
      const log = logs.get(session)
      if (log === undefined) return undefined
      const own = readable(engine, log)
      return { ...own, under: (fence) => writable(engine, { session, log, own }, fence) }
    },
    watch: async (session, changed) => {
      const watchers = logs.get(session)?.watchers
      if (watchers === undefined) return undefined
      watchers.add(changed)
      return { close: () => void watchers.delete(changed) }
    },
    list: async () => {
      engine.checkPower()
      return [...logs.keys()].filter((session) => !hidden.has(session))
    },
    hide: async (session, fence) => {
      if (!fence.mayHold()) throw lost(session)
      engine.step()
      hidden.add(session)
      logs.get(session)?.pieces.clear()
    },
    isHidden: async (session) => hidden.has(session),
    listHidden: async () => [...hidden],
    delete: async (session, fence) => {
      if (!fence.mayHold()) throw lost(session)
      engine.step()
      hidden.delete(session)
      const log = logs.get(session)
      if (log === undefined) return false
      logs.delete(session)
      log.isDeleted = true
      log.pieces.clear()
      for (const changed of log.watchers) changed()
      return true
    },
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes
}

function readable(engine: MemoryEngine, log: StoredLog): ReadableLog {
  let isClosed = false
  const checkOpen = () => {
    engine.checkPower()
    if (isClosed) throw new FileFailure('EBADF', 'a Log was used after it was closed')
  }
  return {
    stat: async () => {
      checkOpen()
      return { size: log.bytes.length, links: log.isDeleted ? 0 : 1 }
    },
    read: async (into, position) => {
      checkOpen()
      const bytes = log.bytes.subarray(position, position + into.length)
      into.set(bytes)
      return bytes.length
    },
    sync: async () => {
      engine.step()
      log.durable = log.bytes.length
    },
    close: async () => {
      isClosed = true
    },
  }
}

function writable(
  engine: MemoryEngine,
  { session, log, own }: { session: SessionId; log: StoredLog; own: ReadableLog },
  fence: Fence,
): WritableLog {
  let isStopped = false
  const mustHold = () => {
    if (!fence.mayHold()) throw lost(session)
  }
  const put = (bytes: Buffer) => {
    log.bytes = bytes
    for (const changed of log.watchers) changed()
  }
  return {
    ...own,
    append: async (bytes, at) => {
      engine.checkPower()
      if (!fence.mayHold() || log.isDeleted || at !== log.bytes.length) isStopped = true
      if (isStopped) return changedLog(session)
      if (engine.fault === 'full') return { error: noSpace(session) }
      // The first half is what a reader may see of a write that was cut.
      engine.step(() => put(Buffer.concat([log.bytes, bytes.subarray(0, bytes.length >> 1)])))
      put(Buffer.concat([log.bytes, bytes]))
      const { fault } = engine
      if (fault !== undefined || !(await fence.holds())) {
        isStopped = true
        if (fault !== 'sync and rollback') put(log.bytes.subarray(0, at))
        return changedLog(session)
      }
      log.durable = log.bytes.length
      return undefined
    },
    settle: async (_from, work) => {
      mustHold()
      const result = await work(async () => {})
      engine.step()
      log.durable = log.bytes.length
      return result
    },
    cut: async (offset, { seq, bytes }) => {
      mustHold()
      engine.checkSpace()
      engine.step()
      const first = `${session}.torn-${seq}`
      const same = [...log.pieces].find(([, piece]) => piece.equals(bytes))
      const nth = piecesAt(log, first).length + 1
      if (same === undefined) log.pieces.set(nth === 1 ? first : `${first}-${nth}`, bytes)
      put(log.bytes.subarray(0, offset))
      log.durable = Math.min(log.durable, offset)
    },
    pieces: async (seq) => piecesAt(log, `${session}.torn-${seq}`),
  }
}

function piecesAt({ pieces }: StoredLog, first: string) {
  return [...pieces].flatMap(([name, bytes]) =>
    name === first || name.startsWith(`${first}-`) ? [{ name, size: bytes.length }] : [],
  )
}

function noSpace(session: SessionId): HawserError {
  return failed('storage_failed', 'The memory of the test is full.', { session_id: session }).error
}

function changedLog(session: SessionId): AppendFailure {
  const text = 'Another program deleted or changed the Log while it was being written.'
  const { error } = failed('storage_failed', text, { session_id: session })
  return { error, stop: error }
}
