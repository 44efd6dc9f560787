import type { WholeEvent } from '../../model/events/event.ts'
import { protectedName } from '../../model/safety/protected-paths.ts'

/** A file that a Turn created or changed and that runs later. */
export interface RunsLater {
  readonly path: string
  /** When it runs, or what reads it. */
  readonly reason: string
}

/**
 * The files that calls of a Turn created or changed and that run later, for example in CI or a build, in order. Pure.
 */
export function runsLater(events: readonly WholeEvent[]): readonly RunsLater[] {
  const paths = events.flatMap((event) => {
    if (event.type !== 'tool_result') return []
    const { path, after_blob, runs_later = [] } = event.data
    return path === undefined || after_blob === undefined ? runs_later : [path]
  })
  return [...new Set(paths)].flatMap((path) => {
    const entry = protectedName(path)
    return entry === undefined ? [] : [{ path, reason: entry.reason }]
  })
}
