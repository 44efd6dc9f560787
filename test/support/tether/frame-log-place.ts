import type { Clock } from '../../../src/host/clock.ts'
import type { Folder } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { FrameLog } from '../../../src/tether/frames/frame-log.ts'
import {
  FRAME_LOG_SETTINGS,
  type FrameLogSettings,
} from '../../../src/tether/frames/frame-settings.ts'
import type { PollPlaces } from '../../../src/tether/frames/frame-waiters.ts'
import { value } from '../log/story.ts'
import { virtualClock } from '../host/virtual-clock.ts'

/** Small bounds, so that few frames fill files, memory and ranges. */
export const SMALL: FrameLogSettings = {
  ...FRAME_LOG_SETTINGS,
  memory: { frames: 6, characters: 100_000 },
  fileBytes: 1_500,
  mostBytes: 6_000,
  reserve: 8,
}

export interface FrameLogOptions {
  readonly settings?: FrameLogSettings
  readonly clock?: Clock
  readonly places?: PollPlaces
}

export function openFrames(
  folder: Folder,
  options: FrameLogOptions = {},
): Promise<Result<FrameLog>> {
  const { clock = virtualClock(), settings = SMALL, places } = options
  const own = { folder, clock, ids: systemIds(clock), settings }
  return FrameLog.open({ ...own, ...(places && { places }) })
}

/** All frames of a log, by pages. */
export async function allFrames(log: FrameLog, limit = 3): Promise<Frame[]> {
  const frames: Frame[] = []
  let cursor = log.firstAvailable - 1
  for (;;) {
    const page = value(await log.poll({ after_seq: cursor, limit }))
    frames.push(...page.frames)
    if (page.next_seq === cursor) return frames
    cursor = page.next_seq
  }
}

export function ids(frames: readonly Frame[]): string[] {
  return frames.map(({ msg_id }) => msg_id)
}
