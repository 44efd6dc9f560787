import * as z from 'zod'
import { notCoveredWords, uncoveredLines } from '../../../history/ran-commands.ts'
import { UNCOVERED_REASONS } from '../../../model/events/snapshot-entry.ts'
import { TurnId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import type { SessionDiff } from '../../../session/changes/diff.ts'
import { visibleLine } from './visible-text.ts'

/** A command in the output of a program. */
export const UncoveredCommand = z
  .object({
    turn: Count.describe('Number of its Turn; of the Turn before it, if the person ran it.'),
    turn_id: TurnId.optional(),
    by: z.enum(['model', 'person', 'skill']),
    command: z.string(),
  })
  .describe('A command that could change files. What it changed is not recorded.')

/** A path in the output of a program. */
export const UncoveredPath = z
  .object({ path: z.string(), why: z.enum(UNCOVERED_REASONS) })
  .describe('A path that no snapshot covers.')

/** What undo and diff do not cover, for standard error; empty if that is nothing. */
export function uncoveredNote({
  uncovered,
  notCovered,
}: Pick<SessionDiff, 'uncovered' | 'notCovered'>): string[] {
  const words = notCoveredWords(notCovered)
  const paths = words === '' ? [] : [`hawser: ${visibleLine(words)}\n`]
  if (uncovered.length === 0) return paths
  const lines = uncoveredLines(uncovered).map((line) => `  ${visibleLine(line)}\n`)
  return [
    ...paths,
    'hawser: what these commands changed is not recorded and not covered:\n',
    ...lines,
  ]
}
