import { LIMITS } from '../../model/limits.ts'
import type { MemoryBounds } from './frame-memory.ts'
import type { MessageBounds } from './known-messages.ts'

const MIB = 1024 * 1024
const DAY_MS = 24 * 60 * 60 * 1000

export interface FrameLogSettings {
  readonly memory: MemoryBounds
  readonly messages: MessageBounds
  /** A new file is started after this many bytes of frames. */
  readonly fileBytes: number
  /** The most bytes of all files; the newest file always stays. */
  readonly mostBytes: number
  readonly mostAgeMs: number
  /** Numbers that are reserved ahead for deltas. */
  readonly reserve: number
  /** The most bytes that one query reads from disk. */
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
