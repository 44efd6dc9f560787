import * as z from 'zod'
import { uncoveredLines, type RanCommand } from '../../../history/ran-commands.ts'
import { TurnId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
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

/** What undo and diff do not cover, for standard error; empty without commands. */
export function uncoveredNote(ran: readonly RanCommand[]): string[] {
  if (ran.length === 0) return []
  const lines = uncoveredLines(ran).map((line) => `  ${visibleLine(line)}\n`)
  return ['hawser: what these commands changed is not recorded and not covered:\n', ...lines]
}
