import type { Clock } from '../../../src/host/clock.ts'
import type { Folder } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { Result } from '../../../src/model/errors.ts'
import { InstanceId } from '../../../src/model/ids.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { openFileFrames } from '../../../src/tether/frames/files/file-frames.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'
import { FrameLog } from '../../../src/tether/frames/frame-log.ts'
import {
  FRAME_LOG_SETTINGS,
  type FrameLogSettings,
} from '../../../src/tether/frames/frame-settings.ts'
import type { FrameStore } from '../../../src/tether/frames/frame-store.ts'
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
  const own = { store: storeIn(folder, clock), instance: INSTANCE, clock, settings }
  return FrameLog.open({ ...own, ...(places && { places }) })
}

const INSTANCE = InstanceId.parse(`ins_${'0'.repeat(26)}`)

/** The file store, with the frames of every Instance in this one folder, which stays open. */
function storeIn(folder: Folder, clock: Clock): FrameStore {
  const whole = fileFrameStore({ home: folder, clock, ids: systemIds(clock) })
  const open: FrameStore['open'] = (_instance, opening) =>
    openFileFrames({ folder: unclosed(folder), clock, ids: systemIds(clock) }, opening)
  return { ...whole, open }
}

/** The folder of a test, which it closes itself. */
function unclosed(folder: Folder): Folder {
  return {
    label: folder.label,
    folder: (name, mode) => folder.folder(name, mode),
    open: (name, mode) => folder.open(name, mode),
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: async () => {},
  }
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
