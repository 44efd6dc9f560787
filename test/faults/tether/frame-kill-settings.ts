import {
  FRAME_LOG_SETTINGS,
  type FrameLogSettings,
} from '../../../src/tether/frames/frame-settings.ts'

/** Files and ranges that are used up often. */
export const KILLED: FrameLogSettings = {
  ...FRAME_LOG_SETTINGS,
  memory: { frames: 200, characters: 400_000 },
  fileBytes: 100_000,
  mostBytes: 600_000,
  reserve: 64,
}
