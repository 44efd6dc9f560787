import { systemClock, timestamp } from '../../../src/host/clock.ts'
import { FileFailure, readSpan } from '../../../src/host/files/files.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { newFork, openLineage, openLineageToWrite } from '../../../src/log/lineage-log.ts'
import { sealLine, type Cursor } from '../../../src/log/line.ts'
import type { LogStore, ReadableLog, WritableLog } from '../../../src/log/log-store.ts'
import type { LogStores } from '../../../src/log/place.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { value } from '../../support/log/story.ts'
import { ids, line } from './log-scene.ts'
import type { EngineUnderTest } from './stores-under-test.ts'

/**
 * An engine whose Logs are forks, each of a parent of its own. A check sees what follows the first line of each, so that a lineage
 * must keep every promise of a Log: reading, fencing, settling, cutting, at other positions than those of its storage.
 */
export function forksOf(engine: EngineUnderTest, parents = new Set<SessionId>()): EngineUnderTest {
  const { process, crash, program: _, ...rest } = engine
  return {
    ...rest,
    process: async () => {
      const stores = await process()
      return { ...stores, logs: forkLogs(stores, parents) }
    },
    ...(crash && {
      crash: {
        steps: () => crash.steps(),
        afterCrash: () => forksOf(crash.afterCrash(), parents),
        afterKill: () => forksOf(crash.afterKill(), parents),
      },
    }),
  }
}

function forkLogs(stores: LogStores, parents: Set<SessionId>): LogStore {
  const { logs } = stores
  return {
    ...logs,
    create: async (session, fence) => {
      const own = await logs.create(session, fence)
      const parent = ids.session()
      parents.add(parent)
      const start = await sharedLine(stores, parent)
      const first = firstLine(session, parent, start)
      const fork = newFork(own, session, start)
      const failure = await fork.append(first, start.offset)
      if (failure !== undefined) throw new FileFailure('EIO', failure.error.message)
      return writableFrom(fork, start.offset + first.length)
    },
    open: async (session) => {
      const log = await openLineage(logs, session)
      const begin = log && (await beginOf(log))
      return log === undefined || begin === undefined ? undefined : readableFrom(log, begin)
    },
    openToWrite: async (session) => {
      const log = await openLineageToWrite(logs, session)
      const begin = log && (await beginOf(log))
      if (log === undefined || begin === undefined) return undefined
      return {
        ...readableFrom(log, begin),
        under: (fence) => writableFrom(log.under(fence), begin),
      }
    },
    list: async () => (await logs.list()).filter((session) => !parents.has(session)),
  }
}

/** A parent with one shared line, and one that it wrote after the fork. */
async function sharedLine({ logs, leases }: LogStores, parent: SessionId): Promise<Cursor> {
  const { bytes } = sealLine(eventOf(parent, 'notice', { code: 'shared', text: '' }), 0, null, 0)
  const lease = value(await leases.take(parent))
  const log = await logs.create(parent, lease)
  const failure = await log.append(Buffer.concat([bytes, line(40)]), 0)
  if (failure !== undefined) throw new FileFailure('EIO', failure.error.message)
  await log.close()
  await lease.release()
  return { offset: bytes.length, seq: 1, prev: sha256(bytes.subarray(0, -1)) }
}

function firstLine(session: SessionId, parent: SessionId, { offset, seq, prev }: Cursor): Buffer {
  const data = {
    parent_session_id: parent,
    root_session_id: parent,
    at_seq: seq - 1,
    at_hash: prev,
    at_offset: offset,
    resources_count: 0,
  }
  return sealLine(eventOf(session, 'session_fork', data), seq, prev, 0).bytes
}

function eventOf(session_id: SessionId, type: string, data: object) {
  return {
    id: ids.event(),
    session_id,
    ts: timestamp(systemClock),
    type,
    data: JSON.stringify(data),
  }
}

/** The position after the first line of a fork; `undefined` if its creation was interrupted, so that it does not exist. */
async function beginOf(log: ReadableLog): Promise<number | undefined> {
  const { lineage } = log
  if (lineage === undefined) {
    await log.close()
    return undefined
  }
  const first = await readSpan(log, lineage.ownStart, 4096)
  return lineage.ownStart + first.indexOf('\n') + 1
}

function readableFrom(log: ReadableLog, begin: number): ReadableLog {
  return {
    stat: async () => {
      const { size, links } = await log.stat()
      return { size: size - begin, links }
    },
    read: (into, position) => log.read(into, position + begin),
    sync: () => log.sync(),
    close: () => log.close(),
  }
}

function writableFrom(log: WritableLog, begin: number): WritableLog {
  return {
    ...readableFrom(log, begin),
    append: (bytes, at) => log.append(bytes, at + begin),
    settle: (from, work) =>
      log.settle(from + begin, (visit) =>
        work((bytes, position) => visit(bytes, position + begin)),
      ),
    cut: (offset, piece) => log.cut(offset + begin, piece),
    pieces: (seq) => log.pieces(seq),
  }
}
