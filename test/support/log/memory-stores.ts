import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { FileFailure } from '../../../src/host/files/files.ts'
import type { Holder } from '../../../src/host/process/holder.ts'
import type { HeadStore } from '../../../src/log/head-store.ts'
import type { IndexStore } from '../../../src/log/index-store.ts'
import type { Lease, LeaseStore } from '../../../src/log/lease-store.ts'
import type { LogStores } from '../../../src/log/place.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import type { HeldLease, MemoryEngine } from './memory-engine.ts'
import { memoryLogs } from './memory-logs.ts'

const ids = systemIds(systemClock)

/** The stores of one process in memory. Each call is another process. */
export function memoryStores(engine: MemoryEngine, holder: Holder): LogStores {
  return {
    logs: memoryLogs(engine),
    heads: memoryHeads(engine),
    leases: memoryLeases(engine, holder),
    indexes: memoryIndexes(engine),
  }
}

function memoryHeads(engine: MemoryEngine): HeadStore {
  const { heads, order } = engine.state
  return {
    label: 'memory',
    read: async (session) => {
      engine.checkPower()
      return ok(heads.get(session))
    },
    write: async (session, head) => {
      engine.checkSpace()
      engine.step()
      heads.set(session, head)
    },
    remove: async (session) => {
      engine.step()
      heads.delete(session)
    },
    settle: async () => engine.step(),
    list: async () => [...heads.keys()],
    noteWritten: async (session) => {
      engine.checkPower()
      order.push(session)
    },
    writtenOrder: async () => new Map(order.map((session, rank) => [session, rank])),
    tidy: async () => {},
  }
}

function memoryIndexes(engine: MemoryEngine): IndexStore {
  const { indexes } = engine.state
  return {
    read: async (session) => {
      engine.checkPower()
      return indexes.get(session)
    },
    write: async (session, record) => {
      engine.checkSpace()
      engine.step()
      indexes.set(session, { ...record })
    },
    remove: async (session) => {
      engine.step()
      indexes.delete(session)
    },
  }
}

const LOOKS = 1000

function memoryLeases(engine: MemoryEngine, holder: Holder): LeaseStore {
  const { leases } = engine.state
  return {
    take: async (session) => {
      engine.step()
      const current = leases.get(session)
      if (current?.isHeld === true) {
        const { holder: other } = current
        const text = `This Session is in use by ${other.program} (pid ${other.pid}).`
        return failed('session_busy', text, { session_id: session, holder: other })
      }
      const epoch = ids.epoch()
      leases.set(session, { epoch, holder, isHeld: true })
      return ok(leaseOf(engine, session, epoch, current))
    },
    writerOf: async (session) => {
      const current = leases.get(session)
      return current?.isHeld === true ? current.holder : undefined
    },
    beingWritten: async () => [...leases].flatMap(([id, { isHeld }]) => (isHeld ? [id] : [])),
    alone: async (work) => {
      for (let looks = 1; engine.isAlone; looks++) {
        if (looks === LOOKS) throw new FileFailure('LOCK_HELD', 'what runs alone does not end')
        await new Promise((resolve) => void setImmediate(resolve))
      }
      engine.isAlone = true
      try {
        return await work()
      } finally {
        engine.isAlone = false
      }
    },
  }
}

function leaseOf(
  engine: MemoryEngine,
  session: SessionId,
  epoch: string,
  before: HeldLease | undefined,
): Lease {
  const { leases } = engine.state
  const isCurrent = () => {
    const current = leases.get(session)
    return current?.epoch === epoch && current.isHeld
  }
  return {
    epoch,
    abandonedBy: before?.holder,
    mayHold: isCurrent,
    holds: async () => isCurrent(),
    release: async () => {
      if (isCurrent()) leases.delete(session)
    },
    giveBack: async () => {
      if (!isCurrent()) return
      if (before === undefined) leases.delete(session)
      else leases.set(session, { ...before, isHeld: false })
    },
  }
}
