import type { RunsLater } from '../../../history/runs-later.ts'

const NAMED = 5

/** The changed files of a Turn that run later, one line each, not yet escaped. Pure. */
export function changedLines(files: readonly RunsLater[]): string[] {
  const more = files.length - NAMED
  return [
    ...files.slice(0, NAMED).map(({ path, reason }) => `changed: ${path} (${reason})`),
    ...(more > 0 ? [`changed: ${more} more files that run later`] : []),
  ]
}
