import type { Clock } from '../host/clock.ts'
import type { Ids } from '../host/ids.ts'
import type { HeadStore } from './head-store.ts'
import type { IndexStore } from './index-store.ts'
import type { LeaseStore } from './lease-store.ts'
import type { LogStore } from './log-store.ts'

/** Where the Logs of one workspace are: the stores of an engine, see ADR 32. */
export interface LogStores {
  readonly logs: LogStore
  readonly heads: HeadStore
  readonly leases: LeaseStore
  readonly indexes: IndexStore
}

/** The stores of Logs, and the ports that writing one needs. */
export interface LogPlace extends LogStores {
  readonly clock: Clock
  readonly ids: Ids
  /**
   * Identifies the schemas of Events in this build; another build has the same value only if it accepts the same Events.
   * Without it, every line is checked against its schema whenever it is read.
   */
  readonly schemas?: string | undefined
}
