import { LIMITS } from '../../model/limits.ts'
import type { MemoryBounds } from './frame-memory.ts'
import type { FrameRetention } from './frame-store.ts'
import type { MessageBounds } from './known-messages.ts'

const MIB = 1024 * 1024
const DAY_MS = 24 * 60 * 60 * 1000

/** The most bytes of one write, and so of what a crash can tear. */
export const FRAME_BATCH_BYTES = 4 * MIB

export interface FrameLogSettings extends FrameRetention {
  readonly memory: MemoryBounds
  readonly messages: MessageBounds
  /** Numbers that are reserved ahead for deltas. */
  readonly reserve: number
  /** The most bytes that one query reads of stored frames. */
  readonly queryBytes: number
}

export const FRAME_LOG_SETTINGS: FrameLogSettings = {
  memory: { frames: LIMITS.frames_in_memory, characters: 4 * MIB },
  messages: { ended: 10_000, waiting: 256, waitingCharacters: 4 * MIB },
  fileBytes: 4 * MIB,
  mostBytes: 64 * MIB,
  mostAgeMs: 30 * DAY_MS,
  reserve: 1_024,
  queryBytes: 8 * MIB,
}
