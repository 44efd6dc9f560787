import { FileFailure } from '../../../src/host/files/files.ts'
import type { Holder } from '../../../src/host/process/holder.ts'
import type { HeadRecord } from '../../../src/log/head-record.ts'
import type { IndexRecord } from '../../../src/log/index-store.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { PowerCut } from '../host/crash-disk.ts'

/** What survives a power cut, by subject; the same for every process that uses the stores. */
export interface StoredState {
  readonly logs: Map<SessionId, StoredLog>
  readonly hidden: Set<SessionId>
  readonly heads: Map<SessionId, HeadRecord>
  readonly indexes: Map<SessionId, IndexRecord>
  readonly order: SessionId[]
  readonly leases: Map<SessionId, HeldLease>
}

export interface StoredLog {
  bytes: Buffer
  /** How much of it survives a power cut. */
  durable: number
  readonly pieces: Map<string, Buffer>
  readonly watchers: Set<() => void>
  isDeleted: boolean
}

export interface HeldLease {
  readonly epoch: string
  readonly holder: Holder
  /** False once its process was killed. */
  isHeld: boolean
}

type Fault = 'full' | 'sync' | 'sync and rollback'

/**
 * A step is a call that changes something; the power is cut at `cutAt`, counted from 1. Then every call throws `PowerCut`, as
 * on the crash disk.
 */
export class MemoryEngine {
  readonly state: StoredState
  readonly #cutAt: number
  #off = false
  /** What fails now. */
  fault: Fault | undefined
  steps = 0
  /** Whether something runs alone now. */
  isAlone = false

  constructor(cutAt = Infinity, state: StoredState = emptyState()) {
    this.#cutAt = cutAt
    this.state = state
  }

  /** The stores as the next boot finds them: what was not durable is gone, and no lease is held. */
  afterCrash(cutAt = Infinity): MemoryEngine {
    const { logs, ...rest } = this.state
    const survivors = [...logs].flatMap(([session, log]): [SessionId, StoredLog][] =>
      log.durable === 0
        ? []
        : [[session, { ...log, bytes: log.bytes.subarray(0, log.durable), watchers: new Set() }]],
    )
    return new MemoryEngine(cutAt, { ...rest, logs: new Map(survivors) }).#released()
  }

  /** The stores as another process finds them after this one was killed. */
  afterKill(cutAt = Infinity): MemoryEngine {
    return new MemoryEngine(cutAt, this.state).#released()
  }

  /** Takes the lease of a Log away from its holder, as an engine does when a lease expires. */
  revoke(session: SessionId): void {
    this.state.leases.delete(session)
  }

  /** Counts a step; `partly` does the part of it that may be done when the power is cut. */
  step(partly: () => void = () => {}): void {
    this.checkPower()
    this.steps += 1
    if (this.steps !== this.#cutAt) return
    partly()
    this.#off = true
    throw new PowerCut()
  }

  fail(fault: Fault | undefined): void {
    this.fault = fault
  }

  /** Throws if nothing can be stored now. */
  checkSpace(): void {
    if (this.fault === 'full') throw new FileFailure('ENOSPC', 'the memory of the test is full')
  }

  checkPower(): void {
    if (this.#off) throw new PowerCut()
  }

  #released(): this {
    for (const lease of this.state.leases.values()) lease.isHeld = false
    return this
  }
}

function emptyState(): StoredState {
  return {
    logs: new Map(),
    hidden: new Set(),
    heads: new Map(),
    indexes: new Map(),
    order: [],
    leases: new Map(),
  }
}

export function lost(session: SessionId): FileFailure {
  return new FileFailure('LEASE_LOST', `The lease of ${session} was released or lost.`)
}
