import type { FrameFile } from './frame-file.ts'
import type { FrameRetention } from '../frame-store.ts'

/** A file is also replaced when it is this part of the maximum age old, so that frames expire in steps. */
const AGE_STEPS = 8

/** Whether frames belong into a new file. `bytes` are those of frames in the current one. */
export function isFull(
  file: FrameFile,
  bytes: number,
  now: number,
  { fileBytes, mostAgeMs }: FrameRetention,
): boolean {
  return bytes > 0 && (bytes >= fileBytes || now - file.at >= mostAgeMs / AGE_STEPS)
}

/**
 * Which of the files before the newest one to keep, oldest first. `startedAt` is when the newest was started; room is left for
 * it to become full.
 */
export function keptFiles(
  before: readonly FrameFile[],
  startedAt: number,
  now: number,
  { mostBytes, fileBytes, mostAgeMs }: FrameRetention,
): readonly FrameFile[] {
  let bytes = fileBytes
  let successorAt = startedAt
  const first = before.findLastIndex((file) => {
    bytes += file.size
    // Nothing was added to a file after its successor was started.
    const isOld = now - successorAt > mostAgeMs
    successorAt = file.at
    return bytes > mostBytes || isOld
  })
  return before.slice(first + 1)
}
